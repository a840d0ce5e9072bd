"""One step in the making: what a transition has read, and what it will write.

Timers are not set and dropped one by one: they follow from the records (`timers`), so that no
path can forget one. The same goes for waking a parked reply (`Draft.settle`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.calls import (
    ASKED,
    GRANTED,
    SYSTEM,
    TIMER,
    Actor,
    Because,
    Call,
    CallKey,
    CallState,
    Card,
    Decision,
    DecisionKind,
    Json,
    Reply,
    ReplyState,
    Session,
    held_up,
    work,
)
from core.ledger.answers import Lost, Refused, Why
from core.ledger.requests import WAKE_MS, Timer

Change = tuple[str, str, str, int, int]


@dataclass(frozen=True, slots=True)
class NewOrder:
    """An order for the outbox, before the store gives it an id."""

    kind: str
    call_id: str
    turn: int
    channel: str
    name: str


@dataclass(slots=True)
class Draft:
    """The records of one step. `following` is the reply at the head of the session's queue."""

    now: int
    policy: str
    session: Session
    reply: Reply
    following: Reply | None = None
    wrote: bool = False
    hints: list[str] = field(default_factory=list[str])
    orders: list[NewOrder] = field(default_factory=list[NewOrder])
    changes: list[Change] = field(default_factory=list[Change])
    what: str = ""
    actor: Actor = SYSTEM
    note: Mapping[str, Any] = field(default_factory=dict[str, Any])
    before: Reply = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.reply

    def call(self, key: CallKey) -> Call | None:
        """The call of this key, if the reply has it in that turn."""
        call = self.reply.call(key.call_id)
        return call if call and call.key.turn == key.turn else None

    def record(self, what: str, actor: Actor, **note: Any) -> None:
        """Say in the audit what this step was. Empty notes are left out."""
        self.wrote = True
        self.what, self.actor = what, actor
        self.note = {name: value for name, value in note.items() if value}

    def set(self, **fields: Any) -> None:
        """Change the reply."""
        self.wrote = True
        self.reply = replace(self.reply, **fields)

    def put(self, call: Call, actor: Actor) -> Call:
        """Write a changed call, as that actor's doing."""
        return self.show(replace(call, by=actor, at=self.now))

    def show(self, call: Call) -> Call:
        """Write a changed call: its version rises, its cards are ordered."""
        call = replace(call, version=call.version + 1)
        call = replace(call, cards=tuple(self._order(call, card) for card in call.cards))
        old = self.reply.call(call.key.call_id)
        before = old.state.value if old else ""
        self.changes.append((call.key.call_id, before, call.state.value, call.revision, call.runs))
        self.quiet(call)
        return call

    def quiet(self, call: Call) -> None:
        """Write a call whose change no card shows."""
        self.wrote = True
        calls = self.reply.calls
        if self.reply.call(call.key.call_id) is None:
            self.reply = replace(self.reply, calls=(*calls, call))
        else:
            self.reply = replace(
                self.reply, calls=tuple(call if c.key == call.key else c for c in calls)
            )

    def order(self, kind: str, call: Call, channel: str, step: str = "") -> None:
        """Ask a poster for something."""
        name = f"{call.key.call_id}/{call.revision}/{kind}{step}"
        self.orders.append(NewOrder(kind, call.key.call_id, call.key.turn, channel, name))

    def _order(self, call: Call, card: Card) -> Card:
        if card.ordered:
            self.order("edit", call, card.channel)
            return card
        if call.state in ASKED:
            self.order("post", call, card.channel)
            return replace(card, ordered=True)
        return card

    def ready(self) -> None:
        """Make the reply claimable, announce it, and announce it again until it is claimed."""
        self.set(state=ReplyState.READY, lease_until=None, wake_at=self.now + WAKE_MS)
        self.hints.append(self.reply.reply_id)

    def settle(self) -> None:
        """What ends every step: grants that were held up begin to count, work wakes."""
        for call in self.reply.present:
            if self._was_held_up(call):
                until = self.now + call.terms.grant_lifetime_ms
                self.quiet(replace(call, grant_until=until))
        if self.reply.state is ReplyState.PARKED and self.has_work():
            self.ready()

    def _was_held_up(self, call: Call) -> bool:
        old = self.before.call(call.key.call_id)
        return (
            call.state in GRANTED
            and call.grant_until is not None
            and old is not None
            and old.state in GRANTED
            and held_up(old, self.before.present)
            and not held_up(call, self.reply.present)
        )

    def has_work(self) -> bool:
        """Whether a worker should act now."""
        return work(self.reply.stop is not None, (call.state for call in self.reply.present))

    def granted(self) -> tuple[str, ...]:
        """Calls of this turn that could be started."""
        return tuple(c.key.call_id for c in self.reply.present if c.state in GRANTED)

    def running(self) -> tuple[str, ...]:
        """Calls of this turn that are under way."""
        present = self.reply.present
        return tuple(c.key.call_id for c in present if c.state is CallState.STARTED)

    def unfinished(self) -> tuple[str, ...]:
        """Calls of this turn that are not final."""
        return tuple(c.key.call_id for c in self.reply.present if not c.final)

    def lost(self, fence: int) -> Lost | None:
        """The answer to a worker that does not hold the reply."""
        reply = self.reply
        if reply.state is ReplyState.RUNNING and reply.fence == fence:
            return None
        return Lost(reply.state, reply.fence)


def refused(why: Why, call: Call | None) -> Refused:
    """A refusal that says where the call stands."""
    if call is None:
        return Refused(Why.NO_SUCH_CALL)
    decision = call.decision
    return Refused(
        why,
        call.state,
        call.revision,
        call.by,
        call.at,
        decision.kind if decision else None,
        decision.actor if decision else None,
        decision.at if decision else None,
    )


def ask(call: Call, state: CallState, because: Because, now: int) -> Call:
    """Put the question of a call again: a new revision without votes, with a new deadline."""
    terms = call.terms
    lasts = {
        CallState.OPEN: terms.timeout_ms,
        CallState.TASK: terms.task_timeout_ms,
        CallState.UNKNOWN: terms.unknown_timeout_ms,
    }[state]
    return replace(
        call,
        state=state,
        because=because,
        revision=call.revision + 1,
        votes=(),
        asked_at=now,
        reminded=0,
        escalated=False,
        deadline=now + lasts,
        grant_until=None,
    )


def lapse(draft: Draft, call: Call) -> Call:
    """A grant was not used in time: nothing ran, people are asked again."""
    state = CallState.UNKNOWN if call.runs else CallState.OPEN
    draft.record("lapse", TIMER)
    return draft.put(ask(call, state, Because.LAPSED, draft.now), TIMER)


def expire(draft: Draft, call: Call) -> Call:
    """Nobody answered in time."""
    state = CallState.ABANDONED if call.state is CallState.UNKNOWN else CallState.EXPIRED
    draft.record("expire", TIMER)
    return close(draft, call, state, DecisionKind.EXPIRE, TIMER)


def close(
    draft: Draft, call: Call, state: CallState, kind: DecisionKind, actor: Actor, reason: str = ""
) -> Call:
    """Bring a call to a final state without a result."""
    decision = Decision(kind, actor, draft.now, call.revision, reason)
    changed = replace(call, state=state, decision=decision, deadline=None, grant_until=None)
    return draft.put(changed, actor)


def done(draft: Draft, call: Call, result: Json, run: int, actor: Actor) -> Call:
    """A result settles a call; a grant that was not used falls."""
    changed = replace(
        call,
        state=CallState.DONE,
        result=result,
        done_run=run,
        deadline=None,
        grant_until=None,
    )
    return draft.put(changed, actor)


def withdraw(draft: Draft, call: Call, actor: Actor, reason: str = "") -> Call:
    """Take back a call that is not under way. A run whose end is unproven stays so: abandoned."""
    state = CallState.ABANDONED if call.runs else CallState.CANCELLED
    return close(draft, call, state, DecisionKind.CANCEL, actor, reason)


def timers(reply: Reply) -> Iterator[Timer]:
    """Every timer that the records of a reply call for."""
    name = reply.reply_id
    if reply.state is ReplyState.READY and reply.wake_at is not None:
        yield Timer("wake", name, reply.wake_at)
    if reply.state is ReplyState.RUNNING and reply.lease_until is not None:
        yield Timer("lease", name, reply.lease_until, reply.fence)
    for call in reply.calls:
        yield from _call_timers(call)


def _call_timers(call: Call) -> Iterator[Timer]:
    key = call.key
    for card in call.cards:
        if card.look_at is not None:
            yield Timer("look", key.reply_id, card.look_at, 0, key.call_id, 0, card.channel)
    if call.state in GRANTED and call.grant_until is not None:
        yield Timer("lapse", key.reply_id, call.grant_until, call.revision, key.call_id)
    if call.state in ASKED and call.deadline is not None:
        yield Timer("expire", key.reply_id, call.deadline, call.revision, key.call_id)
        yield from _notices(call, call.deadline)


def _notices(call: Call, deadline: int) -> Iterator[Timer]:
    key, terms, asked = call.key, call.terms, call.asked_at or 0
    if call.reminded < len(terms.remind_ms):
        at = asked + terms.remind_ms[call.reminded]
        if at < deadline:
            step = call.reminded
            yield Timer("remind", key.reply_id, at, call.revision, key.call_id, step)
    if terms.escalate and not call.escalated:
        at = asked + terms.escalate.after_ms
        if at < deadline:
            yield Timer("escalate", key.reply_id, at, call.revision, key.call_id)
