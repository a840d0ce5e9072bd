"""Working on judged calls: asking, handing out, running, and recording what came of it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from pydantic import JsonValue

from core.agent.journal import Journal, Refused
from core.agent.judging import Court, Fate, JudgedCall, covered
from core.agent.notes import NOTE
from core.agent.results import Outcome, closing
from core.agent.running import ResultWriter, run_tool, told
from core.agent.transcript import Transcript
from core.agent.workers import Send, Worker
from core.errors import OutcomeUnknown
from core.events import (
    AgentEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    ToolResultEndEvent,
)
from core.messages import ToolCallBlock, ToolCallState, ToolResultBlock
from core.permissions.rules import PermissionRule
from core.state import AgentState
from core.tools import Run


class Stoppable(Protocol):
    """Something that a person may have stopped."""

    stopped: bool


@dataclass(frozen=True, slots=True)
class CallWorker:
    """Judges calls of one reply and works on them."""

    journal: Journal
    court: Court
    state: AgentState
    transcript: Transcript

    def judge(self, group: Sequence[ToolCallBlock]) -> list[JudgedCall]:
        """Judge calls that are worked on at once, and note in them what they wait for."""
        offered: list[PermissionRule] = []
        judged = [self._judge(call, offered) for call in group]
        for one in judged:
            _mark(one)
        return judged

    def _judge(self, call: ToolCallBlock, offered: list[PermissionRule]) -> JudgedCall:
        approved = call.state is ToolCallState.ALLOWED
        judged = (self.court.try_approved if approved else self.court.try_call)(call, self.state)
        verdict, tool = judged.verdict, self.court.tools.find(call.name)
        if judged.fate is not Fate.ASK or verdict is None or tool is None:
            return judged
        if not verdict.bypass_immune and covered(tool, judged.value, offered):
            return replace(judged, fate=Fate.WAITING)
        offered.extend(verdict.suggested_rules)
        return judged

    def on(self, judged: Sequence[JudgedCall], reply: Stoppable) -> Iterator[Worker]:
        """One worker for each call that there is something to do about."""
        for one in judged:
            if one.fate is Fate.REFUSED:
                yield partial(self._refuse, one)
            elif one.fate is Fate.ASK:
                yield partial(self._ask, one)
            elif one.fate in (Fate.RUN, Fate.TASK):
                yield partial(self._start, one, reply)

    @property
    def _reply_id(self) -> str:
        return self.state.reply_context.reply_id

    async def _refuse(self, judged: JudgedCall, send: Send) -> None:
        assert judged.result is not None, "a refused call has its result"
        self.transcript.finish(judged.call, judged.result)
        for event in told(judged.result, self._reply_id, self.court.stamps):
            await send(event)

    async def _ask(self, judged: JudgedCall, send: Send) -> None:
        await send(question(judged, self._reply_id, self.court))

    async def _start(self, judged: JudgedCall, reply: Stoppable, send: Send) -> None:
        started = await self.journal.start(judged.call)
        if isinstance(started, Refused):
            judged.call.state = ToolCallState.ASKING
        elif judged.fate is Fate.TASK:
            await self._hand_out(judged.call, send)
        else:
            run = Run(self._reply_id, judged.call.id, started.run)
            await self._run(judged, run, reply, send)

    async def _hand_out(self, call: ToolCallBlock, send: Send) -> None:
        call.state = ToolCallState.SUBMITTED
        stamps = self.court.stamps
        await send(ResultWriter(call, self._reply_id, stamps).start())
        await send(
            stamps.event(
                RequireExternalExecutionEvent,
                reply_id=self._reply_id,
                tool_calls=[call.model_copy()],
            )
        )

    async def _run(self, judged: JudgedCall, run: Run, reply: Stoppable, send: Send) -> None:
        call, tool = judged.call, self.court.tools.find(judged.call.name)
        assert tool is not None, "only a call of a known tool may run"
        writer = ResultWriter(call, self._reply_id, self.court.stamps)
        self.transcript.begin(call, self.court.stamps.now())
        try:
            await send(writer.start())
            async with aclosing(run_tool(tool, judged.value, run, writer)) as events:
                async for event in events:
                    if isinstance(event, ToolResultEndEvent):
                        await self._record(writer.result(), run)
                    await send(event)
        except OutcomeUnknown as error:
            await self._unknown(error, writer, run, send)
        except asyncio.CancelledError:
            if call.id in self.transcript.open:
                await self._interrupted(writer, run, reply, send)
            raise

    async def _unknown(
        self, error: OutcomeUnknown, writer: ResultWriter, run: Run, send: Send
    ) -> None:
        """Nobody can say how the run ended. A journal that resumes settles that with people."""
        if self.journal.resumes:
            writer.call.state = ToolCallState.ASKING
            return
        sentence = closing(writer.call, Outcome.UNKNOWN, self.court.stamps)
        writer.metadata.update(sentence.metadata)
        last = [*writer.remark(f"{error}\n{sentence.output}"), writer.end(sentence.state)]
        await self._record(writer.result(), run)
        for event in last:
            await send(event)

    async def _interrupted(
        self, writer: ResultWriter, run: Run, reply: Stoppable, send: Send
    ) -> None:
        last = list(writer.interrupted())
        if reply.stopped:
            await self._record(writer.result(), run)
        else:
            # The process is going down, or nobody reads: a journal must not take that for proof.
            self.transcript.finish(writer.call, writer.result(), counts=False)
        for event in last:
            await send(event)

    async def _record(self, result: ToolResultBlock, run: Run) -> None:
        call = self.transcript.open[result.id]
        self.transcript.finish(call, result)
        await self.journal.finish(call, run.number, result)


def _mark(judged: JudgedCall) -> None:
    if judged.fate is Fate.ASK and judged.verdict is not None:
        judged.call.suggested_rules = list(judged.verdict.suggested_rules)
        judged.call.state = ToolCallState.ASKING
    elif judged.fate in (Fate.RUN, Fate.TASK):
        judged.call.state = ToolCallState.ALLOWED


def question(judged: JudgedCall, reply_id: str, court: Court, **more: JsonValue) -> AgentEvent:
    """The event that puts a call before people. Why they are asked travels in its metadata."""
    note: dict[str, JsonValue] = dict(more)
    if judged.verdict is not None:
        note["message"] = judged.verdict.message
        note["reason"] = judged.verdict.reason
        note["safety"] = judged.verdict.bypass_immune
    return court.stamps.event(
        RequireUserConfirmEvent,
        reply_id=reply_id,
        tool_calls=[judged.call.model_copy()],
        metadata={NOTE: {judged.call.id: note}},
    )


def recovered(
    transcript: Transcript, state: AgentState, court: Court
) -> tuple[list[JudgedCall], list[AgentEvent]]:
    """Deal with calls that a loaded state says were about to run, or ran, when nobody can say
    how that ended. Nothing is repeated: what had begun ends as unknown, the rest is asked about
    again, whoever had allowed it; only what changes nothing when it is done twice goes on."""
    asked: list[JudgedCall] = []
    events: list[AgentEvent] = []
    for call in list(transcript.open.values()):
        if call.state is not ToolCallState.ALLOWED:
            continue
        judged = court.try_call(call, state)
        if _harmless(judged, court):
            call.state = ToolCallState.PENDING
        elif transcript.begun(call):
            result = closing(call, Outcome.UNKNOWN, court.stamps)
            transcript.finish(call, result)
            events.extend(told(result, state.reply_context.reply_id, court.stamps, start=False))
        elif judged.fate is Fate.REFUSED:
            call.state = ToolCallState.PENDING
        else:
            again = replace(judged, fate=Fate.ASK)
            _mark(again)
            asked.append(again)
            events.append(question(again, state.reply_context.reply_id, court, again=True))
    return asked, events


def _harmless(judged: JudgedCall, court: Court) -> bool:
    tool = court.tools.find(judged.call.name)
    return (
        judged.fate is Fate.RUN
        and tool is not None
        and (tool.traits.idempotent or tool.traits.read_only)
    )
