"""The journal of a reply that is held under a fence: what the loop does, written to the ledger."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from core.agent.journal import Refused as NotStarted
from core.agent.journal import Started
from core.agent.judging import Court, Fate, JudgedCall
from core.agent.transcript import present_message
from core.binding import BOUND, Binder
from core.calls import GRANTED, Actor, Call, CallKey, CallState
from core.digest import same_digest
from core.errors import GroundsUnknown, KeyturnError, OutOfStep
from core.insistence import insist
from core.ledger import (
    Check,
    Finish,
    Go,
    Ledger,
    Lost,
    NewCall,
    Refuse,
    Start,
    WriteTurn,
)
from core.ledger.answers import Refused, ReplyStopped, TurnWritten, Why
from core.messages import TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from core.permissions.engine import Rulebook, gate_for, judge
from core.permissions.rules import PermissionBehavior
from core.policy import Gate
from core.ports import Clock, Ids
from core.questions import channels_of, content_of, terms_of
from core.roster import AgentSpec
from core.state import AgentState
from core.tools import Traits

T = TypeVar("T")

_STATES = {
    Fate.RUN: CallState.ALLOWED,
    Fate.TASK: CallState.TASK,
    Fate.ASK: CallState.OPEN,
    Fate.REFUSED: CallState.DENIED,
    Fate.WAITING: CallState.WAITING,
}
GATE_MOVED = (
    "The policy changed after it was approved, and asks other or more people now. "
    "It may be asked again."
)
GROUNDS_MOVED = "What it would run on has changed since it was judged (directory or program)."

POLICY_ASKS = (
    "The policy changed before it could start, and asks people now. It may be asked again."
)


class LeaseLost(KeyturnError):
    """This worker no longer holds the reply; another one goes on with it."""


class PolicyMoved(KeyturnError):
    """The ledger has another policy revision than this process judges by."""


class Stopped(KeyturnError):
    """The reply is being stopped: no further turn."""


@dataclass(frozen=True, slots=True)
class Held:
    """A reply under a fence, and what its calls are bound to.

    Attributes:
        policy: the revision that this process judges by.
        patience_s: how long the store is asked again when it does not answer.
        proofs: ends of runs that the store has not confirmed yet, by op.
    """

    reply_id: str
    fence: int
    worker: Actor
    binder: Binder
    policy: str
    patience_s: float = 0.0
    proofs: dict[str, Finish] = field(default_factory=dict[str, Finish])


@dataclass(frozen=True, slots=True)
class _Known:
    key: CallKey
    revision: int
    bound: int
    digest: str
    state: CallState
    policy: str
    approvers: str
    quorum: int
    decided: bool = False


class LedgerJournal:
    """Writes a reply's turns, starts and results to the ledger, and obeys what it answers."""

    def __init__(  # noqa: PLR0913 - a shell around a handful of ports
        self,
        *,
        held: Held,
        ledger: Ledger,
        spec: AgentSpec,
        rulebook: Rulebook,
        court: Court,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._held = held
        self._ledger = ledger
        self._spec = spec
        self._rulebook = rulebook
        self._court = court
        self._clock = clock
        self._ids = ids
        self._turn = 0
        self._known: dict[str, _Known] = {}

    def load(self, turn: int, calls: Sequence[Call]) -> None:
        """Begin where the ledger stands."""
        self._turn = turn
        self._known = {
            call.key.call_id: _Known(
                call.key,
                call.revision,
                call.content.get(BOUND, 0),
                call.digest,
                call.state,
                call.policy,
                call.terms.approvers,
                call.quorum,
                call.decision is not None,
            )
            for call in calls
        }

    @property
    def turn_number(self) -> int:
        """The last turn that was written."""
        return self._turn

    @property
    def resumes(self) -> bool:
        """The ledger knows what ran before."""
        return True

    async def turn(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Write a model turn whole.

        Raises:
            LeaseLost: another worker has the reply.
            Stopped: the reply takes no further turn.
        """
        number = self._turn + 1
        claim = claim_of(state)
        new = tuple(self._new_call(number, judged, claim) for judged in calls)
        request = WriteTurn(
            op=self._ids.new(),
            worker=self._held.worker,
            reply_id=self._held.reply_id,
            fence=self._held.fence,
            turn=number,
            state=state.model_dump(mode="json"),
            calls=new,
        )
        said = await self._insist(lambda: self._ledger.turn(request))
        self._obey(said)
        if isinstance(said, ReplyStopped):
            raise Stopped(self._held.reply_id)
        if not isinstance(said, TurnWritten):
            raise OutOfStep(f"the ledger refused turn {number}: {said}")
        self._turn = number
        self._known |= {
            call.call_id: _Known(
                CallKey(self._held.reply_id, call.call_id, number),
                0,
                0,
                call.digest,
                call.state,
                call.policy,
                call.terms.approvers,
                call.terms.quorum,
            )
            for call in new
        }

    async def check(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Write how waiting calls were judged, and withdraw grants that no longer hold.

        Raises:
            LeaseLost: another worker has the reply.
            PolicyMoved: the policy of this process is not the one in force.
        """
        for judged in calls:
            known = self._known[judged.call.id]
            if known.state is CallState.WAITING and judged.fate is not Fate.WAITING:
                await self._check(known, judged)
            elif known.state in GRANTED and judged.fate is Fate.ASK:
                await self._withdraw(known, POLICY_ASKS)
            elif known.state in GRANTED and judged.fate is Fate.REFUSED:
                await self._withdraw(known, _reason(judged))

    async def _check(self, known: _Known, judged: JudgedCall) -> None:
        becomes = _STATES[judged.fate]
        becomes = CallState.ALLOWED if becomes is CallState.TASK else becomes
        request = Check(
            op=self._ids.new(),
            worker=self._held.worker,
            key=known.key,
            fence=self._held.fence,
            policy=self._held.policy,
            state=becomes,
            reason=_reason(judged),
            content=self._content(judged),
        )
        said = await self._insist(lambda: self._ledger.check(request))
        self._obey(said)
        if not isinstance(said, Refused):
            self._known[judged.call.id] = replace(known, state=becomes)

    async def start(self, call: ToolCallBlock) -> Started | NotStarted:
        """Use the grant of a call, if it still stands on the ground it was judged on.

        Raises:
            LeaseLost: another worker has the reply.
            PolicyMoved: the policy of this process is not the one in force.
        """
        known = self._known[call.id]
        if known.state is CallState.TASK:
            return Started()
        if why := self._why_not(known, call):
            return await self._withdraw(known, why)
        request = Start(
            op=self._ids.new(),
            worker=self._held.worker,
            key=known.key,
            fence=self._held.fence,
            revision=known.revision,
            digest=known.digest,
            policy=self._held.policy,
        )
        said = await self._insist(lambda: self._ledger.start(request))
        self._obey(said)
        match said:
            case Go(run=run):
                return Started(run)
            case Refused(why=why):
                return NotStarted(f"not started: {why.value}")
            case _:
                return Started()

    async def finish(self, call: ToolCallBlock, run: int, result: ToolResultBlock) -> None:
        """Record how a run ended: again and again, until the ledger has answered."""
        proof = Finish(
            op=self._ids.new(),
            worker=self._held.worker,
            key=self._known[call.id].key,
            run=run,
            result=result.model_dump(mode="json"),
        )
        self._held.proofs[proof.op] = proof
        await insist(lambda: self._ledger.finish(proof), self._clock)
        self._held.proofs.pop(proof.op, None)

    async def _withdraw(self, known: _Known, why: str) -> NotStarted:
        request = Refuse(
            op=self._ids.new(),
            worker=self._held.worker,
            key=known.key,
            fence=self._held.fence,
            policy=self._held.policy,
            reason=why,
        )
        self._obey(await self._insist(lambda: self._ledger.refuse(request)))
        return NotStarted(why)

    def _why_not(self, known: _Known, call: ToolCallBlock) -> str:
        """Why a granted call may not start on its grant any more; empty: it may."""
        now = self._digest(known.key, known.bound, call)
        if not now or not same_digest(now, known.digest):
            return GROUNDS_MOVED
        if known.state is CallState.APPROVED and self._asks_more(known, call):
            return GATE_MOVED
        if known.state is CallState.ALLOWED and self._asks_now(known, call):
            return POLICY_ASKS
        return ""

    def _asks_more(self, known: _Known, call: ToolCallBlock) -> bool:
        """Whether another policy than the one it was approved under wants other or more people."""
        found = self._court.read(call)
        if known.policy == self._held.policy or isinstance(found, str):
            return False
        gate = gate_for(self._rulebook, *found)
        return gate.approvers != known.approvers or gate.quorum > known.quorum

    def _asks_now(self, known: _Known, call: ToolCallBlock) -> bool:
        """Whether people should be asked about what another policy allowed without them."""
        found = self._court.read(call)
        if known.decided or known.policy == self._held.policy or isinstance(found, str):
            return False
        return judge(self._rulebook, *found).behavior is not PermissionBehavior.ALLOW

    def _obey(self, said: object) -> None:
        if isinstance(said, Lost):
            raise LeaseLost(self._held.reply_id)
        if isinstance(said, Refused) and said.why is Why.POLICY_MOVED:
            raise PolicyMoved(self._held.policy)

    async def _insist(self, send: Callable[[], Awaitable[T]]) -> T:
        return await insist(send, self._clock, self._held.patience_s)

    def _new_call(self, turn: int, judged: JudgedCall, claim: str) -> NewCall:
        call = judged.call
        tool = self._spec.tool(call.name)
        gate = self._gate(judged)
        return NewCall(
            call_id=call.id,
            tool=call.name,
            input=call.input,
            state=_STATES[judged.fate],
            digest=self._digest(CallKey(self._held.reply_id, call.id, turn), 0, call),
            terms=terms_of(gate, call.name, tool.traits if tool else Traits(), self._spec),
            content={**self._content(judged), "claim": claim},
            policy=self._held.policy,
            channels=tuple(channels_of(gate, self._spec, self._rulebook.policy.routes)),
            reason=_reason(judged),
        )

    def _gate(self, judged: JudgedCall) -> Gate:
        if judged.verdict is not None and judged.verdict.gate is not None:
            return judged.verdict.gate
        found = self._court.read(judged.call)
        if isinstance(found, str):
            return self._rulebook.policy.gates.default
        return gate_for(self._rulebook, *found)

    def _content(self, judged: JudgedCall) -> dict[str, Any]:
        tool = self._spec.tool(judged.call.name)
        content: dict[str, Any] = {"agent": self._spec.name, "risk": "medium"}
        if tool is not None and judged.verdict is not None:
            content |= content_of(judged.verdict, self._gate(judged), tool, judged.value)
        elif tool is not None:
            content["risk"] = self._gate(judged).risk or tool.traits.risk
        task = self._spec.tasks.get(judged.call.name)
        if task is not None:
            content["fulfillers"] = task.fulfillers
        if judged.result is not None:
            content["result"] = judged.result.model_dump(mode="json")
        return content

    def _digest(self, key: CallKey, bound: int, call: ToolCallBlock) -> str:
        """The digest of a call on the grounds of now; none for what can't be read or bound."""
        found = self._court.read(call)
        if isinstance(found, str):
            return ""
        tool, value = found
        try:
            return self._held.binder.digest(tool, key.call_id, key.turn, bound, call.input, value)
        except GroundsUnknown:
            return ""


def _reason(judged: JudgedCall) -> str:
    if judged.verdict is not None and judged.verdict.reason:
        return judged.verdict.reason
    if judged.result is not None and isinstance(judged.result.output, str):
        return judged.result.output
    return ""


def claim_of(state: AgentState) -> str:
    """What the agent itself said right before the calls of its latest turn."""
    message = present_message(state)
    said: list[str] = []
    seen_call = False
    for block in reversed(message.content if message else []):
        if isinstance(block, ToolCallBlock) and not said:
            seen_call = True
        elif isinstance(block, TextBlock) and seen_call:
            said.append(block.text)
        elif not isinstance(block, ThinkingBlock) and seen_call:
            break
    return "\n".join(reversed(said))
