"""What can be asked of the ledger. `op` is the idempotency key of a request: sent again, at once
or later, it gets the answer it got before and changes nothing more. Draw a fresh one per attempt
of a worker; take the platform's interaction or event id for what people do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from core.calls import Actor, Call, CallKey, CallState, Json, Terms, require_text
from core.messages import ReplyFinishedReason

MAX_RUNS = 3
"""Runs of an idempotent call; after that the end of a lost one is asked about."""
MAX_TRIES = 5
"""Claims in a row that may bring nothing; one more and the reply has failed."""
CHECK_AGE_MS = 15_000
"""How old the check of a person's authority may be when the ledger takes the decision."""
WAKE_MS = 5_000
"""How soon a ready reply is announced again when nobody claims it."""
LOOK_MS = 60_000
"""How long after a repeated post the chat is searched for copies once more."""


@dataclass(frozen=True, slots=True)
class Accept:
    """A message has come. `op` is the platform's id of the event, kept for seven days.

    `queue_limit`: messages that may wait behind the present reply.
    """

    op: str
    session_id: str
    tenant: str
    actor: Actor
    message: Json
    queue_limit: int = 20


@dataclass(frozen=True, slots=True)
class StopReply:
    """End this reply: withdraw what is not started, let run what runs, then close."""

    op: str
    actor: Actor
    reply_id: str


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Withdraw one call that has not started."""

    op: str
    actor: Actor
    key: CallKey
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Take a ready reply. `op` must be random and fresh: the same op gets the same fence."""

    op: str
    worker: Actor
    reply_id: str
    lease_ms: int


@dataclass(frozen=True, slots=True)
class Renew:
    """Hold on to a claimed reply."""

    reply_id: str
    fence: int
    lease_ms: int


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call of a new turn, with the verdict of the permission engine as its first state.

    Attributes:
        call_id: unique in the reply, over all turns.
        state: waiting, open, allowed, denied, or task (external, nothing to confirm).
        policy: the policy revision of the verdict.
        channels: where its cards go; nothing is posted for a call without one.
        reason: of a denied call: why, for people.
    """

    call_id: str
    tool: str
    input: str
    state: CallState
    digest: str
    terms: Terms
    content: Json = field(default_factory=dict[str, Any])
    policy: str = ""
    channels: tuple[str, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        require_text(self.call_id, self.tool, *self.channels)


@dataclass(frozen=True, slots=True)
class WriteTurn:
    """Write model turn `turn` whole: agent state and calls. Replayed by fence and turn."""

    op: str
    worker: Actor
    reply_id: str
    fence: int
    turn: int
    state: Json
    calls: tuple[NewCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """Judge a waiting call, now that nothing is before it: open, allowed or denied."""

    op: str
    worker: Actor
    key: CallKey
    fence: int
    policy: str
    state: CallState
    reason: str = ""
    content: Json | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Use the grant of a call: the only gate to a tool. `op` must be random and fresh."""

    op: str
    worker: Actor
    key: CallKey
    fence: int
    revision: int
    digest: str
    policy: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The policy of now denies a granted call."""

    op: str
    worker: Actor
    key: CallKey
    fence: int
    policy: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finish:
    """Run `run` of a call has ended. Needs no fence: the run's own proof counts, however late."""

    op: str
    worker: Actor
    key: CallKey
    run: int
    result: Json


@dataclass(frozen=True, slots=True)
class Release:
    """Park the reply, if there is nothing to do and nothing runs."""

    op: str
    worker: Actor
    reply_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class HandBack:
    """Let another worker have the reply (shutdown, overload)."""

    op: str
    worker: Actor
    reply_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class Complete:
    """End the reply and open the next message of its session. Replayed by fence."""

    op: str
    worker: Actor
    reply_id: str
    fence: int
    turn: int
    outcome: ReplyFinishedReason
    state: Json


@dataclass(frozen=True, slots=True)
class Approve:
    """A person approves revision `revision` (of an unknown run: run it again).

    Attributes:
        checked_at: when the person's authority was checked.
        rules: offered rules that were ticked, as `PermissionRule` JSON.
    """

    op: str
    actor: Actor
    key: CallKey
    revision: int
    checked_at: int
    reason: str = ""
    rules: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """A person rejects revision `revision` (of an unknown run: give it up)."""

    op: str
    actor: Actor
    key: CallKey
    revision: int
    checked_at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Modify:
    """A person changes the input and so approves the changed call; earlier votes fall.

    `quorum`: approvals the changed call needs when the edit raised the risk; never lowers it.
    """

    op: str
    actor: Actor
    key: CallKey
    revision: int
    checked_at: int
    input: str
    digest: str
    content: Json | None = None
    quorum: int = 1
    reason: str = ""
    rules: tuple[Json, ...] = ()


Decide = Approve | Reject | Modify


@dataclass(frozen=True, slots=True)
class Fulfil:
    """A person gives the result of a task, or marks an unknown run as done."""

    op: str
    actor: Actor
    key: CallKey
    checked_at: int
    result: Json


@dataclass(frozen=True, slots=True)
class ClaimTask:
    """A person takes a task on, as a courtesy to others."""

    op: str
    actor: Actor
    key: CallKey


@dataclass(frozen=True, slots=True)
class ReturnTask:
    """The claimant hands a task back."""

    op: str
    actor: Actor
    key: CallKey


TimerKind = Literal["expire", "lapse", "lease", "wake", "remind", "escalate", "look"]


@dataclass(frozen=True, slots=True)
class Timer:
    """Something that is due at `at`. `number`: fence of a lease, revision of a call's question,
    0 for a wake. `step`: which reminder; `channel`: which card."""

    kind: TimerKind
    reply_id: str
    at: int
    number: int = 0
    call_id: str = ""
    step: int = 0
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Fire:
    """Let one due timer act."""

    op: str
    timer: Timer


@dataclass(frozen=True, slots=True)
class CardKey:
    """One card: a call in one channel."""

    call: CallKey
    channel: str


@dataclass(frozen=True, slots=True)
class Order:
    """What the outbox asks of a poster.

    Attributes:
        id: of the entry, to acknowledge it by.
        kind: `post` the card (only this may post) · `edit` it: render the ledger as it is now ·
            `look` for all messages with its mark · notices `remind`, `escalate`.
        name: the same for a notice delivered again, so that it is sent once.
        repeated: it was handed out before and not acknowledged; a post looks for its mark first.
    """

    id: str
    kind: Literal["post", "edit", "look", "remind", "escalate"]
    card: CardKey
    name: str
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """Messages of a card show version `version`; the entry `order` is done.

    `order` empty: nothing to acknowledge. A repeated post orders one more look for copies.
    """

    card: CardKey
    messages: tuple[str, ...]
    version: int
    order: str = ""
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A click came from a message with a valid token: adopt it if it is not recorded."""

    card: CardKey
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Which open calls to list: of one tenant, and of these sets, session or states if given."""

    tenant: str
    approvers: frozenset[str] | None = None
    session_id: str | None = None
    states: frozenset[CallState] | None = None

    def wants(self, call: Call) -> bool:
        """Whether the call's approvers and state fit."""
        return (self.states is None or call.state in self.states) and (
            self.approvers is None or not self.approvers.isdisjoint(call.approvers)
        )


def replay_name(request: Any) -> tuple[str, str]:
    """What a kept answer is filed under, beside reply and op: the act and its call. Approving,
    rejecting and editing are one act: one press answers one question."""
    act = "Decide" if isinstance(request, Approve | Reject | Modify) else type(request).__name__
    key = getattr(request, "key", None)
    return act, key.call_id if isinstance(key, CallKey) else ""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One transition: what it was, who made it, what it changed.

    Attributes:
        changes: per changed call: id, state before ("" for new), state after, revision, runs.
        note: what people or policy said, and late results; sealed at rest.
    """

    at: int
    what: str
    actor: Actor
    op: str
    reply_id: str
    session_id: str
    tenant: str
    state: str
    changes: tuple[tuple[str, str, str, int, int], ...] = ()
    note: Mapping[str, Any] = field(default_factory=dict[str, Any])
