"""What the ledger keeps: sessions, replies and calls, the states they have and the moves between.

Times are whole milliseconds since 1970 (UTC) of the store's own clock; durations are whole
milliseconds. Everything here is frozen: a transition makes a new record.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, Literal

from core.messages import ReplyFinishedReason

Json = Mapping[str, Any]
ActorKind = Literal["person", "timer", "worker", "operator", "system"]


class CallState(StrEnum):
    """Where a call stands."""

    WAITING = "waiting"
    OPEN = "open"
    APPROVED = "approved"
    ALLOWED = "allowed"
    STARTED = "started"
    TASK = "task"
    UNKNOWN = "unknown"
    DONE = "done"
    REJECTED = "rejected"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


class ReplyState(StrEnum):
    """Where a reply stands. `queued` is a message that waits for the reply before it."""

    QUEUED = "queued"
    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    CLOSED = "closed"


class DecisionKind(StrEnum):
    """How a question was settled, and by what kind of act."""

    APPROVE = "approve"
    MODIFY = "modify"
    REJECT = "reject"
    FULFIL = "fulfil"
    EXPIRE = "expire"
    CANCEL = "cancel"
    DENY = "deny"


class Because(StrEnum):
    """Why a call is asked in its present revision; the card says so."""

    NEW = "new"
    EDITED = "edited"
    LAPSED = "lapsed"
    UNKNOWN = "unknown"
    TASK = "task"


FINAL = frozenset(
    {
        CallState.DONE,
        CallState.REJECTED,
        CallState.DENIED,
        CallState.EXPIRED,
        CallState.CANCELLED,
        CallState.ABANDONED,
    }
)
ASKED = frozenset({CallState.OPEN, CallState.TASK, CallState.UNKNOWN})
GRANTED = frozenset({CallState.APPROVED, CallState.ALLOWED})

_S = CallState
MOVES: Mapping[CallState, frozenset[CallState]] = {
    _S.WAITING: frozenset({_S.OPEN, _S.ALLOWED, _S.DENIED, _S.CANCELLED}),
    _S.OPEN: frozenset({_S.OPEN, _S.APPROVED, _S.REJECTED, _S.EXPIRED, _S.CANCELLED}),
    _S.APPROVED: frozenset(
        {_S.STARTED, _S.TASK, _S.OPEN, _S.UNKNOWN, _S.DENIED, _S.CANCELLED, _S.DONE, _S.ABANDONED}
    ),
    _S.ALLOWED: frozenset(
        {_S.STARTED, _S.TASK, _S.DENIED, _S.CANCELLED, _S.DONE, _S.UNKNOWN, _S.ABANDONED}
    ),
    _S.STARTED: frozenset({_S.DONE, _S.UNKNOWN, _S.ALLOWED, _S.ABANDONED}),
    _S.TASK: frozenset({_S.DONE, _S.EXPIRED, _S.CANCELLED}),
    _S.UNKNOWN: frozenset({_S.APPROVED, _S.DONE, _S.ABANDONED}),
    **{state: frozenset[CallState]() for state in FINAL},
}


def require_text(*parts: str) -> None:
    """Refuse what is no Unicode text.

    Raises:
        ValueError: half of a surrogate pair.
    """
    for part in parts:
        try:
            part.encode()
        except UnicodeEncodeError:
            raise ValueError("an id or name holds half of a surrogate pair") from None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a verified person (`id` is the person, whatever the surface), a timer, a worker.

    Raises:
        ValueError: a part is not text that can be stored (half of a surrogate pair).
    """

    kind: ActorKind
    id: str
    name: str = ""
    surface: str = ""

    def __post_init__(self) -> None:
        require_text(self.id, self.name, self.surface)


TIMER = Actor("timer", "timer")
SYSTEM = Actor("system", "system")


@dataclass(frozen=True, slots=True)
class CallKey:
    """The name of a call: ids are unique in a reply, the turn says which model turn made it."""

    reply_id: str
    call_id: str
    turn: int


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's approval of one revision. `rules`: the offered rules that were ticked."""

    actor: Actor
    at: int
    reason: str = ""
    rules: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The latest decision about a call, of revision `revision`."""

    kind: DecisionKind
    actor: Actor
    at: int
    revision: int
    reason: str = ""
    rules: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Escalation:
    """After `after_ms` without an answer, the set `to` may decide as well."""

    after_ms: int
    to: str


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a call is asked and run; fixed by the policy when the turn was written.

    Attributes:
        approvers: name of the set of people who decide (for a task: who fulfil).
        quorum: how many different people must approve.
        timeout_ms: how long a question stays open.
        task_timeout_ms: how long a task stays open.
        unknown_timeout_ms: how long people are asked about a run with an unproven end.
        grant_lifetime_ms: how long an approval holds once the call could start.
        remind_ms: when to remind, counted from the question.
        idempotent: may be tried again by itself after a lost run, `MAX_RUNS` runs at most.
        external: done by people, as a task.
        alone: must not run beside another call of its turn.
    """

    approvers: str
    quorum: int = 1
    timeout_ms: int = 3_600_000
    task_timeout_ms: int = 14_400_000
    unknown_timeout_ms: int = 86_400_000
    grant_lifetime_ms: int = 60_000
    remind_ms: tuple[int, ...] = ()
    escalate: Escalation | None = None
    idempotent: bool = False
    external: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One card: a call in one channel. It has a set of messages: a repeated post makes a copy.

    Attributes:
        channel: where it is posted, as the router names it ("slack:C0APPROVALS").
        messages: the chat's ids of its messages, oldest record first.
        ordered: whether its post was ordered; a call that nobody is asked about has no card yet.
        look_at: when to look for copies once more, after a post that had to be repeated.
    """

    channel: str
    ordered: bool = False
    messages: tuple[str, ...] = ()
    look_at: int | None = None


@dataclass(frozen=True, slots=True)
class Late:
    """A result that came after its call was settled: noted, shown, never used."""

    run: int
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call in the ledger.

    Attributes:
        position: its place in the turn, from 0.
        revision: number of the shown form; buttons and votes carry it.
        version: counts every change; a card that shows an older one is behind.
        digest: of the present revision's envelope.
        input: the present raw input; `original_input` is what the model wrote.
        content: what a card shows beside it: title, facts, risk, rules offered; free JSON.
        approvers: sets of people who may decide now; escalation adds to them.
        quorum: approvals needed for this revision; an edit may raise it.
        asked_at: when the present question was put; reminders count from it.
        deadline: when the question, task or unknown run is settled by the timer.
        grant_until: when an unused grant lapses.
        runs: starts so far, and so the number of the last run; `run_op` is its start's op id.
        result: a `ToolResultBlock` as JSON, only of a done call; `done_run` is the run it is of
            (0: people gave it).
        by, at: who made the last change, and when.
    """

    key: CallKey
    position: int
    tool: str
    state: CallState
    digest: str
    terms: Terms
    input: str
    original_input: str
    approvers: tuple[str, ...]
    quorum: int
    by: Actor
    at: int
    content: Json = field(default_factory=dict[str, Any])
    revision: int = 0
    version: int = 0
    because: Because = Because.NEW
    policy: str = ""
    votes: tuple[Vote, ...] = ()
    asked_at: int | None = None
    reminded: int = 0
    escalated: bool = False
    deadline: int | None = None
    grant_until: int | None = None
    runs: int = 0
    run_op: str | None = None
    claimant: Actor | None = None
    decision: Decision | None = None
    result: Json | None = None
    done_run: int | None = None
    late: Late | None = None
    cards: tuple[Card, ...] = ()

    @property
    def final(self) -> bool:
        """Whether it will never change its state again."""
        return self.state in FINAL


@dataclass(frozen=True, slots=True)
class Stop:
    """A person (or the system) has stopped the reply."""

    actor: Actor
    at: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply in the ledger.

    Attributes:
        message: the message it answers, as JSON.
        fence: number of the present or last claim; a worker's writes carry it.
        turn: number of the last model turn that was written; 0: none yet.
        tries: claims in a row that brought nothing.
        calls: every call of every turn, in order.
        outcome: how it ended, once closed.
        next_reply: the reply that its end opened, if a message was waiting.
    """

    reply_id: str
    session_id: str
    tenant: str
    state: ReplyState
    message: Json
    accepted_at: int
    calls: tuple[Call, ...] = ()
    fence: int = 0
    claim_op: str | None = None
    lease_until: int | None = None
    wake_at: int | None = None
    turn: int = 0
    turn_fence: int | None = None
    tries: int = 0
    stop: Stop | None = None
    outcome: ReplyFinishedReason | None = None
    closed_at: int | None = None
    closed_fence: int | None = None
    next_reply: str | None = None

    @property
    def present(self) -> tuple[Call, ...]:
        """The calls of the present turn; all older ones are final."""
        return tuple(call for call in self.calls if call.key.turn == self.turn)

    def call(self, call_id: str) -> Call | None:
        """The call of that id, of whatever turn."""
        return next((call for call in self.calls if call.key.call_id == call_id), None)


@dataclass(frozen=True, slots=True)
class AgentPayload:
    """The agent's state as it was last written, and by which reply and turn.

    `complete` false: that reply went on from here, or was ended by the store after too many tries;
    the ledger's results of its calls of this turn are not in the state yet.
    """

    reply_id: str
    turn: int
    complete: bool
    state: Json


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: what it answers now, what waits, and the agent's state."""

    session_id: str
    tenant: str
    active: str | None = None
    queue: tuple[str, ...] = ()
    agent: AgentPayload | None = None


def work(stop: bool, states: Iterable[CallState]) -> bool:
    """Whether a worker should act on a reply, given the states of its present calls.

    A parked reply never has work: every transition that makes some wakes it.
    """
    present = frozenset(states)
    waited_for = ASKED | {CallState.STARTED}
    return stop or bool(present & GRANTED) or not present & waited_for


def held_up(call: Call, others: Iterable[Call]) -> bool:
    """Whether a granted call can't start because of a call that runs now."""
    return any(
        other.state is CallState.STARTED
        and other.key != call.key
        and (call.terms.alone or other.terms.alone)
        for other in others
    )


def partition_of(session_id: str, partitions: int) -> int:
    """The partition of a session, and so of all its replies."""
    return int.from_bytes(sha256(session_id.encode()).digest()[:4], "big") % partitions


def new_reply_id(partition: int, now: int, random: str) -> str:
    """A reply's id: two hex digits of partition, twelve of time, then at least 128 random bits."""
    return f"{partition:02x}{now:012x}{random}"
