"""One method per transition over one door: what every store has in common."""

from abc import ABC, abstractmethod
from typing import cast

from core.ledger import answers as a
from core.ledger import requests as r

Request = (
    r.StopReply
    | r.CancelCall
    | r.Claim
    | r.Renew
    | r.WriteTurn
    | r.Check
    | r.Start
    | r.Refuse
    | r.Finish
    | r.Release
    | r.HandBack
    | r.Complete
    | r.Decide
    | r.Fulfil
    | r.ClaimTask
    | r.ReturnTask
    | r.Fire
    | r.Shown
    | r.Seen
)
NO_CALL = a.Refused(a.Why.NO_SUCH_CALL)


class Steps(ABC):
    """The transition methods of `Ledger`; a store gives `step`."""

    __slots__ = ()

    @abstractmethod
    async def step(self, request: Request, reply_id: str) -> a.Answer | None:
        """Make a transition of a reply, whole or not at all; None: no such reply."""

    async def stop(self, request: r.StopReply) -> a.StopAnswer:
        """End a reply that is at work. Nothing of it starts any more."""
        answer = await self.step(request, request.reply_id)
        return cast(a.StopAnswer, answer or a.NothingToStop())

    async def cancel(self, request: r.CancelCall) -> a.Settled | a.Refused:
        """Withdraw one call that has not started (of an unknown run: abandon it)."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Settled | a.Refused, answer or NO_CALL)

    async def claim(self, request: r.Claim) -> a.Claimed | a.NotReady:
        """Take a ready reply under a new fence."""
        answer = await self.step(request, request.reply_id)
        return cast(a.Claimed | a.NotReady, answer or a.NotReady())

    async def renew(self, request: r.Renew) -> a.Renewed | a.Lost:
        """Put off the end of the lease, and hear what can be started."""
        answer = await self.step(request, request.reply_id)
        return cast(a.Renewed | a.Lost, answer or a.Lost())

    async def turn(self, request: r.WriteTurn) -> a.TurnAnswer:
        """Write a model turn whole: agent state, calls with their verdicts, deadlines, cards."""
        answer = await self.step(request, request.reply_id)
        return cast(a.TurnAnswer, answer or a.Lost())

    async def check(self, request: r.Check) -> a.Checked | a.Lost | a.Refused:
        """Judge a waiting call when nothing before it is waited for."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Checked | a.Lost | a.Refused, answer or a.Lost())

    async def start(self, request: r.Start) -> a.Go | a.TaskOffered | a.Lost | a.Refused:
        """Use a call's grant. Run the tool on `Go` only."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Go | a.TaskOffered | a.Lost | a.Refused, answer or a.Lost())

    async def refuse(self, request: r.Refuse) -> a.Settled | a.Lost | a.Refused:
        """End a granted call that the policy denies now."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Settled | a.Lost | a.Refused, answer or a.Lost())

    async def finish(self, request: r.Finish) -> a.Settled | a.Refused:
        """Record how a run ended. Repeat it until it is answered."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Settled | a.Refused, answer or NO_CALL)

    async def release(self, request: r.Release) -> a.Parked | a.WorkLeft | a.OpenCalls | a.Lost:
        """Park the reply if there is nothing to do."""
        answer = await self.step(request, request.reply_id)
        return cast(a.Parked | a.WorkLeft | a.OpenCalls | a.Lost, answer or a.Lost())

    async def hand_back(self, request: r.HandBack) -> a.HandedBack | a.OpenCalls | a.Lost:
        """Make the reply ready for another worker."""
        answer = await self.step(request, request.reply_id)
        return cast(a.HandedBack | a.OpenCalls | a.Lost, answer or a.Lost())

    async def complete(self, request: r.Complete) -> a.CompleteAnswer:
        """End the reply; the session's next message is opened in the same step."""
        answer = await self.step(request, request.reply_id)
        return cast(a.CompleteAnswer, answer or a.Lost())

    async def decide(self, request: r.Decide) -> a.Counted | a.Granted | a.Settled | a.Refused:
        """Take a person's approval, rejection or edit. The first one to settle a call wins."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Counted | a.Granted | a.Settled | a.Refused, answer or NO_CALL)

    async def fulfil(self, request: r.Fulfil) -> a.Settled | a.Refused:
        """Take a person's result of a task or of an unknown run."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Settled | a.Refused, answer or NO_CALL)

    async def claim_task(self, request: r.ClaimTask) -> a.Yours | a.Refused:
        """Note who does a task."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Yours | a.Refused, answer or NO_CALL)

    async def return_task(self, request: r.ReturnTask) -> a.Returned | a.Refused:
        """Hand a task back."""
        answer = await self.step(request, request.key.reply_id)
        return cast(a.Returned | a.Refused, answer or NO_CALL)

    async def fire(self, request: r.Fire) -> a.Fired | a.NotDue:
        """Let one due timer act: expire, lapse, end a lease, wake, remind, escalate, look."""
        answer = await self.step(request, request.timer.reply_id)
        return cast(a.Fired | a.NotDue, answer or a.NotDue())

    async def shown(self, request: r.Shown) -> a.Recorded | a.Refused:
        """Record the messages of a card, then acknowledge the order."""
        answer = await self.step(request, request.card.call.reply_id)
        return cast(a.Recorded | a.Refused, answer or NO_CALL)

    async def seen(self, request: r.Seen) -> a.Recorded | a.Refused:
        """Adopt a message that a click came from."""
        answer = await self.step(request, request.card.call.reply_id)
        return cast(a.Recorded | a.Refused, answer or NO_CALL)
