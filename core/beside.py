"""Runs beside others: calls that are granted while the loop is busy with other calls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from core.agent import Agent, interrupted
from core.agent.journal import Started
from core.calls import Call, CallState, Reply
from core.errors import OutcomeUnknown
from core.events import AgentEvent
from core.faults import outline
from core.ledger_journal import LedgerJournal
from core.messages import ToolCallBlock, ToolResultBlock
from core.tools import Run

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Beside:
    """Runs of one reply that its loop does not wait for; the ledger takes their results.

    Attributes:
        present: reads the reply as the ledger has it now.
        tell: passes on what a run streams.
    """

    present: Callable[[], Awaitable[Reply]]
    tell: Callable[[AgentEvent], Awaitable[None]]
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    _stopped: bool = False

    def begin(self, group: asyncio.TaskGroup, agent: Agent, call_id: str) -> None:
        """Run this call, unless it runs already."""
        if call_id not in self._tasks and not self._stopped:
            task = group.create_task(self._run(agent, call_id))
            self._tasks[call_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(call_id, None))

    def stop(self) -> None:
        """A person stops the reply: cancel what runs, begin nothing more."""
        self._stopped = True
        for task in self._tasks.values():
            task.cancel()

    async def over(self) -> None:
        """Wait until nothing runs here."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def _run(self, agent: Agent, call_id: str) -> None:
        try:
            await self._run_granted(agent, call_id)
        except Exception as error:  # noqa: BLE001 - it must not end what runs beside it
            _log.warning("a run beside others failed", extra={"why": outline(error)})

    async def _run_granted(self, agent: Agent, call_id: str) -> None:
        reply = await self.present()
        call = reply.call(call_id)
        journal = agent.journal
        assert isinstance(journal, LedgerJournal), "a shift gives its agents this journal"
        if call is None or call.state is not CallState.APPROVED:
            return
        block = _block(call)
        if agent.recheck_call(block).result is not None:
            return  # refused when the loop comes to it
        journal.load(reply.turn, reply.present)
        started = await journal.start(block)
        if isinstance(started, Started) and not call.terms.external:
            await self._follow(agent, journal, block, Run(reply.reply_id, call_id, started.run))

    async def _follow(
        self, agent: Agent, journal: LedgerJournal, block: ToolCallBlock, run: Run
    ) -> None:
        try:
            async with aclosing(agent.run_call(block, run)) as events:
                async for event in events:
                    if isinstance(event, ToolResultBlock):
                        await journal.finish(block, run.number, event)
                    else:
                        await self.tell(event)
        except OutcomeUnknown:
            _log.warning("the end of a run is unknown", extra={"reply_id": run.reply_id})
        except asyncio.CancelledError:
            if self._stopped:
                await journal.finish(block, run.number, interrupted(block, agent.stamps))
            raise


def _block(call: Call) -> ToolCallBlock:
    return ToolCallBlock(id=call.key.call_id, name=call.tool, input=call.input)
