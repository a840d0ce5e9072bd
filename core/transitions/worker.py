"""A worker claims a reply and runs it. Whatever it believes, only these guards let it write."""

from dataclasses import replace

from core.calls import (
    FINAL,
    GRANTED,
    AgentPayload,
    Because,
    Call,
    CallKey,
    CallState,
    Card,
    DecisionKind,
    Late,
    ReplyState,
    held_up,
)
from core.ledger import answers as a
from core.ledger import requests as r
from core.messages import ReplyFinishedReason
from core.transitions.draft import Draft, ask, close, done, lapse, refused


def claim(draft: Draft, request: r.Claim) -> a.Claimed | a.NotReady:
    """A new fence; the same op while it still holds: the same fence. Never by owner's name."""
    reply = draft.reply
    if reply.state is ReplyState.RUNNING and reply.claim_op == request.op:
        return a.Claimed(reply.fence, reply.lease_until or 0, reply, draft.session)
    if reply.state is not ReplyState.READY:
        return a.NotReady(reply.state)
    draft.record("claim", request.worker)
    lease_until = draft.now + request.lease_ms
    draft.set(
        state=ReplyState.RUNNING,
        fence=reply.fence + 1,
        claim_op=request.op,
        lease_until=lease_until,
        wake_at=None,
        tries=reply.tries + 1,
    )
    return a.Claimed(draft.reply.fence, lease_until, draft.reply, draft.session)


def renew(draft: Draft, request: r.Renew) -> a.Renewed | a.Lost:
    """A lease that has passed but was not fired is still its owner's."""
    if lost := draft.lost(request.fence):
        return lost
    lease_until = draft.now + request.lease_ms
    draft.set(lease_until=lease_until)
    return a.Renewed(lease_until, draft.reply.stop is not None, draft.granted())


def turn(draft: Draft, request: r.WriteTurn) -> a.TurnAnswer:
    """State and calls of one model turn, whole; the successor of the stored turn only."""
    reply = draft.reply
    if lost := draft.lost(request.fence):
        return lost
    if (reply.turn, reply.turn_fence) == (request.turn, request.fence):
        return a.TurnWritten(request.turn)
    if refusal := _turn_refused(draft, request):
        return refusal
    draft.record("turn", request.worker)
    draft.set(turn=request.turn, turn_fence=request.fence, tries=0)
    for position, new in enumerate(request.calls):
        key = CallKey(reply.reply_id, new.call_id, request.turn)
        _add_call(draft, key, position, new, request)
    agent = AgentPayload(reply.reply_id, request.turn, False, request.state)
    draft.session = replace(draft.session, agent=agent)
    return a.TurnWritten(request.turn)


def _turn_refused(
    draft: Draft, request: r.WriteTurn
) -> a.ReplyStopped | a.OpenCalls | a.OutOfTurn | a.IdTaken | None:
    reply = draft.reply
    if reply.stop:
        return a.ReplyStopped(reply.stop.actor, reply.stop.at)
    if request.turn != reply.turn + 1:
        return a.OutOfTurn(reply.turn)
    if unfinished := draft.unfinished():
        return a.OpenCalls(unfinished)
    taken = {call.key.call_id for call in reply.calls}
    for new in request.calls:
        if new.call_id in taken:
            return a.IdTaken(new.call_id)
        taken.add(new.call_id)
    return None


def _add_call(
    draft: Draft, key: CallKey, position: int, new: r.NewCall, request: r.WriteTurn
) -> None:
    terms, now = new.terms, draft.now
    lasts = {CallState.OPEN: terms.timeout_ms, CallState.TASK: terms.task_timeout_ms}
    asked = new.state in lasts
    call = Call(
        key=key,
        position=position,
        tool=new.tool,
        state=CallState.WAITING if new.state is CallState.DENIED else new.state,
        digest=new.digest,
        terms=terms,
        input=new.input,
        original_input=new.input,
        approvers=(terms.approvers,),
        quorum=terms.quorum,
        by=request.worker,
        at=now,
        content=new.content,
        version=-1,
        because=Because.TASK if new.state is CallState.TASK else Because.NEW,
        policy=new.policy,
        asked_at=now if asked else None,
        deadline=now + lasts[new.state] if asked else None,
        cards=tuple(Card(channel) for channel in new.channels),
    )
    if new.state is CallState.DENIED:
        close(draft, call, CallState.DENIED, DecisionKind.DENY, request.worker, new.reason)
    else:
        draft.put(call, request.worker)


def check(draft: Draft, request: r.Check) -> a.Checked | a.Lost | a.Refused:
    """The verdict about a call that waited, made now that it is its turn."""
    if lost := draft.lost(request.fence):
        return lost
    call = draft.call(request.key)
    if call is None or call.state is not CallState.WAITING:
        return refused(a.Why.NOT_ASKED, call)
    if any(_is_before(other, call) for other in draft.reply.present):
        return refused(a.Why.NOT_YET, call)
    if request.policy != draft.policy:
        return refused(a.Why.POLICY_MOVED, call)
    draft.record("check", request.worker, reason=request.reason)
    content = call.content if request.content is None else request.content
    call = replace(call, policy=request.policy, content=content)
    if request.state is CallState.DENIED:
        close(draft, call, CallState.DENIED, DecisionKind.DENY, request.worker, request.reason)
    elif request.state is CallState.OPEN:
        deadline = draft.now + call.terms.timeout_ms
        call = replace(call, asked_at=draft.now, deadline=deadline)
        draft.put(replace(call, state=CallState.OPEN), request.worker)
    else:
        draft.put(replace(call, state=CallState.ALLOWED), request.worker)
    return a.Checked(request.state)


def _is_before(other: Call, call: Call) -> bool:
    if other.state is CallState.WAITING:
        return other.position < call.position
    return other.state not in FINAL


def start(draft: Draft, request: r.Start) -> a.Go | a.TaskOffered | a.Lost | a.Refused:
    """The only gate to a tool: everything that must hold is compared in this one step."""
    if lost := draft.lost(request.fence):
        return lost
    call = draft.call(request.key)
    if again := _started_before(call, request.op):
        return again
    if call is None or call.state not in GRANTED:
        return refused(a.Why.STOPPED if draft.reply.stop else a.Why.NOT_ASKED, call)
    return _refuse_start(draft, call, request) or _use_grant(draft, call, request)


def _refuse_start(draft: Draft, call: Call, request: r.Start) -> a.Refused | None:
    if (call.revision, call.digest) != (request.revision, request.digest):
        return refused(a.Why.CHANGED, call)
    if request.policy != draft.policy:
        return refused(a.Why.POLICY_MOVED, call)
    if call.grant_until is not None and draft.now >= call.grant_until:
        return refused(a.Why.LAPSED, lapse(draft, call))
    return refused(a.Why.NOT_YET, call) if held_up(call, draft.reply.present) else None


def _started_before(call: Call | None, op: str) -> a.Go | a.TaskOffered | None:
    if call is None or call.run_op != op:
        return None
    if call.state is CallState.STARTED:
        return a.Go(call.runs)
    return a.TaskOffered(call.revision) if call.state is CallState.TASK else None


def _use_grant(draft: Draft, call: Call, request: r.Start) -> a.Go | a.TaskOffered:
    draft.record("start", request.worker)
    draft.set(tries=0)
    call = replace(call, run_op=request.op, policy=request.policy)
    if call.terms.external:
        task = ask(call, CallState.TASK, Because.TASK, draft.now)
        return a.TaskOffered(draft.put(task, request.worker).revision)
    started = replace(call, state=CallState.STARTED, runs=call.runs + 1, grant_until=None)
    return a.Go(draft.put(started, request.worker).runs)


def refuse(draft: Draft, request: r.Refuse) -> a.Settled | a.Lost | a.Refused:
    """What the policy denies at its start is refused for good; a run before stays unproven."""
    if lost := draft.lost(request.fence):
        return lost
    call = draft.call(request.key)
    if call is None or call.state not in GRANTED:
        return refused(a.Why.NOT_ASKED, call)
    if request.policy != draft.policy:
        return refused(a.Why.POLICY_MOVED, call)
    draft.record("refuse", request.worker, reason=request.reason)
    state = CallState.ABANDONED if call.runs else CallState.DENIED
    call = close(draft, call, state, DecisionKind.DENY, request.worker, request.reason)
    return a.Settled(call.state, call.revision)


def finish(draft: Draft, request: r.Finish) -> a.Settled | a.Refused:
    """The proof of a run counts until the next run has started, whoever holds the reply."""
    call, run = draft.call(request.key), request.run
    if call is None or run < 1 or run > call.runs:
        return refused(a.Why.NOT_ASKED, call)
    if call.state is CallState.DONE and call.done_run == run:
        return a.Settled(call.state, call.revision)
    provable = {CallState.STARTED, CallState.UNKNOWN, CallState.APPROVED, CallState.ALLOWED}
    if call.runs == run and call.state in provable:
        draft.record("finish", request.worker)
        draft.set(tries=0)
        call = done(draft, call, request.result, run, request.worker)
        return a.Settled(call.state, call.revision)
    if call.late is None or call.late.run != run:
        draft.record("late", request.worker, result=request.result)
        call = draft.show(replace(call, late=Late(run, draft.now)))
    return refused(a.Why.TOO_LATE, call)


def release(draft: Draft, request: r.Release) -> a.Parked | a.WorkLeft | a.OpenCalls | a.Lost:
    """Park, if the ledger (not the worker's view of it) shows nothing to do."""
    if lost := draft.lost(request.fence):
        return lost
    if running := draft.running():
        return a.OpenCalls(running)
    if draft.has_work():
        return a.WorkLeft(draft.reply.stop is not None, draft.granted())
    draft.record("release", request.worker)
    draft.set(state=ReplyState.PARKED, lease_until=None, tries=0)
    return a.Parked()


def hand_back(draft: Draft, request: r.HandBack) -> a.HandedBack | a.OpenCalls | a.Lost:
    """Another worker goes on."""
    if lost := draft.lost(request.fence):
        return lost
    if running := draft.running():
        return a.OpenCalls(running)
    draft.record("hand_back", request.worker)
    draft.set(tries=0)
    draft.ready()
    return a.HandedBack()


def complete(draft: Draft, request: r.Complete) -> a.CompleteAnswer:
    """The end, and the beginning of the session's next message."""
    reply = draft.reply
    if reply.outcome and reply.closed_fence == request.fence:
        return a.Completed(reply.outcome, reply.next_reply)
    if lost := draft.lost(request.fence):
        return lost
    if request.turn != reply.turn:
        return a.OutOfTurn(reply.turn)
    if unfinished := draft.unfinished():
        return a.OpenCalls(unfinished)
    draft.record("complete", request.worker)
    outcome = ReplyFinishedReason.INTERRUPTED if reply.stop else request.outcome
    agent = AgentPayload(reply.reply_id, request.turn, True, request.state)
    draft.session = replace(draft.session, agent=agent)
    close_reply(draft, outcome, request.fence)
    return a.Completed(outcome, draft.reply.next_reply)


def close_reply(draft: Draft, outcome: ReplyFinishedReason, fence: int | None) -> None:
    """Close the reply and open the head of the queue, in one step."""
    head = draft.session.queue[0] if draft.session.queue else None
    draft.set(
        state=ReplyState.CLOSED,
        outcome=outcome,
        closed_at=draft.now,
        closed_fence=fence,
        lease_until=None,
        next_reply=head,
    )
    draft.session = replace(draft.session, active=head, queue=draft.session.queue[1:])
    if head:
        assert draft.following is not None
        draft.following = replace(
            draft.following, state=ReplyState.READY, wake_at=draft.now + r.WAKE_MS
        )
        draft.hints.append(head)
