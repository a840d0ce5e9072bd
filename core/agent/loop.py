"""One reply in motion: model turns and calls, until it ends or has to wait for people."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from core.agent.calls import CallWorker
from core.agent.endings import (
    INTERRUPTED,
    End,
    end_events,
    end_of,
    finish,
    last_words,
    waiting,
)
from core.agent.journal import Journal
from core.agent.judging import Court, Fate, JudgedCall, batches
from core.agent.model_turn import ModelTurn
from core.agent.results import STOPPED_WHILE_RUNNING, Outcome, closing, plain
from core.agent.running import told
from core.agent.stamps import Stamps, whole
from core.agent.structured import STRUCTURED_HINT, STRUCTURED_NOW
from core.agent.transcript import Transcript
from core.agent.workers import Send, Worker, Workers, closed
from core.errors import ModelFailed
from core.events import AgentEvent, ModelCallStartEvent
from core.faults import outline
from core.messages import (
    ContentBlock,
    ErrorInfo,
    ErrorType,
    HintBlock,
    Msg,
    ReplyFinishedReason,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultState,
)
from core.ports import Model, ToolChoice
from core.state import AgentState

LAST_ROUND = "The rounds of this reply are used up. Answer now, in words, with what is known."
_HINT_SOURCE = "keyturn"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same from reply to reply."""

    name: str
    model: Model
    court: Court
    journal: Journal
    instructions: str = ""
    max_iters: int = 50

    @property
    def stamps(self) -> Stamps:
        """Ids and times."""
        return self.court.stamps


@dataclass(slots=True)
class ReplyRun:
    """Works on one reply. The state says where it stands; what is here is only for now."""

    setup: Setup
    state: AgentState
    transcript: Transcript
    stopped: bool = False
    _workers: Workers | None = None
    _fresh: ModelTurn | None = None
    _error: ErrorInfo | None = None
    _words: list[ContentBlock] | None = None

    def stop(self) -> None:
        """A person stops the reply: what runs is cancelled, what waits is closed."""
        self.stopped = True
        if self._workers is not None:
            self._workers.stop()

    async def go(self) -> AsyncGenerator[AgentEvent | Msg]:
        """Go on until the reply ends or waits; the message that says which comes last."""
        self._words = last_words(self.transcript)
        try:
            while not self.stopped and (step := self._next()) is not None:
                async with aclosing(step) as events:
                    async for event in events:
                        yield event
        except asyncio.CancelledError:
            for said in self.close():
                yield said
            raise
        except GeneratorExit:
            self._let_go()
            raise
        for said in self.close() if self.stopped else self._rest():
            yield said

    def close(self) -> Iterator[AgentEvent | Msg]:
        """Close the reply where it stands: no call is left without a result."""
        for call in list(self.transcript.open.values()):
            yield from self._cancel(call)
        yield from self._finish(INTERRUPTED)

    def _next(self) -> AsyncGenerator[AgentEvent] | None:
        if self.transcript.runnable:
            return self._act()
        if self.transcript.awaited or self._end() is not None:
            return None
        return self._ask_model()

    def _end(self) -> End | None:
        if self._error is not None:
            return End(ReplyFinishedReason.ERROR, self._error.message, self._error)
        return end_of(self.state, self._words, self.setup.max_iters)

    def _rest(self) -> Iterator[AgentEvent | Msg]:
        end = self._end()
        if self.transcript.awaited or end is None:
            yield waiting(self.setup.name, self.state, self.setup.stamps)
        else:
            yield from self._finish(end)

    def _finish(self, end: End) -> Iterator[AgentEvent | Msg]:
        name, stamps = self.setup.name, self.setup.stamps
        message = finish(end, name, self.state, self.transcript, stamps)
        yield from end_events(end, name, self.state, stamps)
        yield message

    def _cancel(self, call: ToolCallBlock) -> Iterator[AgentEvent]:
        stamps = self.setup.stamps
        begun = self.transcript.begun(call)
        handed_out = call.state is ToolCallState.SUBMITTED
        if begun:
            result = plain(call, STOPPED_WHILE_RUNNING, ToolResultState.INTERRUPTED, stamps)
        else:
            result = closing(call, Outcome.CANCELLED, stamps)
        self.transcript.finish(call, result, counts=False)
        reply_id = self.state.reply_context.reply_id
        yield from told(result, reply_id, stamps, start=not (begun or handed_out))

    def _let_go(self) -> None:
        """Nobody reads any more: what was allowed and has not begun is judged again later."""
        for call in self.transcript.open.values():
            if call.state is ToolCallState.ALLOWED and not self.transcript.begun(call):
                call.state = ToolCallState.PENDING

    async def _together(self, workers: Iterable[Worker]) -> AsyncGenerator[AgentEvent]:
        self._workers = Workers(workers)
        try:
            async with aclosing(self._workers.events()) as events:
                async for event in events:
                    yield event
        finally:
            self._workers = None

    # --- calls

    async def _act(self) -> AsyncGenerator[AgentEvent]:
        work = CallWorker(self.setup.journal, self.setup.court, self.state, self.transcript)
        ended = self._ended_at_once()
        rest = [call for call in self.transcript.runnable if call.id not in ended]
        groups = [group for batch in batches(rest, self.setup.court.tools) for group in batch.steps]
        for number, group in enumerate(groups or [()]):
            pending = {call.id for call in group if call.state is ToolCallState.PENDING}
            judged = [*(ended.values() if number == 0 else ()), *work.judge(group)]
            await self._write_down(judged, pending, groups[number + 1 :])
            async with aclosing(self._together(work.on(judged, self))) as events:
                async for event in events:
                    yield event
            if self.stopped or self.transcript.awaited:
                return

    def _ended_at_once(self) -> dict[str, JudgedCall]:
        faults = self._fresh.refused if self._fresh is not None else {}
        stamps = self.setup.stamps
        return {
            call.id: JudgedCall(
                call,
                Fate.REFUSED,
                result=plain(call, faults[call.id], ToolResultState.ERROR, stamps),
            )
            for call in self.transcript.runnable
            if call.id in faults
        }

    async def _write_down(
        self,
        judged: Sequence[JudgedCall],
        pending: set[str],
        behind: Sequence[Sequence[ToolCallBlock]],
    ) -> None:
        if self._fresh is not None:
            self._fresh = None
            waiting_calls = [JudgedCall(c, Fate.WAITING) for group in behind for c in group]
            await self.setup.journal.turn(self.state, [*judged, *waiting_calls])
        elif news := [one for one in judged if one.call.id in pending or one.fate is Fate.REFUSED]:
            await self.setup.journal.check(self.state, news)

    # --- the model

    async def _ask_model(self) -> AsyncGenerator[AgentEvent]:
        choice = self._hint()
        turn = ModelTurn(
            self.state.reply_context.reply_id,
            self.setup.stamps,
            self.transcript.calls.__contains__,
        )
        self._words = None

        async def take(send: Send) -> None:
            await self._take(turn, choice, send)

        async with aclosing(self._together([take])) as events:
            async for event in events:
                yield event
        if self._error is not None:
            return
        if turn.done is None or turn.done.finished == "interrupted":
            self.stopped = True
        elif turn.calls:
            self._fresh = turn
        elif not turn.only_thought:
            self._words = turn.prose

    async def _take(self, turn: ModelTurn, choice: ToolChoice, send: Send) -> None:
        setup = self.setup
        started = setup.stamps.event(
            ModelCallStartEvent, reply_id=turn.reply_id, model_name=setup.model.name
        )
        await send(started)
        try:
            told_to = self._conversation()
            async with closed(
                setup.model.stream(told_to, self.setup.court.tools.specs, choice)
            ) as stream:
                async for event in stream:
                    for said in turn.take(event):
                        await send(said)
            last = list(turn.close())
        except asyncio.CancelledError:
            last = list(turn.close(interrupted=True))
            self._keep(turn)
            for said in last:
                await send(said)
            raise
        except Exception as error:  # noqa: BLE001 - a model adapter may raise anything
            self._error = self._failure(error)
            return
        self._keep(turn)
        for said in last:
            await send(said)

    def _keep(self, turn: ModelTurn) -> None:
        usage = turn.done.usage if turn.done else None
        stamps = self.setup.stamps
        self.transcript.append_turn(self.setup.name, turn.blocks, usage, stamps.now())

    def _failure(self, error: Exception) -> ErrorInfo:
        if isinstance(error, ModelFailed):
            return ErrorInfo(type=error.kind, message=whole(str(error)))
        reply_id = self.state.reply_context.reply_id
        _log.warning("model turn failed", extra={"reply_id": reply_id, "why": outline(error)})
        kind = type(error).__name__
        return ErrorInfo(type=ErrorType.INTERNAL, message=f"The model call failed ({kind}).")

    def _conversation(self) -> list[Msg]:
        if not self.setup.instructions:
            return list(self.state.context)
        said = TextBlock(text=self.setup.instructions)
        return [Msg(name="system", role="system", content=[said]), *self.state.context]

    def _hint(self) -> ToolChoice:
        """What the model may do in this turn; it is told when that is less than usual."""
        reply = self.state.reply_context
        last = reply.cur_iter >= self.setup.max_iters
        if reply.structured_schema is None:
            if last:
                self._note(LAST_ROUND)
            return "none" if last else "auto"
        asked = self._words is not None or reply.cur_iter == 0
        if last or asked:
            self._note(STRUCTURED_NOW if last else STRUCTURED_HINT)
        return "required" if last else "auto"

    def _note(self, text: str) -> None:
        message = self.transcript.message
        if message is not None and message.content and isinstance(message.content[-1], HintBlock):
            return
        stamps = self.setup.stamps
        hint = HintBlock(hint=text, id=stamps.id(), source=_HINT_SOURCE, created_at=stamps.now())
        self.transcript.append(self.setup.name, [hint], stamps.now())
