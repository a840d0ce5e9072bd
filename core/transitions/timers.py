"""Timers act through the same door as people, as the actor "timer"."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from core.calls import (
    SYSTEM,
    TIMER,
    Because,
    Call,
    CallKey,
    CallState,
    DecisionKind,
    ReplyState,
    Stop,
    held_up,
)
from core.ledger import answers as a
from core.ledger import requests as r
from core.messages import ReplyFinishedReason
from core.transitions.draft import Draft, ask, close, expire, lapse, timers, withdraw
from core.transitions.worker import close_reply


def fire(draft: Draft, request: r.Fire) -> a.Fired | a.NotDue:
    """One timer that is due now and still armed as it was read."""
    timer = request.timer
    if timer.at > draft.now or timer not in timers(draft.reply):
        return a.NotDue()
    if timer.kind == "wake":
        draft.record("wake", TIMER)
        draft.ready()
        return a.Fired("wake")
    if timer.kind == "lease":
        _end_lease(draft)
        return a.Fired("lease")
    call = draft.reply.call(timer.call_id)
    assert call is not None
    ON_CALL[timer.kind](draft, call, timer)
    return a.Fired(timer.kind, CallKey(timer.reply_id, timer.call_id, call.key.turn))


def _end_lease(draft: Draft) -> None:
    """Nobody holds the reply any more; what was under way is unproven."""
    failed = draft.reply.tries > r.MAX_TRIES
    draft.record("lease", TIMER)
    draft.set(lease_until=None, state=ReplyState.PARKED)
    if failed and draft.reply.stop is None:
        draft.set(stop=Stop(SYSTEM, draft.now))
    for call in draft.reply.present:
        if call.state is CallState.STARTED:
            _lose_run(draft, call)
        elif failed and not call.final:
            withdraw(draft, call, SYSTEM)
    if failed:
        close_reply(draft, ReplyFinishedReason.ERROR, None)


def _lose_run(draft: Draft, call: Call) -> None:
    if draft.reply.stop:
        close(draft, call, CallState.ABANDONED, DecisionKind.CANCEL, TIMER)
    elif call.terms.idempotent and call.runs < r.MAX_RUNS:
        until = draft.now + call.terms.grant_lifetime_ms
        draft.put(replace(call, state=CallState.ALLOWED, grant_until=until), TIMER)
    else:
        draft.put(ask(call, CallState.UNKNOWN, Because.UNKNOWN, draft.now), TIMER)


def _expire(draft: Draft, call: Call, _timer: r.Timer) -> None:
    expire(draft, call)


def _lapse(draft: Draft, call: Call, _timer: r.Timer) -> None:
    if held_up(call, draft.reply.present):
        draft.record("held_up", TIMER)
        until = draft.now + call.terms.grant_lifetime_ms
        draft.quiet(replace(call, grant_until=until))
    else:
        lapse(draft, call)


def _remind(draft: Draft, call: Call, timer: r.Timer) -> None:
    draft.record("remind", TIMER)
    draft.quiet(replace(call, reminded=call.reminded + 1))
    for card in call.cards:
        draft.order("remind", call, card.channel, str(timer.step))


def _escalate(draft: Draft, call: Call, _timer: r.Timer) -> None:
    assert call.terms.escalate is not None
    to = call.terms.escalate.to
    approvers = call.approvers if to in call.approvers else (*call.approvers, to)
    draft.record("escalate", TIMER)
    call = draft.put(replace(call, escalated=True, approvers=approvers), TIMER)
    for card in call.cards:
        draft.order("escalate", call, card.channel)


def _look(draft: Draft, call: Call, timer: r.Timer) -> None:
    draft.record("look", TIMER)
    cards = tuple(
        replace(card, look_at=None) if card.channel == timer.channel else card
        for card in call.cards
    )
    draft.quiet(replace(call, cards=cards))
    draft.order("look", call, timer.channel)


ON_CALL: Mapping[str, Callable[[Draft, Call, r.Timer], None]] = {
    "expire": _expire,
    "lapse": _lapse,
    "remind": _remind,
    "escalate": _escalate,
    "look": _look,
}
