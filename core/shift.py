"""A shift: one reply in the hands of one worker, from claim to letting go."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from core.agent import Agent
from core.agent.judging import Court
from core.agent.stamps import Stamps
from core.bench import Bench
from core.beside import Beside
from core.binding import Binder
from core.calls import Actor, AgentPayload, Reply
from core.errors import KeyturnError, OutOfStep, StoreError
from core.events import AgentEvent, ReplyEndEvent, ReplyStartEvent, UserInterruptEvent
from core.faults import outline
from core.insistence import insist
from core.judgement import judge_with
from core.ledger import (
    CancelCall,
    Claimed,
    Complete,
    Finish,
    Lost,
    Parked,
    Release,
    Renew,
    Renewed,
)
from core.ledger.answers import Completed, OpenCalls
from core.ledger_journal import Held, LeaseLost, LedgerJournal, Stopped
from core.messages import Msg, ReplyFinishedReason
from core.rejoining import closed_conversation, conversation
from core.requests import Request, message_of
from core.roster import AgentSpec
from core.state import AgentState
from core.toolbox import Toolbox

AGENT_GONE = "Its agent is no longer configured here."

T = TypeVar("T")

_log = logging.getLogger(__name__)


class RunUnproven(KeyturnError):
    """A run was begun and nobody here can say how it ended: only the end of the lease settles it,
    by asking people (or by another run, of a tool that may be repeated)."""


@dataclass(slots=True)
class Shift:
    """Drives a claimed reply in rounds. Each round begins with what the ledger knows and goes as
    far as it can: until the reply has ended, or only people can bring it on."""

    bench: Bench
    me: Actor
    claimed: Claimed
    agent: Agent | None = None
    proofs: dict[str, Finish] = field(default_factory=dict[str, Finish])
    beside: Beside = field(init=False)
    stopping: bool = False
    stopped_unsure: bool = False

    def __post_init__(self) -> None:
        self.beside = Beside(self._present, self._tell)

    @property
    def reply_id(self) -> str:
        """The reply that is held."""
        return self.claimed.reply.reply_id

    async def work(self) -> None:
        """Drive the reply while its lease is kept; let go when it parks, ends or is lost.

        Raises:
            ExceptionGroup: of `LeaseLost`, `PolicyMoved`, `RunUnproven`, `StoreError`,
                `OutOfStep`, or of what went wrong otherwise.
        """
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(self._keep(group))
            await self._drive()
            keeper.cancel()

    async def deliver_proofs(self) -> None:
        """Send what is known of runs and could not be recorded, however long that takes: a late
        proof counts, whoever holds the reply now."""
        while self.proofs:
            op, proof = next(iter(self.proofs.items()))
            try:
                await insist(lambda: self.bench.ledger.finish(proof), self.bench.clock)  # noqa: B023
            except StoreError as failed:
                extra = {"reply_id": self.reply_id, "why": outline(failed)}
                _log.warning("a result was not recorded", extra=extra)
            self.proofs.pop(op, None)

    async def _drive(self) -> None:
        request = Request.load(self.claimed.reply.message)
        spec = self.bench.roster.get(request.agent)
        if spec is None:
            await self._end_without_agent()
            return
        before = None
        while True:
            reply = await self._present()
            standing = _standing(reply)
            if standing == before:
                raise OutOfStep("a round changed nothing and left work to do")
            before = standing
            ended = await self._round(reply, request, spec)
            if ended is not None and self.agent is not None:
                await self.deliver_proofs()
                await self._close((await self._present()).turn, ended, self.agent.state)
                return
            if await self._released():
                return

    async def _round(
        self, reply: Reply, request: Request, spec: AgentSpec
    ) -> ReplyFinishedReason | None:
        """Take the reply as far as it goes now; how it ended, or none when it goes on."""
        self.agent, self.stopping, self.stopped_unsure = None, reply.stop is not None, False
        kept = await self._kept()
        before = await self._reply_before(kept)
        state, continues = conversation(reply, kept, before, spec)
        agent = self.agent = await self._agent(reply, request, spec, state)
        if not continues:
            message = message_of(reply.message)
            events = agent.reply_stream(message, reply_id=reply.reply_id)
        elif reply.stop is not None:
            events = agent.reply_stream(UserInterruptEvent(reply_id=reply.reply_id))
        else:
            events = agent.resume()
        try:
            ended = await self._follow(agent, events, stopped=reply.stop is not None)
        except Stopped:
            return None
        return None if self.stopped_unsure else ended

    async def _follow(
        self, agent: Agent, events: AsyncIterator[AgentEvent | Msg], *, stopped: bool
    ) -> ReplyFinishedReason | None:
        ended: ReplyFinishedReason | None = None
        async for event in events:
            if isinstance(event, Msg):
                continue
            if isinstance(event, ReplyEndEvent):
                ended = event.finished_reason
                if self.stopped_unsure or _being_cancelled():
                    continue  # it has not ended: the next round, or another worker, goes on
            await self._tell(event)
            if stopped and isinstance(event, ReplyStartEvent):
                await self._interrupt(agent)
        return ended

    async def _tell(self, event: AgentEvent) -> None:
        try:
            await self.bench.activity.happened(self.claimed.reply, event)
        except Exception as error:  # noqa: BLE001 - a view; what runs must not end with it
            _log.warning("not shown", extra={"reply_id": self.reply_id, "why": outline(error)})

    async def _interrupt(self, agent: Agent) -> None:
        """Stop what the agent does now, if it does anything; its stream tells the rest."""
        if agent.running:
            async for _ in agent.reply_stream(UserInterruptEvent(reply_id=self.reply_id)):
                pass

    async def _agent(
        self, reply: Reply, request: Request, spec: AgentSpec, state: AgentState
    ) -> Agent:
        bench = self.bench
        rulebook = await bench.rulebooks.make(request, state)
        stamps = Stamps(bench.clock, bench.ids)
        judge = judge_with(rulebook)
        toolbox = Toolbox(spec.tools)
        held = Held(
            reply.reply_id,
            self.claimed.fence,
            self.me,
            Binder(reply.tenant, reply.reply_id, request.agent, request.session),
            bench.policy,
            bench.lease_ms / 1000,
            self.proofs,
        )
        journal = LedgerJournal(
            held=held,
            ledger=bench.ledger,
            spec=spec,
            rulebook=rulebook,
            court=Court(toolbox, judge, stamps),
            clock=bench.clock,
            ids=bench.ids,
        )
        journal.load(reply.turn, reply.present)
        return Agent(
            name=spec.name,
            model=spec.model,
            tools=toolbox,
            judge=judge,
            state=state,
            instructions=spec.instructions,
            max_iters=spec.max_iters,
            journal=journal,
            stamps=stamps,
        )

    # --- the lease

    async def _keep(self, group: asyncio.TaskGroup) -> None:
        """Keep the lease; start beside what runs whatever is granted meanwhile; pass on a stop.
        A store that does not answer is asked again: only its word ends what runs here.

        Raises:
            LeaseLost: the ledger gave the reply to somebody else.
        """
        bench = self.bench
        renew = Renew(self.reply_id, self.claimed.fence, bench.lease_ms)
        while True:
            await bench.clock.sleep(bench.lease_ms / 3000)
            said = await insist(lambda: bench.ledger.renew(renew), bench.clock)
            if isinstance(said, Lost):
                raise LeaseLost(self.reply_id)
            await self._heard(said, group)

    async def _heard(self, said: Renewed, group: asyncio.TaskGroup) -> None:
        agent = self.agent
        if agent is None:
            return
        if said.stop:
            await self._stop(agent)
            return
        awaited = {call.id for call in agent.awaiting}
        for call_id in said.granted:
            if call_id in awaited:
                self.beside.begin(group, agent, call_id)

    async def _stop(self, agent: Agent) -> None:
        if not self.stopping:
            self.stopping = True
            # What the agent takes for awaited may run beside it, or be unknown: the ledger knows.
            self.stopped_unsure = bool(agent.awaiting)
            self.beside.stop()
            await self._interrupt(agent)

    async def _released(self) -> bool:
        """Park, if there is nothing to do. False: go on."""
        await self.beside.over()
        await self.deliver_proofs()  # a stop may have come between a run's end and its record
        request = Release(self.bench.ids.new(), self.me, self.reply_id, self.claimed.fence)
        said = await self._insist(lambda: self.bench.ledger.release(request))
        if isinstance(said, Lost):
            raise LeaseLost(self.reply_id)
        if isinstance(said, OpenCalls):
            raise RunUnproven(self.reply_id)
        return isinstance(said, Parked)

    async def _close(self, turn: int, ended: ReplyFinishedReason, state: AgentState) -> None:
        request = Complete(
            op=self.bench.ids.new(),
            worker=self.me,
            reply_id=self.reply_id,
            fence=self.claimed.fence,
            turn=turn,
            outcome=ended,
            state=state.model_dump(mode="json"),
        )
        said = await self._insist(lambda: self.bench.ledger.complete(request))
        if isinstance(said, Lost):
            raise LeaseLost(self.reply_id)
        if not isinstance(said, Completed):
            raise OutOfStep(f"the reply can't end yet: {type(said).__name__}")

    async def _end_without_agent(self) -> None:
        """The reply's agent is no longer configured: what is open is withdrawn, and the reply ends
        as an error."""
        _log.error("no such agent", extra={"reply_id": self.reply_id})
        for call in (await self._present()).present:
            if not call.final:
                request = CancelCall(self.bench.ids.new(), self.me, call.key, AGENT_GONE)
                await self._insist(lambda: self.bench.ledger.cancel(request))  # noqa: B023
        reply, kept = await self._present(), await self._kept()
        before = await self._reply_before(kept)
        state = closed_conversation(reply, kept, before)
        await self._close(reply.turn, ReplyFinishedReason.ERROR, state)

    # --- asking the store

    async def _present(self) -> Reply:
        """The reply as the ledger has it now."""
        reply = await self._insist(lambda: self.bench.ledger.reply(self.reply_id))
        assert reply is not None, "a held reply is in the ledger"
        return reply

    async def _kept(self) -> AgentPayload | None:
        """The conversation as it was last written."""
        name = self.claimed.reply.session_id
        session = await self._insist(lambda: self.bench.ledger.session(name))
        return session.agent if session else self.claimed.session.agent

    async def _reply_before(self, kept: AgentPayload | None) -> Reply | None:
        """The reply that wrote the conversation last, if the store had to end that one."""
        if kept is None or kept.complete or kept.reply_id == self.reply_id:
            return None
        return await self._insist(lambda: self.bench.ledger.reply(kept.reply_id))

    async def _insist(self, send: Callable[[], Awaitable[T]]) -> T:
        return await insist(send, self.bench.clock, self.bench.lease_ms / 1000)


def _standing(reply: Reply) -> tuple[object, ...]:
    """What a round could change about a reply."""
    versions = tuple((call.key.call_id, call.version) for call in reply.present)
    return reply.turn, reply.stop, versions


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
