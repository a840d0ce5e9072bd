"""People decide, and do tasks. The deadline is compared here too: after an outage clicks come
before late timers, and a late click performs the expiry and says so."""

from dataclasses import replace

from core.calls import (
    Because,
    Call,
    CallKey,
    CallState,
    Decision,
    DecisionKind,
    Vote,
)
from core.ledger import answers as a
from core.ledger import requests as r
from core.transitions.draft import Draft, close, done, expire, refused

DecideAnswer = a.Counted | a.Granted | a.Settled | a.Refused


def approve(draft: Draft, request: r.Approve) -> DecideAnswer:
    """One vote; the last one needed grants one run."""
    call = _asked(draft, request, frozenset({CallState.OPEN, CallState.UNKNOWN}))
    if isinstance(call, a.Refused):
        return call
    if any(vote.actor.id == request.actor.id for vote in call.votes):
        return refused(a.Why.VOTED, call)
    draft.record("approve", request.actor, reason=request.reason, rules=request.rules)
    return _vote(draft, call, request, DecisionKind.APPROVE)


def modify(draft: Draft, request: r.Modify) -> DecideAnswer:
    """The editor's approval of the changed call; votes for the old one fall."""
    call = _asked(draft, request, frozenset({CallState.OPEN}))
    if isinstance(call, a.Refused):
        return call
    draft.record(
        "modify",
        request.actor,
        reason=request.reason,
        rules=request.rules,
        input=request.input,
        digest=request.digest,
    )
    changed = replace(
        call,
        because=Because.EDITED,
        revision=call.revision + 1,
        input=request.input,
        digest=request.digest,
        content=call.content if request.content is None else request.content,
        quorum=max(call.quorum, request.quorum),
        votes=(),
    )
    return _vote(draft, changed, request, DecisionKind.MODIFY)


def reject(draft: Draft, request: r.Reject) -> DecideAnswer:
    """One rejection settles it, also after an own approval."""
    call = _asked(draft, request, frozenset({CallState.OPEN, CallState.UNKNOWN}))
    if isinstance(call, a.Refused):
        return call
    state = CallState.ABANDONED if call.state is CallState.UNKNOWN else CallState.REJECTED
    draft.record("reject", request.actor, reason=request.reason)
    call = close(draft, call, state, DecisionKind.REJECT, request.actor, request.reason)
    return a.Settled(call.state, call.revision)


def fulfil(draft: Draft, request: r.Fulfil) -> a.Settled | a.Refused:
    """Anybody with the authority may fulfil; a claim does not lock the result."""
    call = _answerable(draft, request.key, frozenset({CallState.TASK, CallState.UNKNOWN}))
    if isinstance(call, a.Refused):
        return call
    if _stale(draft, request.checked_at):
        return refused(a.Why.NOT_CHECKED, call)
    draft.record("fulfil", request.actor)
    decision = Decision(DecisionKind.FULFIL, request.actor, draft.now, call.revision)
    call = done(draft, replace(call, decision=decision), request.result, 0, request.actor)
    return a.Settled(call.state, call.revision)


def claim_task(draft: Draft, request: r.ClaimTask) -> a.Yours | a.Refused:
    """First come, first served; claiming one's own task again is fine."""
    call = _answerable(draft, request.key, frozenset({CallState.TASK}))
    if isinstance(call, a.Refused):
        return call
    if call.claimant and call.claimant.id != request.actor.id:
        return _taken(call)
    draft.record("claim_task", request.actor)
    draft.put(replace(call, claimant=request.actor), request.actor)
    return a.Yours()


def return_task(draft: Draft, request: r.ReturnTask) -> a.Returned | a.Refused:
    """Only who has it can hand it back; handing back what nobody has is fine."""
    call = _answerable(draft, request.key, frozenset({CallState.TASK}))
    if isinstance(call, a.Refused):
        return call
    if call.claimant and call.claimant.id != request.actor.id:
        return _taken(call)
    draft.record("return_task", request.actor)
    draft.put(replace(call, claimant=None), request.actor)
    return a.Returned()


def _vote(
    draft: Draft, call: Call, request: r.Approve | r.Modify, kind: DecisionKind
) -> a.Counted | a.Granted:
    vote = Vote(request.actor, draft.now, request.reason, request.rules)
    call = replace(call, votes=(*call.votes, vote))
    votes = len(call.votes)
    if votes < call.quorum:
        call = draft.put(call, request.actor)
        return a.Counted(call.revision, votes, call.quorum)
    decision = Decision(
        kind, request.actor, draft.now, call.revision, request.reason, request.rules
    )
    until = draft.now + call.terms.grant_lifetime_ms
    draft.put(
        replace(
            call,
            state=CallState.APPROVED,
            decision=decision,
            deadline=None,
            grant_until=until,
        ),
        request.actor,
    )
    return a.Granted(call.revision, votes, until)


def _asked(draft: Draft, request: r.Decide, states: frozenset[CallState]) -> Call | a.Refused:
    call = draft.call(request.key)
    if call and call.state in states and call.revision != request.revision:
        return refused(a.Why.CHANGED, call)
    answerable = _answerable(draft, request.key, states)
    if not isinstance(answerable, a.Refused) and _stale(draft, request.checked_at):
        return refused(a.Why.NOT_CHECKED, answerable)
    return answerable


def _answerable(draft: Draft, key: CallKey, states: frozenset[CallState]) -> Call | a.Refused:
    call = draft.call(key)
    if call is None or call.state not in states:
        decision = call.decision if call else None
        expired = decision is not None and decision.kind is DecisionKind.EXPIRE
        return refused(a.Why.EXPIRED if expired else a.Why.NOT_ASKED, call)
    if call.deadline is not None and draft.now >= call.deadline:
        return refused(a.Why.EXPIRED, expire(draft, call))
    return call


def _stale(draft: Draft, checked_at: int) -> bool:
    return abs(draft.now - checked_at) > r.CHECK_AGE_MS


def _taken(call: Call) -> a.Refused:
    assert call.claimant is not None
    return replace(refused(a.Why.TAKEN, call), by=call.claimant)
