"""The same things seen in the model and in the stores, in the same words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapters.memory.ledger import MemoryLedger
from core.calls import Call, Reply
from core.ledger import Timer
from core.messages import ReplyFinishedReason
from core.transitions.draft import timers
from tests.sim.model.world import APPROVED, FINAL, OPEN, UNKNOWN, World

SESSION = "s1"
_OUTCOMES = {
    ReplyFinishedReason.COMPLETED: "finished",
    ReplyFinishedReason.INTERRUPTED: "stopped",
}


@dataclass(frozen=True, slots=True)
class View:
    """What can be seen of the store after a step, in the same words for both stores.

    `replies`: id, state, stopped, turn, fence, outcome, and its calls as (id, state, revision,
    runs, voters, version). `hints`, `orders` count all so far; `audit` counts the records of each
    reply.
    """

    active: str | None
    queue: tuple[str, ...]
    replies: tuple[tuple[Any, ...], ...]
    timers: tuple[tuple[Any, ...], ...]
    audit: tuple[int, ...]
    hints: int
    orders: int


Seen = dict[str, tuple[Reply, tuple[Any, ...], tuple[Any, ...]]]
"""Replies that were viewed before: records never change, so one look at each is enough."""


def abstract(world: World) -> Any:
    """The world: closed replies, the queue, and the active reply with its calls."""
    reply = world.reply
    if reply is None:
        return world.log, world.queue, None
    calls = tuple(
        _plain(call.state, call.revision, call.runs, tuple(sorted(who for who, _, _ in call.votes)))
        for call in reply.calls
    )
    return world.log, world.queue, (reply.number, reply.state, reply.stop, reply.turn, calls)


def _abstract_call(call: Call) -> Any:
    voters = tuple(sorted(vote.actor.id for vote in call.votes))
    return _plain(call.state.value, call.revision, call.runs, voters)


def _plain(state: str, revision: int, runs: int, voters: tuple[str, ...]) -> Any:
    """A final call is its state; votes matter while a question or its grant stands."""
    if state in FINAL:
        return state
    return state, revision, runs, voters if state in (OPEN, UNKNOWN, APPROVED) else ()


def stored(ledger: MemoryLedger, replies: Sequence[str]) -> Any:
    """The store in the words of `abstract`; `replies`: ids in the order of their messages."""
    session = ledger._sessions.get(SESSION)
    numbers = {reply_id: number for number, reply_id in enumerate(replies, 1)}
    found = [ledger._replies[reply_id] for reply_id in replies]
    log = tuple(
        (numbers[reply.reply_id], _OUTCOMES[reply.outcome]) for reply in found if reply.outcome
    )
    queue = tuple(numbers[reply_id] for reply_id in session.queue) if session else ()
    if session is None or session.active is None:
        return log, queue, None
    reply = ledger._replies[session.active]
    calls = tuple(_abstract_call(call) for call in reply.present)
    number = numbers[reply.reply_id]
    return log, queue, (number, reply.state.value, reply.stop is not None, reply.turn, calls)


def view_of(ledger: MemoryLedger, seen: Seen) -> View:
    """The view of a ledger in memory."""
    session = ledger._sessions.get(SESSION)
    for reply in ledger._replies.values():
        if reply.reply_id not in seen or seen[reply.reply_id][0] is not reply:
            armed = tuple(map(_timer_view, timers(reply)))
            seen[reply.reply_id] = (reply, _reply_view(reply), armed)
    names = sorted(ledger._replies)
    return View(
        active=session.active if session else None,
        queue=session.queue if session else (),
        replies=tuple(seen[name][1] for name in names),
        timers=tuple(sorted(timer for name in names for timer in seen[name][2])),
        audit=tuple(len(ledger._audit.get(name, ())) for name in names),
        hints=len(ledger._hints),
        orders=ledger._entries,
    )


def _reply_view(reply: Reply) -> tuple[Any, ...]:
    calls = tuple(
        (
            call.key.call_id,
            call.state.value,
            call.revision,
            call.runs,
            tuple(vote.actor.id for vote in call.votes),
            call.version,
        )
        for call in reply.calls
    )
    outcome = reply.outcome.value if reply.outcome else None
    stopped = reply.stop is not None
    return reply.reply_id, reply.state.value, stopped, reply.turn, reply.fence, outcome, calls


def _timer_view(timer: Timer) -> tuple[Any, ...]:
    return (
        timer.kind,
        timer.reply_id,
        timer.number,
        timer.call_id,
        timer.step,
        timer.channel,
        timer.at,
    )
