"""What the ledger answers. A refusal always names the present state, who made it, and when."""

from dataclasses import dataclass
from enum import StrEnum

from core.calls import Actor, CallKey, CallState, DecisionKind, Reply, ReplyState, Session
from core.messages import ReplyFinishedReason


class Why(StrEnum):
    """Why a request about a call is refused."""

    NO_SUCH_CALL = "no_such_call"
    NOT_ASKED = "not_asked"
    """The call is not (or no longer) in a state that this request is about."""
    CHANGED = "changed"
    """The card was of another revision, or the input another: look again."""
    EXPIRED = "expired"
    """The deadline has passed; if the timer had not come yet, this request has settled it."""
    NOT_CHECKED = "not_checked"
    """The check of the person's authority is too old (or from the future)."""
    VOTED = "voted"
    """This person has approved this revision before."""
    TAKEN = "taken"
    """Somebody else has claimed the task."""
    STOPPED = "stopped"
    """The reply is being stopped."""
    POLICY_MOVED = "policy_moved"
    """The policy was checked at another revision than the stored one: check again."""
    LAPSED = "lapsed"
    """The grant had lapsed before its start; the question is put again."""
    NOT_YET = "not_yet"
    """Another call of the turn is still waited for."""
    TOO_LATE = "too_late"
    """The call is settled, or another run is under way; the result is noted, not used."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Not done. `state` … `at` say where the call stands and who brought it there; `decision`,
    `decider` and `decided_at` are the latest decision about it. All are None for no such call.
    """

    why: Why
    state: CallState | None = None
    revision: int = 0
    by: Actor | None = None
    at: int | None = None
    decision: DecisionKind | None = None
    decider: Actor | None = None
    decided_at: int | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker no longer holds the reply (or never did): let go. State None: no such reply."""

    state: ReplyState | None = None
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Begun:
    """The session was idle: the reply is ready to be claimed."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class Queued:
    """The message waits; `place` 1 is next."""

    reply_id: str
    place: int


@dataclass(frozen=True, slots=True)
class Full:
    """Too many messages wait in this session; this one was not accepted."""

    limit: int


@dataclass(frozen=True, slots=True)
class Stopping:
    """The reply ends; `running` calls can't be taken back."""

    withdrawn: tuple[str, ...] = ()
    running: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlreadyStopping:
    """Somebody was first."""

    by: Actor
    at: int


@dataclass(frozen=True, slots=True)
class NothingToStop:
    """The reply is not at work: unknown (None), queued, or closed."""

    state: ReplyState | None = None
    outcome: ReplyFinishedReason | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The call is now in this state: cancelled or abandoned, rejected, denied, done."""

    state: CallState
    revision: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """The reply is this worker's under `fence` until the lease ends.

    `session.agent` is the conversation; the reply's calls hold decisions and results: join them.
    """

    fence: int
    lease_until: int
    reply: Reply
    session: Session


@dataclass(frozen=True, slots=True)
class NotReady:
    """Somebody has it, or there is nothing to do. State None: no such reply."""

    state: ReplyState | None = None


@dataclass(frozen=True, slots=True)
class Renewed:
    """Still held. `granted`: calls that could be started now; `stop`: start nothing more."""

    lease_until: int
    stop: bool
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnWritten:
    """The turn is in the ledger."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReplyStopped:
    """No further turn: the reply is being stopped; complete it."""

    by: Actor
    at: int


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """Not while these calls are not final, or (release, hand back) while these run."""

    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdTaken:
    """The reply has a call of that id; ids are unique in a reply."""

    call_id: str


@dataclass(frozen=True, slots=True)
class OutOfTurn:
    """The ledger's last turn is another one than the worker thinks."""

    turn: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The waiting call was judged."""

    state: CallState


@dataclass(frozen=True, slots=True)
class Go:
    """Run it, as run number `run`."""

    run: int


@dataclass(frozen=True, slots=True)
class TaskOffered:
    """The call is external: people were asked to do it, in revision `revision`."""

    revision: int


@dataclass(frozen=True, slots=True)
class Parked:
    """The reply is parked; nothing of it needs memory any more."""


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """Not parked: there is something to do. `granted` calls can be started; none: go on."""

    stop: bool
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandedBack:
    """The reply is ready for another worker."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The reply is closed. `outcome` is what was written: a stop wins over what the worker said."""

    outcome: ReplyFinishedReason
    next_reply: str | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """The approval counts, and more are needed."""

    revision: int
    votes: int
    quorum: int


@dataclass(frozen=True, slots=True)
class Granted:
    """The call is approved for one run, to be started before `grant_until`."""

    revision: int
    votes: int
    grant_until: int


@dataclass(frozen=True, slots=True)
class Yours:
    """The task is this person's."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The task is anybody's again."""


@dataclass(frozen=True, slots=True)
class Fired:
    """The timer has acted. `call` is the call it was about, if any."""

    kind: str
    call: CallKey | None = None


@dataclass(frozen=True, slots=True)
class NotDue:
    """Fired already, put off, or no longer armed."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The messages are known. `behind`: what they show is old; an edit is ordered."""

    behind: bool


StopAnswer = Stopping | AlreadyStopping | NothingToStop
TurnAnswer = TurnWritten | ReplyStopped | OpenCalls | IdTaken | OutOfTurn | Lost
CompleteAnswer = Completed | OpenCalls | OutOfTurn | Lost
Answer = (
    Refused
    | Lost
    | Begun
    | Queued
    | Full
    | Settled
    | Claimed
    | NotReady
    | Renewed
    | Checked
    | Go
    | TaskOffered
    | Parked
    | WorkLeft
    | HandedBack
    | Counted
    | Granted
    | Yours
    | Returned
    | Fired
    | NotDue
    | Recorded
    | StopAnswer
    | TurnAnswer
    | CompleteAnswer
)
