"""Running one call: from its start to its one result."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue, TypeAdapter

from core.agent.judging import Court
from core.agent.notes import NOTE
from core.agent.results import STOPPED_WHILE_RUNNING, plain, texts
from core.agent.stamps import Stamps, whole
from core.agent.workers import closed
from core.errors import KeyturnError, OutcomeUnknown, ToolFailed
from core.events import (
    AgentEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from core.messages import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from core.tools import Chunk, Run, Tool

MAX_ERROR = 4_000
"""Most characters of an exception's words that the model is given."""

_JSON: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(slots=True)
class ResultWriter:
    """Puts a result together while its events go out."""

    call: ToolCallBlock
    reply_id: str
    stamps: Stamps
    output: list[TextBlock | DataBlock] = field(default_factory=list[TextBlock | DataBlock])
    state: ToolResultState = ToolResultState.RUNNING
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    created_at: str = ""
    _pieces: list[str] = field(default_factory=list[str])

    def start(self) -> AgentEvent:
        """The call runs."""
        self.created_at = self.stamps.now()
        return self._event(ToolResultStartEvent, tool_call_name=self.call.name)

    def take(self, chunk: Chunk) -> Iterator[AgentEvent]:
        """The next piece."""
        for block in chunk.content:
            yield from self.add(block)
        self.metadata.update(_storable(chunk.metadata))
        self.state = chunk.state

    def add(self, block: TextBlock | DataBlock) -> Iterator[AgentEvent]:
        """One block more. Text that follows text is one block: it streams in pieces."""
        if isinstance(block, DataBlock):
            self._join()
            self.output.append(block)
            yield self._data(block)
            return
        text = whole(block.text)
        if not self._pieces:
            self.output.append(block.model_copy())
        self._pieces.append(text)
        if text:
            yield self._event(ToolResultTextDeltaEvent, delta=text)

    def _join(self) -> None:
        last = self.output[-1] if self.output else None
        if self._pieces and isinstance(last, TextBlock):
            last.text = "".join(self._pieces)
        self._pieces = []

    def end(self, state: ToolResultState | None = None) -> AgentEvent:
        """The call is over; a tool that did not say how has succeeded."""
        final = state or self.state
        self.state = ToolResultState.SUCCESS if final is ToolResultState.RUNNING else final
        return self._event(ToolResultEndEvent, state=self.state, metadata=self.metadata)

    def result(self) -> ToolResultBlock:
        """The result as it stands."""
        self._join()
        return ToolResultBlock(
            id=self.call.id,
            name=self.call.name,
            output=list(self.output),
            state=self.state,
            metadata=dict(self.metadata),
            created_at=self.created_at or self.stamps.now(),
            finished_at=self.stamps.now(),
        )

    def interrupted(self) -> Iterator[AgentEvent]:
        """The call was stopped while it ran."""
        yield from self.remark(STOPPED_WHILE_RUNNING)
        yield self.end(ToolResultState.INTERRUPTED)

    def remark(self, text: str) -> Iterator[AgentEvent]:
        """A sentence that is not the tool's, on a line of its own."""
        line = whole(f"\n{text}" if self.output else text)
        self._join()
        yield from self.add(TextBlock(text=line, created_at=self.stamps.now()))

    def _data(self, block: DataBlock) -> AgentEvent:
        source = block.source
        return self._event(
            ToolResultDataDeltaEvent,
            block_id=block.id,
            media_type=source.media_type,
            data=source.data if isinstance(source, Base64Source) else None,
            url=None if isinstance(source, Base64Source) else source.url,
        )

    def _event(self, kind: type[Any], **fields: Any) -> AgentEvent:
        event: AgentEvent = self.stamps.event(
            kind, reply_id=self.reply_id, tool_call_id=self.call.id, **fields
        )
        return event


def told(
    result: ToolResultBlock, reply_id: str, stamps: Stamps, *, start: bool = True
) -> Iterator[AgentEvent]:
    """The events of a result that is known already."""
    writer = ResultWriter(
        ToolCallBlock(id=result.id, name=result.name, input=""),
        reply_id,
        stamps,
        metadata=result.metadata,
    )
    if start:
        yield writer.start()
    for block in texts(result.output):
        yield from writer.add(block)
    yield writer.end(result.state)


def interrupted(call: ToolCallBlock, stamps: Stamps) -> ToolResultBlock:
    """The result of a call that was stopped while it ran."""
    return plain(call, STOPPED_WHILE_RUNNING, ToolResultState.INTERRUPTED, stamps)


async def run_tool(
    tool: Tool, value: Mapping[str, Any], run: Run, writer: ResultWriter
) -> AsyncGenerator[AgentEvent]:
    """Run a tool; its events but the first. What it raises becomes an error for the model.

    Raises:
        OutcomeUnknown: the tool can't say whether it has taken effect. There is no last event.
    """
    state = None
    try:
        async with closed(tool.run(value, run)) as chunks:
            async for chunk in chunks:
                for event in writer.take(chunk):
                    yield event
                if chunk.state is not ToolResultState.RUNNING:
                    break
    except OutcomeUnknown:
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _stopped():
            raise
        state = ToolResultState.ERROR
        for event in writer.remark(_words(error)):
            yield event
    yield writer.end(state)


def _stopped() -> bool:
    """Whether it is us that are cancelled; a tool may also leak a cancellation of its own."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _words(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        said = str(error) if isinstance(error, KeyturnError) else f"{kind}: {error}"
    except Exception:  # noqa: BLE001 - an error of a tool may fail to say what it is
        said = kind
    return said if len(said) <= MAX_ERROR else f"{said[:MAX_ERROR]} …"


def _storable(metadata: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Metadata of a tool as JSON; what Keyturn notes there is not the tool's to write.

    Raises:
        ToolFailed: it is no JSON.
    """
    given = {key: value for key, value in metadata.items() if key != NOTE}
    try:
        _JSON.dump_json(given)
        return _JSON.validate_python(given)
    except ValueError:  # of pydantic, for what is no JSON value and for what is no text
        raise ToolFailed("The tool gave metadata that is no JSON.") from None


async def run_call(
    call: ToolCallBlock, run: Run, court: Court
) -> AsyncGenerator[AgentEvent | ToolResultBlock]:
    """Run one call that may run, beside whatever else runs: its events, then its result.

    Nothing is judged here and nothing written down; who calls this has done both. A call whose
    tool is gone, or whose input no longer fits, ends in an error.
    """
    writer = ResultWriter(call, run.reply_id, court.stamps)
    yield writer.start()
    found = court.read(call)
    if isinstance(found, str):
        for event in writer.remark(found):
            yield event
        yield writer.end(ToolResultState.ERROR)
    else:
        tool, value = found
        async with aclosing(run_tool(tool, value, run, writer)) as events:
            async for event in events:
                yield event
    yield writer.result()
