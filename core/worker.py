"""The worker: takes up replies that have work and drives them until they end or park.

Any number of workers may run, in any number of processes. What keeps them apart is the ledger: a
reply is held under a fence, every write carries it, and a lost lease ends the work here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from core.agent import Agent
from core.agent.journal import Started
from core.agent.judging import Court
from core.agent.stamps import Stamps
from core.binding import Binder
from core.calls import Actor, Call, CallState, Reply
from core.errors import OutOfStep, StoreError
from core.events import AgentEvent, ReplyEndEvent, UserInterruptEvent
from core.judgement import RulebookMaker, judge_with
from core.ledger import (
    Claim,
    Claimed,
    Complete,
    HandBack,
    Ledger,
    Lost,
    Parked,
    Release,
    Renew,
    Renewed,
)
from core.ledger.answers import OpenCalls
from core.ledger_journal import Held, LeaseLost, LedgerJournal, PolicyMoved, Stopped
from core.messages import Msg, ReplyFinishedReason, ToolCallBlock, ToolResultBlock
from core.ports import Activity, Clock, Ids
from core.rejoining import rejoin
from core.requests import Request, message_of
from core.roster import AgentSpec, Roster
from core.state import AgentState
from core.toolbox import Toolbox
from core.tools import Run

LEASE_MS = 30_000
"""How long a reply stays held without a sign of life; also how soon a crash is noticed."""
RENEW_S = LEASE_MS / 1000 / 3
WAIT_MS = 1_000
"""How long one look for work waits."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bench:
    """What a worker works with."""

    ledger: Ledger
    roster: Roster
    rulebooks: RulebookMaker
    activity: Activity
    clock: Clock
    ids: Ids
    tenant: str
    lease_ms: int = LEASE_MS

    @property
    def policy(self) -> str:
        """The policy revision that this process judges by."""
        return str(self.rulebooks.policy.revision)


class Worker:
    """Takes up one reply after the other."""

    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._me = Actor("worker", name)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; a reply in hand is finished or handed back first."""
        while not stop.is_set():
            for reply_id in await self._bench.ledger.wait_for_work(WAIT_MS):
                if stop.is_set():
                    return
                await self.take_up(reply_id)

    async def take_up(self, reply_id: str) -> bool:
        """Claim a reply and drive it as far as it goes now. False: it was not to be had."""
        bench = self._bench
        claimed = await bench.ledger.claim(
            Claim(bench.ids.new(), self._me, reply_id, bench.lease_ms)
        )
        if not isinstance(claimed, Claimed):
            return False
        try:
            await _Shift(bench, self._me, claimed).work()
        except* (LeaseLost, Stopped) as lost:
            _log.info("reply let go", extra={"reply_id": reply_id, "why": repr(lost.exceptions[0])})
        except* PolicyMoved:
            await bench.ledger.hand_back(
                HandBack(bench.ids.new(), self._me, reply_id, claimed.fence)
            )
            _log.warning("policy moved; reply handed back", extra={"reply_id": reply_id})
        except* StoreError as failed:
            # The lease ends by itself, and the reply is taken up again from what is recorded.
            _log.warning("store failed", extra={"reply_id": reply_id, "why": repr(failed)})
        except* Exception:  # noqa: BLE001 - one reply that goes wrong must not end the worker
            _log.exception("reply went wrong", extra={"reply_id": reply_id})
        return True


@dataclass(slots=True)
class _Shift:
    """One reply in the hands of one worker, from claim to letting go."""

    bench: Bench
    me: Actor
    claimed: Claimed
    agent: Agent | None = None
    beside: set[str] = field(default_factory=set[str])
    ended_beside: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def reply_id(self) -> str:
        return self.claimed.reply.reply_id

    async def work(self) -> None:
        """Drive the reply while its lease is kept; let go when it parks, ends or is lost."""
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(self._keep(group))
            await self._drive()
            keeper.cancel()

    async def _drive(self) -> None:
        request = Request.load(self.claimed.reply.message)
        spec = self.bench.roster.get(request.agent)
        if spec is None:
            await self._end_without_agent()
            return
        while True:
            reply = await self._present()
            ended = await self._go_on(reply, request, spec)
            if ended is not None:
                await self._complete(ended)
                return
            if await self._released():
                return

    async def _go_on(
        self, reply: Reply, request: Request, spec: AgentSpec
    ) -> ReplyFinishedReason | None:
        """Take the reply as far as it goes now; how it ended, or none when people are awaited."""
        state, continues = await self._conversation(reply, spec)
        agent = await self._agent(reply, request, spec, state)
        self.agent = agent
        if reply.stop is not None:
            events = agent.reply_stream(UserInterruptEvent(reply_id=reply.reply_id))
        elif continues:
            events = agent.resume()
        else:
            message = message_of(reply.message)
            events = agent.reply_stream(message, reply_id=reply.reply_id)
        return await self._follow(events)

    async def _follow(self, events: AsyncIterator[AgentEvent | Msg]) -> ReplyFinishedReason | None:
        ended: ReplyFinishedReason | None = None
        async for event in events:
            if isinstance(event, ReplyEndEvent):
                ended = event.finished_reason
            if not isinstance(event, Msg):
                await self.bench.activity.happened(self.claimed.reply, event)
        return ended

    async def _conversation(self, reply: Reply, spec: AgentSpec) -> tuple[AgentState, bool]:
        """The conversation with all that the ledger knows, and whether this reply is in it yet."""
        kept = self.claimed.session.agent
        session = await self.bench.ledger.session(reply.session_id)
        kept = session.agent if session else kept
        if kept is None:
            fresh = AgentState(
                session_id=reply.session_id,
                permission_context=spec.permissions.model_copy(deep=True),
            )
            return fresh, False
        state = AgentState.model_validate(kept.state)
        state.permission_context.mode = spec.permissions.mode
        state.permission_context.working_directories = dict(spec.permissions.working_directories)
        if kept.reply_id == reply.reply_id:
            return rejoin(state, reply.present, self.bench.policy), True
        if not kept.complete:
            before = await self.bench.ledger.reply(kept.reply_id)
            state = rejoin(state, before.present if before else (), self.bench.policy)
        return state, False

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

    async def _keep(self, group: asyncio.TaskGroup) -> None:
        """Keep the lease; start beside what runs whatever is granted meanwhile; pass on a stop.

        Raises:
            LeaseLost: the ledger gave the reply to somebody else.
        """
        bench = self.bench
        while True:
            await bench.clock.sleep(bench.lease_ms / 3000)
            said = await bench.ledger.renew(
                Renew(self.reply_id, self.claimed.fence, bench.lease_ms)
            )
            if isinstance(said, Lost):
                raise LeaseLost(self.reply_id)
            await self._heard(said, group)

    async def _heard(self, said: Renewed, group: asyncio.TaskGroup) -> None:
        agent = self.agent
        if agent is None:
            return
        if said.stop:
            await self._follow(agent.reply_stream(UserInterruptEvent(reply_id=self.reply_id)))
            return
        awaited = {call.id for call in agent.awaiting}
        for call_id in said.granted:
            if call_id in awaited and call_id not in self.beside:
                self.beside.add(call_id)
                group.create_task(self._run_beside(agent, call_id))

    async def _run_beside(self, agent: Agent, call_id: str) -> None:
        """Run a call that was granted while others run; the ledger takes its result."""
        try:
            await self._run_granted(agent, call_id)
        finally:
            self.beside.discard(call_id)
            self.ended_beside.set()

    async def _run_granted(self, agent: Agent, call_id: str) -> None:
        reply = await self._present()
        call = reply.call(call_id)
        journal = agent.journal
        assert isinstance(journal, LedgerJournal), "a shift gives its agents this journal"
        if call is None or call.state is not CallState.APPROVED:
            return
        block = _block(call)
        if agent.recheck_call(block).result is not None:
            return
        journal.load(reply.turn, reply.present)
        started = await journal.start(block)
        if isinstance(started, Started) and not call.terms.external:
            run = Run(self.reply_id, call_id, started.run)
            async with aclosing(agent.run_call(block, run)) as events:
                async for event in events:
                    if isinstance(event, ToolResultBlock):
                        await journal.finish(block, started.run, event)
                    else:
                        await self.bench.activity.happened(reply, event)

    async def _released(self) -> bool:
        """Park, if there is nothing to do. False: go on."""
        while self.beside:
            self.ended_beside.clear()
            await self.ended_beside.wait()
        said = await self.bench.ledger.release(
            Release(self.bench.ids.new(), self.me, self.reply_id, self.claimed.fence)
        )
        if isinstance(said, Lost):
            raise LeaseLost(self.reply_id)
        return isinstance(said, Parked)

    async def _complete(self, ended: ReplyFinishedReason) -> None:
        assert self.agent is not None, "an agent has ended the reply"
        reply = await self._present()
        await self._close(reply, ended, self.agent.state)

    async def _close(self, reply: Reply, ended: ReplyFinishedReason, state: AgentState) -> None:
        said = await self.bench.ledger.complete(
            Complete(
                op=self.bench.ids.new(),
                worker=self.me,
                reply_id=reply.reply_id,
                fence=self.claimed.fence,
                turn=reply.turn,
                outcome=ended,
                state=state.model_dump(mode="json"),
            )
        )
        if isinstance(said, Lost):
            raise LeaseLost(self.reply_id)
        if isinstance(said, OpenCalls):
            raise OutOfStep(f"the reply ended with open calls: {said.calls}")

    async def _end_without_agent(self) -> None:
        """The reply's agent is no longer configured: it ends as an error, and says so."""
        _log.error("no such agent", extra={"reply_id": self.reply_id})
        reply = await self._present()
        kept = self.claimed.session.agent
        state = AgentState.model_validate(kept.state if kept else {"session_id": reply.session_id})
        await self._close(reply, ReplyFinishedReason.ERROR, state)

    async def _present(self) -> Reply:
        reply = await self.bench.ledger.reply(self.reply_id)
        assert reply is not None, "a held reply is in the ledger"
        return reply


def _block(call: Call) -> ToolCallBlock:
    return ToolCallBlock(id=call.key.call_id, name=call.tool, input=call.input)
