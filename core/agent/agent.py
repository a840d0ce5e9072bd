"""The agent: one conversation, one reply at a time."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import BaseModel

from core.agent import notes
from core.agent.answers import put
from core.agent.calls import recovered
from core.agent.decisions import ResultEvent, read_answers
from core.agent.journal import Journal, NoJournal
from core.agent.judging import Court, Judge, JudgedCall
from core.agent.loop import ReplyRun, Setup
from core.agent.running import run_call, told
from core.agent.stamps import Stamps
from core.agent.structured import STRUCTURED_TOOL, StructuredOutput, schema_of
from core.agent.transcript import Transcript
from core.errors import ForeignReply, NotWaiting, ReplyOpen
from core.events import (
    AgentEvent,
    ExternalExecutionResultEvent,
    ReplyStartEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from core.messages import Msg, ToolCallBlock, ToolCallState, ToolResultBlock
from core.permissions.engine import Verdict
from core.permissions.rules import PermissionBehavior
from core.ports import Model
from core.state import AgentState, ReplyContext
from core.toolbox import Toolbox
from core.tools import Input, Run, Tool

Inputs: TypeAlias = Msg | list[Msg] | ResultEvent | UserInterruptEvent | None
"""What an agent can be given: messages, answers, a stop, or nothing: to go on."""

Schema: TypeAlias = type[BaseModel] | Mapping[str, Any]


@dataclass(slots=True)
class Agent:
    """An agent with its tools and the state of one conversation.

    `state` is all that another process needs to go on, beside the same tools. It may be dumped
    at every event: what the event tells has been written to it before, and a tool starts only
    after its `TOOL_RESULT_START` was taken.

    Attributes:
        judge: decides about every call before it runs, and once more after an approval.
        max_iters: model turns before the last one, in which no tool may be called.
        journal: where the reply is written down; an agent that stands alone needs none.
    """

    name: str
    model: Model
    tools: Toolbox
    judge: Judge
    state: AgentState = field(default_factory=AgentState)
    instructions: str = ""
    max_iters: int = 50
    journal: Journal = field(default_factory=NoJournal)
    stamps: Stamps = field(default_factory=Stamps)
    _run: ReplyRun | None = field(default=None, init=False, repr=False)
    _read: Transcript | None = field(default=None, init=False, repr=False)

    async def reply_stream(
        self,
        inputs: Inputs = None,
        structured_schema: Schema | None = None,
        yield_final_msg: bool = False,
        *,
        reply_id: str | None = None,
    ) -> AsyncGenerator[AgentEvent | Msg]:
        """Reply, or go on with the reply that waits; its events as they happen.

        The stream ends with `REPLY_END`, or without it when the reply waits for people. With
        `yield_final_msg` the last thing is the message that says what came of it. `reply_id` names
        a new reply, if its name is given from outside. What is still open after an answer is not
        asked again. A schema given beside an answer is not used: the reply has its own.

        Raises:
            ReplyOpen: a message while a reply runs or waits; it is not kept.
            NotWaiting, UnknownCall, ForeignReply, ResumeRefused: an answer that can't be taken,
                in whole; the state is as it was.
        """
        if isinstance(inputs, UserInterruptEvent):
            stream = self._interrupt(inputs)
        elif self._run is not None:
            raise ReplyOpen("A reply is running; it takes nothing but a stop.")
        elif isinstance(inputs, UserConfirmResultEvent | ExternalExecutionResultEvent):
            stream = self._answer(inputs)
        elif inputs is None and self._unfinished():
            stream = self._resume(strict=True)
        else:
            stream = self._begin(inputs, structured_schema, reply_id)
        async with aclosing(stream) as events:
            async for event in events:
                if yield_final_msg or not isinstance(event, Msg):
                    yield event

    async def reply(self, inputs: Inputs = None, structured_schema: Schema | None = None) -> Msg:
        """Reply, or go on with the reply that waits; the message that says what came of it.
        Its `finished_reason` is null while the reply waits for people.

        Raises:
            NotWaiting: a stop, and there is nothing to stop.
            Other errors: as `reply_stream`.
        """
        last: Msg | None = None
        async for event in self.reply_stream(inputs, structured_schema, yield_final_msg=True):
            if isinstance(event, Msg):
                last = event
        if last is None:
            raise NotWaiting("There is no reply here that could be stopped.")
        return last

    async def observe(self, msgs: Msg | list[Msg] | None) -> None:
        """Take messages into the conversation without answering.

        Raises:
            ReplyOpen: a reply runs or waits; between its calls and their results nothing else
                may stand. Nothing is kept.
        """
        self._refuse_if_open()
        self._take_in(msgs)

    async def resume(self, yield_final_msg: bool = False) -> AsyncGenerator[AgentEvent | Msg]:
        """Go on from the state as it stands, after `joined` has put a ledger's answers into it:
        run what may run, ask the model when all calls are final, wait otherwise."""
        if self._run is not None:
            raise ReplyOpen("A reply is running; it takes nothing but a stop.")
        async with aclosing(self._resume(strict=False)) as events:
            async for event in events:
                if yield_final_msg or not isinstance(event, Msg):
                    yield event

    @property
    def running(self) -> bool:
        """Whether a reply is being worked on here, now."""
        return self._run is not None

    @property
    def awaiting(self) -> list[ToolCallBlock]:
        """Calls that people have to answer."""
        return self._transcript().awaited

    def judge_call(self, call: ToolCallBlock) -> JudgedCall:
        """What may happen to a call now. Nothing is changed by it."""
        return self._court().try_call(call, self.state)

    def recheck_call(self, call: ToolCallBlock) -> JudgedCall:
        """Whether an approved call may still run now. Nothing is changed by it."""
        return self._court().try_approved(call, self.state)

    def run_call(
        self, call: ToolCallBlock, run: Run
    ) -> AsyncGenerator[AgentEvent | ToolResultBlock]:
        """Run one call that may run, beside whatever else runs: its events, then its result.
        Neither the state nor the journal is touched; the caller has judged and written before."""
        return run_call(call, run, self._court())

    async def _begin(
        self, inputs: Msg | list[Msg] | None, schema: Schema | None, reply_id: str | None
    ) -> AsyncGenerator[AgentEvent | Msg]:
        self._refuse_if_open()
        self._take_in(inputs)
        self.state.reply_context = ReplyContext(
            reply_id=reply_id or self.stamps.id(), structured_schema=schema_of(schema)
        )
        notes.begin(self.state)
        start = self.stamps.event(
            ReplyStartEvent,
            session_id=self.state.session_id,
            reply_id=self.state.reply_context.reply_id,
            name=self.name,
        )
        async with aclosing(self._work(self._transcript(), [start])) as events:
            async for event in events:
                yield event

    async def _answer(self, event: ResultEvent) -> AsyncGenerator[AgentEvent | Msg]:
        transcript = self._own_transcript()
        answers = read_answers(event, transcript, self.state, self._court())
        before = await self._recover(transcript)
        start = isinstance(event, UserConfirmResultEvent)
        for result in put(answers, transcript, self.state, self.stamps):
            before.extend(told(result, event.reply_id, self.stamps, start=start))
        async with aclosing(self._work(transcript, before)) as events:
            async for said in events:
                yield said

    async def _resume(self, *, strict: bool) -> AsyncGenerator[AgentEvent | Msg]:
        transcript = self._own_transcript()
        cut_off = any(c.state is ToolCallState.ALLOWED for c in transcript.open.values())
        if strict and transcript.awaited and not cut_off:
            self._refuse_if_open()
        before = await self._recover(transcript)
        async with aclosing(self._work(transcript, before)) as events:
            async for event in events:
                yield event

    async def _interrupt(self, event: UserInterruptEvent) -> AsyncGenerator[AgentEvent | Msg]:
        transcript = self._own_transcript()
        if self._run is None and not self._unfinished():
            return
        if event.reply_id != self.state.reply_context.reply_id:
            raise ForeignReply("This stop is about another reply than the one here.")
        if self._run is not None:
            self._run.stop()
            return
        for said in self._reply_run(transcript).close():
            yield said

    async def _work(
        self, transcript: Transcript, before: Iterable[AgentEvent]
    ) -> AsyncGenerator[AgentEvent | Msg]:
        self._run = self._reply_run(transcript)
        try:
            for said in before:
                yield said
            async with aclosing(self._run.go()) as events:
                async for event in events:
                    yield event
        finally:
            self._run = None

    async def _recover(self, transcript: Transcript) -> list[AgentEvent]:
        if self.journal.resumes:
            return []
        asked, events = recovered(transcript, self.state, self._court())
        if asked:
            await self.journal.check(self.state, asked)
        return events

    def _reply_run(self, transcript: Transcript) -> ReplyRun:
        court = self._court()
        setup = Setup(self.name, self.model, court, self.journal, self.instructions, self.max_iters)
        return ReplyRun(setup, self.state, transcript)

    def _court(self) -> Court:
        reply = self.state.reply_context
        if reply.structured_schema is None:
            return Court(self.tools, self.judge, self.stamps)
        tools = self.tools.with_tool(StructuredOutput(reply))
        return Court(tools, self._judge_beside_structured, self.stamps)

    def _judge_beside_structured(self, tool: Tool, value: Input, state: AgentState) -> Verdict:
        if tool.name == STRUCTURED_TOOL:
            return Verdict(PermissionBehavior.ALLOW, "", "It only ends the reply", "tool")
        return self.judge(tool, value, state)

    def _transcript(self) -> Transcript:
        if self._read is None or not self._read.still_holds(self.state):
            self._read = Transcript.read(self.state)
        return self._read

    def _own_transcript(self) -> Transcript:
        transcript = self._transcript()
        message = transcript.message
        if transcript.open and message is not None and message.name != self.name:
            raise ForeignReply("The reply that waits here is one of another agent.")
        return transcript

    def _unfinished(self) -> bool:
        return bool(self._transcript().open) or notes.is_open(self.state)

    def _refuse_if_open(self) -> None:
        if self._run is not None:
            raise ReplyOpen("A reply is running; it takes nothing but a stop.")
        calls = self._transcript().open
        if not calls:
            return
        awaited = len(self._transcript().awaited)
        if awaited:
            raise ReplyOpen(
                f"The reply waits for people: {awaited} of its calls are not answered. "
                "Answer them or stop the reply; nothing was taken in."
            )
        raise ReplyOpen(
            "The reply was cut off in the middle of its calls. "
            "Go on with it without an input, or stop it; nothing was taken in."
        )

    def _take_in(self, msgs: Msg | list[Msg] | None) -> None:
        if msgs is not None:
            self.state.context.extend([msgs] if isinstance(msgs, Msg) else msgs)
