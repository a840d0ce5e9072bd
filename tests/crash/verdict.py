"""What must be true after a campaign, judged from what it left behind: pure functions of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.calls import ASKED, Call, CallKey, CallState, Reply, ReplyState
from core.ledger import AuditRecord
from core.ledger.requests import MAX_RUNS
from tests.crash.board import Message
from tests.crash.office import DECIDERS

DECISIONS = frozenset({"approve", "modify", "reject", "fulfil"})
_GRANTS = frozenset({"approve", "modify"})


class Effect(NamedTuple):
    """One line of what the tools did, outside the store."""

    reply_id: str
    call_id: str
    run: int
    tool: str
    value: int
    key: str

    @property
    def call(self) -> tuple[str, str]:
        """Of which call."""
        return self.reply_id, self.call_id


@dataclass(slots=True)
class Asking:
    """A message as its sender knows it. `acked`: every reply id that was confirmed."""

    op: str
    session: str
    acked: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Click:
    """A person's act as that person knows it.

    Attributes:
        value: what the card showed, or what the person put in its place.
        state: what the card's state was: `unknown` makes an approval a "run again".
        answers: every answer that came: whether it was taken, and the words.
    """

    op: str
    key: CallKey
    revision: int
    who: str
    act: str
    value: int
    state: str
    answers: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])

    @property
    def confirmed(self) -> bool:
        """Whether the person was told that it is recorded."""
        return any(ok for ok, _ in self.answers)

    @property
    def call(self) -> tuple[str, str]:
        """Of which call."""
        return self.key.reply_id, self.key.call_id


@dataclass(slots=True)
class Evidence:
    """Everything that a campaign left behind.

    Attributes:
        drawn: what each call's card has to show now.
        pending: calls that people are asked about, as the gateway lists them.
        errors: lines that the gateways logged as errors.
    """

    askings: Sequence[Asking]
    clicks: Sequence[Click]
    effects: Sequence[Effect]
    replies: Mapping[str, Reply]
    audits: Mapping[str, Sequence[AuditRecord]]
    messages: Sequence[Message]
    drawn: Mapping[CallKey, Mapping[str, Any]]
    pending: frozenset[CallKey]
    errors: Sequence[str] = ()

    def calls(self) -> Iterator[Call]:
        """Every call of every reply."""
        for reply in self.replies.values():
            yield from reply.calls


@dataclass(slots=True)
class Verdict:
    """What is wrong, by kind; nothing should be."""

    lost: list[str]
    doubled: list[str]
    untrue: list[str]
    unsettled: list[str]
    cards: list[str]

    def all(self) -> list[str]:
        """Everything that is wrong."""
        return [*self.lost, *self.doubled, *self.untrue, *self.unsettled, *self.cards]


def judge(found: Evidence) -> Verdict:
    """Look at everything."""
    return Verdict(
        lost=[*_lost_messages(found), *_lost_decisions(found), *_lost_effects(found)],
        doubled=[*_doubled_replies(found), *_doubled_effects(found), *_doubled_decisions(found)],
        untrue=[*_untrue_answers(found), *_unapproved_effects(found), *found.errors],
        unsettled=list(_unsettled(found)),
        cards=list(_wrong_cards(found)),
    )


def _lost_messages(found: Evidence) -> Iterator[str]:
    for asking in found.askings:
        for reply_id in asking.acked:
            if reply_id not in found.replies:
                yield f"message {asking.op} was accepted, its reply {reply_id} is gone"


def _lost_decisions(found: Evidence) -> Iterator[str]:
    recorded = _recorded(found)
    for click in found.clicks:
        if click.confirmed and (click.key.reply_id, click.op) not in recorded:
            yield f"{click.act} {click.op} of {click.call} was confirmed and is not in the ledger"


def _recorded(found: Evidence) -> set[tuple[str, str]]:
    return {
        (reply_id, record.op)
        for reply_id, records in found.audits.items()
        for record in records
        if record.what in DECISIONS
    }


def _lost_effects(found: Evidence) -> Iterator[str]:
    seen = {(effect.call, effect.run) for effect in found.effects}
    for call in found.calls():
        name = call.key.reply_id, call.key.call_id
        if call.state is CallState.DONE and call.done_run and (name, call.done_run) not in seen:
            yield f"run {call.done_run} of {name} is recorded as done and had no effect"


def _doubled_replies(found: Evidence) -> Iterator[str]:
    for asking in found.askings:
        if len(set(asking.acked)) > 1:
            yield f"message {asking.op} was given {len(set(asking.acked))} replies"
    if len(found.replies) > len(found.askings):
        yield f"{len(found.askings)} messages made {len(found.replies)} replies"


def _doubled_effects(found: Evidence) -> Iterator[str]:
    """One effect per run; and, counted without the store, one per call and "run again"."""
    runs = Counter((effect.call, effect.run) for effect in found.effects)
    yield from (f"run {run} of {call} had {n} effects" for (call, run), n in runs.items() if n > 1)
    again = Counter(
        click.call for click in found.clicks if click.act == "approve" and click.state == "unknown"
    )
    tools = {effect.call: effect.tool for effect in found.effects}
    for call, count in Counter(effect.call for effect in found.effects).items():
        # An idempotent call is tried again by itself, with the same key.
        runs_each = MAX_RUNS if tools[call] == "stamp" else 1
        if count > runs_each * (1 + again[call]):
            yield f"{call} ({tools[call]}) had {count} effects, run again {again[call]} times"
    for call, keys in _keys(found).items():
        if len(keys) > 1:
            yield f"{call} ran under {len(keys)} keys"


def _keys(found: Evidence) -> dict[tuple[str, str], set[str]]:
    keys: dict[tuple[str, str], set[str]] = {}
    for effect in found.effects:
        keys.setdefault(effect.call, set()).add(effect.key)
    return keys


def _doubled_decisions(found: Evidence) -> Iterator[str]:
    """A question, a call in one revision, is settled once."""
    for reply_id, records in found.audits.items():
        settled: Counter[tuple[str, int]] = Counter()
        for record in records:
            for call_id, before, after, revision, _ in record.changes:
                if record.what in DECISIONS and before != after:
                    settled[call_id, revision] += 1
        for (call_id, revision), count in settled.items():
            if count > 1:
                yield f"revision {revision} of {reply_id} {call_id} was settled {count} times"


def _untrue_answers(found: Evidence) -> Iterator[str]:
    recorded = _recorded(found)
    for click in found.clicks:
        taken = {ok for ok, _ in click.answers}
        if len(taken) > 1:
            yield f"{click.act} {click.op}: first told {click.answers[0]}, then otherwise"
        if taken == {False} and (click.key.reply_id, click.op) in recorded:
            yield f"{click.act} {click.op} was refused ({click.answers[0][1]}) and is recorded"
        if click.confirmed and click.who not in DECIDERS:
            yield f"{click.who} may not decide and did: {click.act} {click.op}"


def _unapproved_effects(found: Evidence) -> Iterator[str]:
    """By the people's own list: no effect but of what somebody approved, as it was shown; by the
    ledger: none before its start was written."""
    approved: dict[tuple[str, str], set[int]] = {}
    for click in found.clicks:
        if click.act in _GRANTS and click.who in DECIDERS:
            approved.setdefault(click.call, set()).add(click.value)
    started = _started(found)
    for effect in found.effects:
        if effect.tool != "log" and effect.value not in approved.get(effect.call, ()):
            yield f"{effect.call} did {effect.tool} {effect.value}, which nobody approved"
        if (*effect.call, effect.run) not in started:
            yield f"run {effect.run} of {effect.call} had an effect and no start in the ledger"


def _started(found: Evidence) -> set[tuple[str, str, int]]:
    return {
        (reply_id, call_id, runs)
        for reply_id, records in found.audits.items()
        for record in records
        if record.what == "start"
        for call_id, _, after, _, runs in record.changes
        if after == CallState.STARTED
    }


def _unsettled(found: Evidence) -> Iterator[str]:
    """Every reply is closed, or people see what it waits for, or it waits behind such a one."""
    for asking in found.askings:
        if not asking.acked:
            yield f"message {asking.op} was never accepted"
    for reply in found.replies.values():
        if reply.state is ReplyState.PARKED:
            yield from _unseen(found, reply)
        elif reply.state not in (ReplyState.CLOSED, ReplyState.QUEUED):
            yield f"{reply.reply_id} is {reply.state}"
        elif reply.state is ReplyState.CLOSED and not all(call.final for call in reply.calls):
            yield f"{reply.reply_id} is closed over an open call"
    yield from _stranded(found)


def _unseen(found: Evidence, reply: Reply) -> Iterator[str]:
    shown = {message.card.call for message in found.messages}
    asked = [call for call in reply.present if call.state in ASKED]
    if not asked:
        yield f"{reply.reply_id} is parked and waits for nothing"
    for call in asked:
        if call.key not in found.pending or call.key not in shown:
            yield f"{call.key} is asked and nobody can see it"


def _stranded(found: Evidence) -> Iterator[str]:
    at_work = {
        reply.session_id
        for reply in found.replies.values()
        if reply.state not in (ReplyState.CLOSED, ReplyState.QUEUED)
    }
    for reply in found.replies.values():
        if reply.state is ReplyState.QUEUED and reply.session_id not in at_work:
            yield f"{reply.reply_id} is queued behind nothing"


def _wrong_cards(found: Evidence) -> Iterator[str]:
    shown = {message.card.call for message in found.messages}
    for message in found.messages:
        wanted = found.drawn.get(message.card.call)
        if wanted is None:
            yield f"{message.card.call} is gone, its card shows {message.view['state']}"
        elif message.view != wanted:
            unlike = {
                name: (shows, wanted.get(name))
                for name, shows in message.view.items()
                if shows != wanted.get(name)
            }
            yield f"{message.id} of {message.card.call} shows other than the store: {unlike}"
    for call in found.calls():
        if any(card.ordered for card in call.cards) and call.key not in shown:
            yield f"{call.key} has no card"
