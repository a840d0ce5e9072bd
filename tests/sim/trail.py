"""A walk of the model played to a store: each step becomes what somebody would ask of the ledger.

The model does not count time, so a timer may fire at any moment at which it is armed: the clock is
turned to its due time for that one request, and back.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from adapters.memory.ledger import MemoryLedger
from core.ledger import (
    MAX_TRIES,
    Claim,
    Claimed,
    Complete,
    Finish,
    Fire,
    Renew,
    Start,
    WriteTurn,
)
from tests.contracts.ledgers import HandClock, SeededIds
from tests.sim.asking import Cast
from tests.sim.model import steps
from tests.sim.model.world import RUNNING, Step, World
from tests.sim.views import SESSION, Seen, View, abstract, stored, view_of
from tests.sim.walk import send

WEIGHTS = {"auto": 80, "human": 40, "timer": 20, "environment": 15, "fault": 8}
RARE = {
    "lease ends": 4,
    "stops reply": 2,
    "cancels": 8,
    "hands back": 3,
    "policy denies": 5,
    "message": 10,
    "worker crashes": 6,
}
"""How often a step is taken, by its kind or by itself: a walk that mostly crashes or stops does
not get far."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it was made: when, and what must be answered to it."""

    request: Any
    at: int
    answer: Any
    following: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """One step of the model and all that it made somebody ask: first and again, and an old request
    of before."""

    step: Step
    asked: tuple[Asked, ...]
    policy: str
    replies: tuple[str, ...]
    view: View


class Disagreement(AssertionError):
    """Model and store do not say the same."""


@dataclass(slots=True)
class Trail(Cast):
    """One walk of the model over a ledger in memory."""

    legs: list[Leg] = field(default_factory=list[Leg])
    past: list[Asked] = field(default_factory=list[Asked])
    seen: Seen = field(default_factory=dict)

    async def walk(self, length: int) -> "Trail":
        """Take that many steps.

        Raises:
            Disagreement: the store did not do as the model says.
        """
        self.world = World(spare=(self.scenario.lapses, self.scenario.edits))
        await self.ledger.publish_policy(self.policy)
        for _ in range(length):
            step = self._choose()
            if step is None:
                break
            await self._take(step)
        return self

    def _choose(self) -> Step | None:
        found = [step for step in steps(self.scenario, self.world) if self._possible(step)]
        if not found:
            return None
        weights = [RARE.get(step.act, WEIGHTS[step.kind]) for step in found]
        return self.dice.choices(found, weights)[0]

    def _possible(self, step: Step) -> bool:
        """The model does not count tries: a reply that was claimed in vain too often fails."""
        return step.act != "lease ends" or self.reply_of(step).tries <= MAX_TRIES

    async def _take(self, step: Step) -> None:
        self.clock.turn(1)
        before, now = self.world, self.clock.at
        asked: list[Asked] = []
        hints = len(self.ledger._hints)
        if step.act == "policy denies":
            await self.ledger.publish_policy("p2")
        for request in self.requests(step):
            asked += await self._twice(step, request)
        self.clock.at = now
        if old := self._old_request():
            asked.append(await self._ask(old.request))
            if kept(old) and asked[-1].answer != old.answer:
                raise self._disagreement(step, f"{old} was answered {asked[-1].answer} later")
        self.past += [one for one in asked if not isinstance(one.request, Renew)]
        self.world = step.after
        view = view_of(self.ledger, self.seen)
        leg = Leg(step, tuple(asked), self.policy, tuple(self.replies), view)
        self.legs.append(leg)
        self._require_agreement(step, before, len(self.ledger._hints) - hints)

    async def _twice(self, step: Step, request: Any) -> list[Asked]:
        """Ask, and ask the same again at once."""
        if isinstance(request, Fire):
            self.clock.at = datetime.fromtimestamp(request.timer.at / 1000, UTC)
        first = await self._ask(request)
        seen = view_of(self.ledger, self.seen)
        self._learn(step, first)
        again = await self._ask(request)
        if view_of(self.ledger, self.seen) != seen or again.answer != first.answer:
            raise self._disagreement(step, f"{request} was not the same the second time")
        return [first, again]

    async def _ask(self, request: Any) -> Asked:
        session = self.ledger._sessions.get(SESSION)
        following = session.queue[0] if session and session.queue else ""
        answer = await send(self.ledger, request)
        return Asked(request, self.clock.ms, answer, following)

    def _learn(self, step: Step, asked: Asked) -> None:
        """What the asking worker now knows. A step that was refused is no step of the model."""
        answer = asked.answer
        name = type(answer).__name__
        if isinstance(answer, Claimed):
            self.fences[step.worker] = answer.fence
        if step.act == "message" and answer.reply_id not in self.replies:
            self.replies.append(answer.reply_id)
        if name not in EXPECTED[step.act]:
            raise self._disagreement(step, f"{asked.request} was answered {answer}")

    def _old_request(self) -> Asked | None:
        """A request of before that comes a second time: not a claim, which may be right again."""
        if not self.past or self.dice.random() < 0.3:
            return None
        old = self.dice.choice(self.past)
        return None if isinstance(old.request, Claim) else old

    def _require_agreement(self, step: Step, before: World, hints: int) -> None:
        said, found = abstract(self.world), stored(self.ledger, self.replies)
        if said != found:
            raise self._disagreement(step, f"the model says {said}\nthe store has    {found}")
        if self.world.wake and not before.wake and not hints:
            raise self._disagreement(step, "nobody was told that there is work")
        self._require_fence(step)

    def _require_fence(self, step: Step) -> None:
        reply = self.world.reply
        holders = [place for place, worker in enumerate(self.world.workers) if worker.live]
        for place in holders:
            assert reply is not None
            held = self.ledger._replies[self.replies[reply.number - 1]]
            if (held.state.value, held.fence) != (RUNNING, self.fences[place]):
                raise self._disagreement(step, "the fence is not its holder's")

    def _disagreement(self, step: Step, why: str) -> Disagreement:
        path = " > ".join([*(str(leg.step) for leg in self.legs), str(step)])
        return Disagreement(f"seed {self.seed}: {path}\n{why}")


EXPECTED: dict[str, set[str]] = {
    "message": {"Begun", "Queued"},
    "backstop wakes": {"Fired"},
    "lease ends": {"Fired"},
    "expires": {"Fired"},
    "grant lapses": {"Fired"},
    "approves": {"Counted", "Granted"},
    "edits": {"Counted", "Granted"},
    "rejects": {"Settled"},
    "cancels": {"Settled"},
    "fulfils": {"Settled"},
    "stops reply": {"Stopping"},
    "claims": {"Claimed"},
    "asks the model": {"Renewed"},
    "releases": {"Parked"},
    "late copy of release": {"Parked"},
    "hands back": {"HandedBack"},
    "completes": {"Completed"},
    "writes turn": {"TurnWritten"},
    "checks": {"Checked"},
    "refuses": {"Settled"},
    "starts": {"Go"},
    "offers the task": {"TaskOffered"},
    "finishes": {"Settled"},
    "finishes too late": {"Refused"},
    "lets go": {"Lost"},
}
_NOT_KEPT = (Claim, Renew, WriteTurn, Start, Finish, Complete)
"""Replayed from what the records say: refused when they have moved on."""


def kept(asked: Asked) -> bool:
    """Whether the same request must be answered the same, however much later."""
    lost = type(asked.answer).__name__ == "Lost"
    return not isinstance(asked.request, _NOT_KEPT) and not lost


def new_trail(seed: int, ledger: MemoryLedger | None = None) -> Trail:
    """A trail on an empty ledger."""
    clock = HandClock()
    ledger = ledger or MemoryLedger(clock, SeededIds(seed))
    ledger.clock = clock
    return Trail(seed, ledger, clock, random.Random(seed))  # noqa: S311 - repeatable on purpose
