"""Each step of the model as what somebody would ask of the ledger."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.memory.ledger import MemoryLedger
from core.calls import Actor, Call, CallState, Reply, Terms
from core.ledger import (
    Accept,
    Approve,
    CancelCall,
    Check,
    Claim,
    Complete,
    Finish,
    Fire,
    Fulfil,
    HandBack,
    Modify,
    NewCall,
    Refuse,
    Reject,
    Release,
    Renew,
    Start,
    StopReply,
    WriteTurn,
)
from core.messages import ReplyFinishedReason
from core.transitions.draft import timers
from tests.contracts.ledgers import HandClock
from tests.sim.model.scenarios import SCENARIOS
from tests.sim.model.world import Scenario, Spec, Step, World
from tests.sim.views import SESSION

TENANT = "T1"
REQUESTER = Actor("person", "rita", "Rita", "slack")
WORKERS = (Actor("worker", "w1"), Actor("worker", "w2"))
LEASE_MS = 30_000
_TIMERS = {
    "backstop wakes": "wake",
    "lease ends": "lease",
    "expires": "expire",
    "grant lapses": "lapse",
}


@dataclass(slots=True)
class Cast:
    """Workers, people and timers of one walk, and what they know.

    `world`: as it was before the step. `fences`: of each worker's last claim. `replies`: ids in
    the order of their messages.
    """

    seed: int
    ledger: MemoryLedger
    clock: HandClock
    dice: random.Random
    world: World = field(default_factory=World)
    fences: list[int] = field(default_factory=lambda: [0, 0])
    replies: list[str] = field(default_factory=list[str])
    count: int = 0

    @property
    def scenario(self) -> Scenario:
        """The scenario of this walk, with as many runs as the ledger allows."""
        return SCENARIOS[self.seed % len(SCENARIOS)]._replace(runs=3, lapses=2, edits=2)

    @property
    def policy(self) -> str:
        """The policy revision in force."""
        return f"p{self.world.policy + 1}"

    def _op(self) -> str:
        self.count += 1
        return f"op{self.count}"

    def reply_of(self, step: Step) -> Reply:
        """The reply that the step is about: the worker's own, or the active one."""
        number = self.world.reply.number if self.world.reply else 0
        if step.worker >= 0 and self.world.workers[step.worker].reply:
            number = self.world.workers[step.worker].reply
        return self.ledger._replies[self.replies[number - 1]]

    def _call(self, step: Step) -> Call:
        """The call that the step is about; a worker's is of the turn that it knows."""
        reply, turn = self.reply_of(step), self.world.reply.turn if self.world.reply else 0
        if step.act.startswith("finishes"):
            turn = self.world.workers[step.worker].turn
        call = reply.call(call_id(turn, step.call))
        assert call is not None, f"the store does not know call {step.call} of turn {turn}"
        return call

    def requests(self, step: Step) -> Sequence[Any]:
        """What is asked in this step; nothing for what happens outside the ledger."""
        maker = _MAKERS.get(step.act)
        return maker(self, step) if maker else ()

    def message(self, step: Step) -> Sequence[Any]:
        """A message is accepted."""
        message = {"number": step.number}
        return [Accept(f"event{step.number}", SESSION, TENANT, REQUESTER, message)]

    def timer(self, step: Step) -> Sequence[Any]:
        """A timer fires."""
        kind = _TIMERS[step.act]
        name = self._call(step).key.call_id if step.call >= 0 else ""
        armed = timers(self.reply_of(step))
        return [Fire(self._op(), one) for one in armed if (one.kind, one.call_id) == (kind, name)]

    def decision(self, step: Step) -> Sequence[Any]:
        """A person decides."""
        call, who = self._call(step), person(step.who)
        question = (self._op(), who, call.key, call.revision, self.clock.ms)
        if step.act == "edits":
            text = f'{{"edited": {self.count}}}'
            return [Modify(*question, input=text, digest=f"digest of {text}")]
        return [Reject(*question) if step.act == "rejects" else Approve(*question)]

    def withdrawal(self, step: Step) -> Sequence[Any]:
        """A person withdraws a call, or does it by hand."""
        call = self._call(step)
        if step.act == "cancels":
            return [CancelCall(self._op(), REQUESTER, call.key)]
        who, result = person(step.who), {"type": "tool_result", "output": "by hand"}
        return [Fulfil(self._op(), who, call.key, self.clock.ms, result)]

    def stop(self, step: Step) -> Sequence[Any]:
        """A person stops the reply."""
        return [StopReply(self._op(), REQUESTER, self.replies[step.number - 1])]

    def claim(self, step: Step) -> Sequence[Any]:
        """A worker takes the reply."""
        return [Claim(self._op(), WORKERS[step.worker], self.reply_of(step).reply_id, LEASE_MS)]

    def held(self, step: Step) -> Sequence[Any]:
        """A worker lets go, or ends the reply."""
        reply, who, fence = self.reply_of(step), WORKERS[step.worker], self.fences[step.worker]
        if step.act == "completes":
            outcome, state = ReplyFinishedReason.COMPLETED, {"end": self.count}
            where = (self._op(), who, reply.reply_id, fence, step.number)
            return [Complete(*where, outcome, state)]
        kind = HandBack if step.act == "hands back" else Release
        return [kind(self._op(), who, reply.reply_id, fence)]

    def renew(self, step: Step) -> Sequence[Any]:
        """A worker that works for long keeps its lease."""
        return [Renew(self.reply_of(step).reply_id, self.fences[step.worker], LEASE_MS)]

    def refused(self, step: Step) -> Sequence[Any]:
        """A worker that has lost its fence tries everything, in vain."""
        reply, who, fence = self.reply_of(step), WORKERS[step.worker], self.fences[step.worker]
        rid, turn = reply.reply_id, self.world.workers[step.worker].turn
        late: list[Any] = [
            Renew(rid, fence, LEASE_MS),
            Release(self._op(), who, rid, fence),
            HandBack(self._op(), who, rid, fence),
            WriteTurn(self._op(), who, rid, fence, turn + 1, {"late": True}),
            Complete(self._op(), who, rid, fence, turn, ReplyFinishedReason.COMPLETED, {}),
        ]
        for call in reply.present[:1]:
            start = (self._op(), who, call.key, fence, call.revision, call.digest)
            late.append(Start(*start, self.policy))
            late.append(Refuse(self._op(), who, call.key, fence, self.policy, "late"))
        return self.dice.sample(late, 2)

    def turn(self, step: Step) -> Sequence[Any]:
        """A worker writes a model turn."""
        specs = self.scenario.turns[step.number - 1]
        reply = step.after.reply
        assert reply is not None
        new = [
            new_call(step.number, place, spec, reply.calls[place].state, self.policy)
            for place, spec in enumerate(specs)
        ]
        where = (self._op(), WORKERS[step.worker], self.reply_of(step).reply_id)
        fence, state = self.fences[step.worker], {"turn": step.number}
        return [WriteTurn(*where, fence, step.number, state, tuple(new))]

    def gate(self, step: Step) -> Sequence[Any]:
        """A worker judges, starts or refuses a call."""
        call, fence = self._call(step), self.fences[step.worker]
        where = (self._op(), WORKERS[step.worker], call.key, fence)
        if step.act == "checks":
            return [Check(*where, self.policy, CallState(step.word), "checked")]
        if step.act == "refuses":
            return [Refuse(*where, self.policy, "the policy denies it")]
        return [Start(*where, call.revision, call.digest, self.policy)]

    def finish(self, step: Step) -> Sequence[Any]:
        """A tool has ended."""
        result = {"type": "tool_result", "output": f"run {step.number}"}
        where = (self._op(), WORKERS[step.worker], self._call(step).key)
        return [Finish(*where, step.number, result)]


_MAKERS: Mapping[str, Callable[[Cast, Step], Sequence[Any]]] = {
    "message": Cast.message,
    **dict.fromkeys(("backstop wakes", "lease ends", "expires", "grant lapses"), Cast.timer),
    **dict.fromkeys(("approves", "edits", "rejects"), Cast.decision),
    **dict.fromkeys(("cancels", "fulfils"), Cast.withdrawal),
    "stops reply": Cast.stop,
    "claims": Cast.claim,
    "asks the model": Cast.renew,
    **dict.fromkeys(("releases", "late copy of release", "hands back", "completes"), Cast.held),
    "writes turn": Cast.turn,
    **dict.fromkeys(("checks", "refuses", "starts", "offers the task"), Cast.gate),
    **dict.fromkeys(("finishes", "finishes too late"), Cast.finish),
    "lets go": Cast.refused,
}


def call_id(turn: int, place: int) -> str:
    """The id of a call."""
    return f"c{turn}{'AB'[place]}"


def person(name: str) -> Actor:
    """One of the people."""
    return Actor("person", name, name.title(), "slack")


def new_call(turn: int, place: int, spec: Spec, state: str, policy: str) -> NewCall:
    """A call as the model's scenario wants it."""
    name = call_id(turn, place)
    terms = Terms("sre", quorum=spec.quorum, idempotent=spec.idempotent, external=spec.external)
    channels = ("slack:C1",) if place == 0 else ()
    return NewCall(
        name, "tool", "{}", CallState(state), f"digest {name}", terms, {}, policy, channels
    )
