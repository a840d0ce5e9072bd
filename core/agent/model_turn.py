"""One model turn: from what the model streams to events and blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.agent.stamps import Stamps, whole
from core.errors import ModelFailed
from core.events import (
    AgentEvent,
    ModelCallEndEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from core.messages import ContentBlock, ErrorType, TextBlock, ThinkingBlock, ToolCallBlock, Usage
from core.ports import CallDelta, ModelDone, ModelEvent, TextDelta, ThinkingDelta

DUPLICATE = "Another call of this turn has the same id, so this one was not run."
NO_TEXT = "The input contains half of a surrogate pair, which is no character; it was not run."

_TEXT = (TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent)
_THINKING = (ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent)


@dataclass(slots=True)
class _Call:
    block: ToolCallBlock
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class ModelTurn:
    """What a model turn has brought so far.

    Attributes:
        known: whether an earlier turn of the reply has a call of this id.
        blocks: the content, in order.
        refused: calls that end at once, by id, and why.
        done: how the turn ended; none while it goes on.
    """

    reply_id: str
    stamps: Stamps
    known: Callable[[str], bool]
    blocks: list[ContentBlock] = field(default_factory=list[ContentBlock])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    done: ModelDone | None = None
    _prose: TextBlock | ThinkingBlock | None = None
    _pieces: list[str] = field(default_factory=list[str])
    _calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    _written_ids: set[str] = field(default_factory=set[str])

    @property
    def calls(self) -> list[ToolCallBlock]:
        """The calls asked for, in order."""
        return [call.block for call in self._calls.values()]

    @property
    def only_thought(self) -> bool:
        """Whether there is something, and nothing that anybody could read or run."""
        return bool(self.blocks) and all(isinstance(b, ThinkingBlock) for b in self.blocks)

    @property
    def prose(self) -> list[ContentBlock]:
        """What is meant for people."""
        return [block for block in self.blocks if isinstance(block, TextBlock)]

    def take(self, event: ModelEvent) -> Iterator[AgentEvent]:
        """The next thing that the model streamed."""
        match event:
            case TextDelta():
                yield from self._write(TextBlock, event.text)
            case ThinkingDelta():
                yield from self._write(ThinkingBlock, event.text)
                self._sign(event)
            case CallDelta():
                yield from self._end_prose()
                yield from self._ask(event)
            case ModelDone():
                self.done = event

    def close(self, *, interrupted: bool = False) -> Iterator[AgentEvent]:
        """The turn is over.

        Raises:
            ModelFailed: the model broke off.
        """
        if self.done is None and not interrupted:
            raise ModelFailed(ErrorType.UPSTREAM, "The model broke off in the middle of its turn.")
        yield from self._end_prose()
        for call in self._calls.values():
            yield from self._end_call(call)
        usage = self.done.usage if self.done else Usage()
        broke_off = interrupted or self.done is None or self.done.finished == "interrupted"
        yield self.stamps.event(
            ModelCallEndEvent,
            reply_id=self.reply_id,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_input_tokens=usage.cache_input_tokens,
            cache_creation_input_tokens=usage.cache_creation_input_tokens,
            finished_reason="interrupted" if broke_off else "completed",
        )

    def _write(self, kind: type[TextBlock | ThinkingBlock], text: str) -> Iterator[AgentEvent]:
        if not isinstance(self._prose, kind):
            yield from self._end_prose()
            self._prose = self._begin_prose(kind)
            yield self._prose_event(0)
        self._pieces.append(text)
        if text:
            yield self._prose_event(1, delta=whole(text))

    def _begin_prose(self, kind: type[TextBlock | ThinkingBlock]) -> TextBlock | ThinkingBlock:
        block_id, now = self.stamps.id(), self.stamps.now()
        block: TextBlock | ThinkingBlock = (
            TextBlock(text="", id=block_id, created_at=now)
            if kind is TextBlock
            else ThinkingBlock(thinking="", id=block_id, created_at=now)
        )
        self.blocks.append(block)
        return block

    def _prose_event(self, which: int, **fields: str) -> AgentEvent:
        assert self._prose is not None
        kinds = _TEXT if isinstance(self._prose, TextBlock) else _THINKING
        kind: type[AgentEvent] = kinds[which]
        return self.stamps.event(kind, reply_id=self.reply_id, block_id=self._prose.id, **fields)

    def _sign(self, event: ThinkingDelta) -> None:
        if isinstance(self._prose, ThinkingBlock):
            for key, value in event.extra.items():
                setattr(self._prose, key, value)

    def _end_prose(self) -> Iterator[AgentEvent]:
        if self._prose is None:
            return
        text = whole("".join(self._pieces))
        if isinstance(self._prose, TextBlock):
            self._prose.text = text
        else:
            self._prose.thinking = text
        self._prose.finished_at = self.stamps.now()
        yield self._prose_event(2)
        self._prose = None
        self._pieces = []

    def _ask(self, event: CallDelta) -> Iterator[AgentEvent]:
        call = self._calls.get(event.index)
        if call is None:
            call = self._begin_call(event)
            yield self.stamps.event(
                ToolCallStartEvent,
                reply_id=self.reply_id,
                tool_call_id=call.block.id,
                tool_call_name=call.block.name,
            )
        call.pieces.append(event.input)
        yield self.stamps.event(
            ToolCallDeltaEvent,
            reply_id=self.reply_id,
            tool_call_id=call.block.id,
            delta=whole(event.input),
        )

    def _begin_call(self, event: CallDelta) -> _Call:
        written = whole(event.call_id)
        twice = written in self._written_ids
        self._written_ids.add(written)
        taken = not written or twice or self.known(written)
        block = ToolCallBlock(
            id=self.stamps.id() if taken else written,
            name=whole(event.name),
            input="",
            created_at=self.stamps.now(),
        )
        if twice:
            self.refused[block.id] = DUPLICATE
        call = _Call(block)
        self._calls[event.index] = call
        self.blocks.append(block)
        return call

    def _end_call(self, call: _Call) -> Iterator[AgentEvent]:
        written = "".join(call.pieces)
        call.block.input = whole(written)
        if call.block.input != written and "�" in call.block.input:
            self.refused.setdefault(call.block.id, NO_TEXT)
        yield self.stamps.event(
            ToolCallEndEvent, reply_id=self.reply_id, tool_call_id=call.block.id
        )
