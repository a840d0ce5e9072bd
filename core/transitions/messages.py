"""Messages come, replies are stopped, calls are withdrawn."""

from dataclasses import replace

from core.calls import Call, CallState, ReplyState, Stop
from core.ledger import answers as a
from core.ledger import requests as r
from core.transitions.draft import Draft, refused, withdraw


def accept(draft: Draft, request: r.Accept) -> a.Begun | a.Queued | a.Full:
    """`draft.reply` is a new, queued one; it is kept unless the queue is full."""
    session, reply_id = draft.session, draft.reply.reply_id
    if session.active is None:
        draft.record("accept", request.actor)
        draft.session = replace(session, active=reply_id)
        draft.ready()
        return a.Begun(reply_id)
    if len(session.queue) >= request.queue_limit:
        return a.Full(request.queue_limit)
    draft.record("accept", request.actor)
    draft.session = replace(session, queue=(*session.queue, reply_id))
    return a.Queued(reply_id, len(session.queue) + 1)


def stop(draft: Draft, request: r.StopReply) -> a.StopAnswer:
    """Everything that has not started is withdrawn; what runs, runs on."""
    reply = draft.reply
    if reply.state in {ReplyState.QUEUED, ReplyState.CLOSED}:
        return a.NothingToStop(reply.state, reply.outcome)
    if reply.stop:
        return a.AlreadyStopping(reply.stop.actor, reply.stop.at)
    draft.record("stop", request.actor)
    draft.set(stop=Stop(request.actor, draft.now))
    withdrawn = tuple(call for call in reply.present if _can_be_withdrawn(call))
    for call in withdrawn:
        withdraw(draft, call, request.actor)
    return a.Stopping(tuple(call.key.call_id for call in withdrawn), draft.running())


def cancel(draft: Draft, request: r.CancelCall) -> a.Settled | a.Refused:
    """One call is withdrawn."""
    call = draft.call(request.key)
    if call is None or not _can_be_withdrawn(call):
        return refused(a.Why.NOT_ASKED, call)
    draft.record("cancel", request.actor, reason=request.reason)
    call = withdraw(draft, call, request.actor, request.reason)
    return a.Settled(call.state, call.revision)


def _can_be_withdrawn(call: Call) -> bool:
    return not call.final and call.state is not CallState.STARTED
