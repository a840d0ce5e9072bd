"""The store's port: one method per transition, each one step that happens whole or not at all."""

from typing import Protocol

from core.calls import Call, CallKey, Reply, Session
from core.ledger import answers as a
from core.ledger import requests as r


class Ledger(Protocol):
    """The truth about sessions, replies, calls, timers and what cards are to be shown.

    Every method may raise `StoreUnavailable` (no answer in time: it may or may not have happened;
    send the same request again) and `StoreDamaged` (a record is not the one that was sealed).
    """

    async def accept(self, request: r.Accept) -> a.Begun | a.Queued | a.Full:
        """Take a message once: open its reply, or queue it behind the present one."""
        ...

    async def stop(self, request: r.StopReply) -> a.StopAnswer:
        """End a reply that is at work. Nothing of it starts any more."""
        ...

    async def cancel(self, request: r.CancelCall) -> a.Settled | a.Refused:
        """Withdraw one call that has not started (of an unknown run: abandon it)."""
        ...

    async def claim(self, request: r.Claim) -> a.Claimed | a.NotReady:
        """Take a ready reply under a new fence."""
        ...

    async def renew(self, request: r.Renew) -> a.Renewed | a.Lost:
        """Put off the end of the lease, and hear what can be started."""
        ...

    async def turn(self, request: r.WriteTurn) -> a.TurnAnswer:
        """Write a model turn whole: agent state, calls with their verdicts, deadlines, cards."""
        ...

    async def check(self, request: r.Check) -> a.Checked | a.Lost | a.Refused:
        """Judge a waiting call when nothing before it is waited for."""
        ...

    async def start(self, request: r.Start) -> a.Go | a.TaskOffered | a.Lost | a.Refused:
        """Use a call's grant. Run the tool on `Go` only."""
        ...

    async def refuse(self, request: r.Refuse) -> a.Settled | a.Lost | a.Refused:
        """End a granted call that the policy denies now."""
        ...

    async def finish(self, request: r.Finish) -> a.Settled | a.Refused:
        """Record how a run ended. Repeat it until it is answered."""
        ...

    async def release(self, request: r.Release) -> a.Parked | a.WorkLeft | a.OpenCalls | a.Lost:
        """Park the reply if there is nothing to do."""
        ...

    async def hand_back(self, request: r.HandBack) -> a.HandedBack | a.OpenCalls | a.Lost:
        """Make the reply ready for another worker."""
        ...

    async def complete(self, request: r.Complete) -> a.CompleteAnswer:
        """End the reply; the session's next message is opened in the same step."""
        ...

    async def decide(self, request: r.Decide) -> a.Counted | a.Granted | a.Settled | a.Refused:
        """Take a person's approval, rejection or edit. The first one to settle a call wins."""
        ...

    async def fulfil(self, request: r.Fulfil) -> a.Settled | a.Refused:
        """Take a person's result of a task or of an unknown run."""
        ...

    async def claim_task(self, request: r.ClaimTask) -> a.Yours | a.Refused:
        """Note who does a task."""
        ...

    async def return_task(self, request: r.ReturnTask) -> a.Returned | a.Refused:
        """Hand a task back."""
        ...

    async def due(self, limit: int = 100) -> tuple[r.Timer, ...]:
        """Timers that are due now, oldest first."""
        ...

    async def next_due(self) -> int | None:
        """When the next timer is due; None: none is armed."""
        ...

    async def fire(self, request: r.Fire) -> a.Fired | a.NotDue:
        """Let one due timer act: expire, lapse, end a lease, wake, remind, escalate, look."""
        ...

    async def orders(
        self, poster: str, limit: int = 10, wait_ms: int = 0, again_after_ms: int = 60_000
    ) -> tuple[r.Order, ...]:
        """Take outbox entries; what a poster took and did not acknowledge comes again after
        `again_after_ms`, marked `repeated`. Waits up to `wait_ms` for the first one."""
        ...

    async def shown(self, request: r.Shown) -> a.Recorded | a.Refused:
        """Record the messages of a card, then acknowledge the order."""
        ...

    async def seen(self, request: r.Seen) -> a.Recorded | a.Refused:
        """Adopt a message that a click came from."""
        ...

    async def drop(self, reply_id: str, order: str) -> None:
        """Acknowledge an order that has nothing to show: a notice sent, an edit without message."""
        ...

    async def wait_for_work(self, wait_ms: int) -> tuple[str, ...]:
        """Ids of replies that became ready; a hint only: empty after `wait_ms`, may be lost."""
        ...

    async def publish_policy(self, revision: str) -> None:
        """Make this the policy revision that starts are compared with."""
        ...

    async def policy(self) -> str:
        """The policy revision in force; empty before the first one is published."""
        ...

    async def now(self) -> int:
        """The store's clock."""
        ...

    async def reply(self, reply_id: str) -> Reply | None:
        """A reply with all its calls; closed ones are kept for seven days."""
        ...

    async def call(self, key: CallKey) -> Call | None:
        """One call."""
        ...

    async def session(self, session_id: str) -> Session | None:
        """A session with its queue and agent state."""
        ...

    async def open_calls(self, asked: r.Asked, limit: int = 100) -> tuple[Call, ...]:
        """What people are asked, oldest question first."""
        ...

    async def audit(self, reply_id: str) -> tuple[r.AuditRecord, ...]:
        """Everything that happened to a reply, in order."""
        ...
