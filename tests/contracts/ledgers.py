"""What the tests of ledgers share: a clock to turn by hand, ids that can be repeated, and a driver
that speaks to any ledger in few words."""

import asyncio
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from core.calls import Actor, Call, CallKey, CallState, Reply, Terms
from core.ledger import (
    Accept,
    Approve,
    Begun,
    CancelCall,
    CardKey,
    Check,
    Claim,
    Claimed,
    ClaimTask,
    Complete,
    Finish,
    Fire,
    Fired,
    Fulfil,
    HandBack,
    Ledger,
    Modify,
    NewCall,
    Refuse,
    Reject,
    Release,
    ReturnTask,
    Seen,
    Start,
    StopReply,
    Timer,
    WriteTurn,
)
from core.messages import ReplyFinishedReason

ANA = Actor("person", "ana", "Ana", "slack")
BO = Actor("person", "bo", "Bo", "discord")
WORKER = Actor("worker", "w1")
MINUTE = 60_000
START = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class HandClock:
    """A clock that stands until it is turned."""

    at: datetime = START

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def turn(self, ms: int) -> None:
        self.at += timedelta(milliseconds=ms)

    @property
    def ms(self) -> int:
        return int(self.at.timestamp() * 1000)


@dataclass
class SeededIds:
    """Ids that come out the same for the same seed."""

    seed: int = 1
    source: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.source = random.Random(self.seed)  # noqa: S311 - repeatable on purpose

    def new(self) -> str:
        return f"{self.source.getrandbits(128):032x}"


def new_call(call_id: str = "a", state: CallState = CallState.OPEN, **more: Any) -> NewCall:
    """A call to be written with a turn; terms go in as `terms`, the rest by name."""
    given: dict[str, Any] = {
        "tool": "refund",
        "input": '{"amount": 5}',
        "digest": f"digest-{call_id}",
        "terms": Terms("sre"),
        "content": {"title": "Refund 5"},
        "channels": ("slack:C1",),
    }
    return NewCall(call_id=call_id, state=state, **(given | more))


def a_result(call_id: str = "a", text: str = "done") -> dict[str, Any]:
    """A result as it is stored."""
    return {"type": "tool_result", "id": call_id, "name": "refund", "output": text}


@dataclass
class Driver:
    """One session's worker and people, in few words. `ops` makes every request a fresh one."""

    ledger: Ledger
    session_id: str = "s1"
    ops: int = 0
    reply_id: str = ""
    fence: int = 0
    turns: int = 0
    policy: str = ""
    ms: int = 0

    def op(self) -> str:
        self.ops += 1
        return f"{self.session_id}-op{self.ops}"

    def key(self, call_id: str = "a") -> CallKey:
        return CallKey(self.reply_id, call_id, self.turns)

    async def accept(self, text: str = "hello", op: str | None = None, limit: int = 20) -> Any:
        request = Accept(
            op or self.op(), self.session_id, "T1", ANA, {"content": text}, queue_limit=limit
        )
        return await self.ledger.accept(request)

    async def begin(self, *calls: NewCall) -> "Driver":
        """A message comes, a worker claims it and writes the first turn."""
        begun = await self.accept()
        assert isinstance(begun, Begun)
        self.reply_id = begun.reply_id
        await self.claim()
        if calls:
            await self.turn(*calls)
        return self

    async def claim(self, lease_ms: int = 30_000) -> Any:
        answer = await self.ledger.claim(Claim(self.op(), WORKER, self.reply_id, lease_ms))
        if isinstance(answer, Claimed):
            self.fence = answer.fence
        return answer

    async def turn(self, *calls: NewCall) -> Any:
        self.turns += 1
        state = {"turn": self.turns}
        request = WriteTurn(self.op(), WORKER, self.reply_id, self.fence, self.turns, state, calls)
        return await self.ledger.turn(request)

    async def check(self, call_id: str, state: CallState) -> Any:
        return await self.ledger.check(
            Check(self.op(), WORKER, self.key(call_id), self.fence, self.policy, state, "why")
        )

    async def start(self, call_id: str = "a", op: str | None = None, **more: Any) -> Any:
        call = await self.call(call_id)
        given: dict[str, Any] = {
            "revision": call.revision,
            "digest": call.digest,
            "policy": self.policy,
        }
        return await self.ledger.start(
            Start(op or self.op(), WORKER, call.key, self.fence, **(given | more))
        )

    async def refuse(self, call_id: str = "a") -> Any:
        return await self.ledger.refuse(
            Refuse(self.op(), WORKER, self.key(call_id), self.fence, self.policy, "denied now")
        )

    async def finish(self, call_id: str = "a", run: int = 1, text: str = "done") -> Any:
        result = a_result(call_id, text)
        return await self.ledger.finish(Finish(self.op(), WORKER, self.key(call_id), run, result))

    async def release(self) -> Any:
        return await self.ledger.release(Release(self.op(), WORKER, self.reply_id, self.fence))

    async def hand_back(self) -> Any:
        return await self.ledger.hand_back(HandBack(self.op(), WORKER, self.reply_id, self.fence))

    async def complete(self, turn: int | None = None) -> Any:
        return await self.ledger.complete(
            Complete(
                self.op(),
                WORKER,
                self.reply_id,
                self.fence,
                self.turns if turn is None else turn,
                ReplyFinishedReason.COMPLETED,
                {"complete": self.reply_id},
            )
        )

    async def approve(
        self, call_id: str = "a", who: Actor = ANA, op: str | None = None, **more: Any
    ) -> Any:
        return await self.ledger.decide(
            Approve(op or self.op(), who, **(await self._question(call_id) | more))
        )

    async def reject(self, call_id: str = "a", who: Actor = ANA, **more: Any) -> Any:
        return await self.ledger.decide(
            Reject(self.op(), who, **(await self._question(call_id) | more))
        )

    async def modify(self, call_id: str = "a", who: Actor = ANA, **more: Any) -> Any:
        given = await self._question(call_id) | {"input": '{"amount": 4}', "digest": "edited"}
        return await self.ledger.decide(Modify(self.op(), who, **(given | more)))

    async def fulfil(self, call_id: str = "a", who: Actor = ANA, **more: Any) -> Any:
        now = await self.ledger.now()
        given: dict[str, Any] = {"checked_at": now, "result": a_result(call_id, "by hand")}
        return await self.ledger.fulfil(Fulfil(self.op(), who, self.key(call_id), **(given | more)))

    async def claim_task(self, call_id: str = "a", who: Actor = ANA) -> Any:
        return await self.ledger.claim_task(ClaimTask(self.op(), who, self.key(call_id)))

    async def return_task(self, call_id: str = "a", who: Actor = ANA) -> Any:
        return await self.ledger.return_task(ReturnTask(self.op(), who, self.key(call_id)))

    async def see(self) -> Any:
        return await self.ledger.seen(Seen(CardKey(self.key(), "slack:C1"), "m1"))

    async def cancel(self, call_id: str = "a", who: Actor = ANA) -> Any:
        return await self.ledger.cancel(CancelCall(self.op(), who, self.key(call_id), "no need"))

    async def stop(self, who: Actor = ANA, op: str | None = None) -> Any:
        return await self.ledger.stop(StopReply(op or self.op(), who, self.reply_id))

    async def fire(self, timer: Timer) -> Any:
        return await self.ledger.fire(Fire(self.op(), timer))

    async def fire_due(self) -> list[str]:
        """Fire everything that is due; the kinds that acted."""
        due = await self.ledger.due()
        return [timer.kind for timer in due if isinstance(await self.fire(timer), Fired)]

    async def reply(self) -> Reply:
        reply = await self.ledger.reply(self.reply_id)
        assert reply is not None
        return reply

    async def call(self, call_id: str = "a") -> Call:
        call = (await self.reply()).call(call_id)
        assert call is not None
        return call

    async def state(self, call_id: str = "a") -> CallState:
        return (await self.call(call_id)).state

    async def _question(self, call_id: str) -> dict[str, Any]:
        call = await self.ledger.call(self.key(call_id))
        return {
            "key": self.key(call_id),
            "revision": call.revision if call else 0,
            "checked_at": await self.ledger.now(),
        }
