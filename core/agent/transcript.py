"""The message that a reply writes, and the calls in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.messages import (
    ContentBlock,
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    Usage,
)
from core.state import AgentState

AWAITED = frozenset({ToolCallState.ASKING, ToolCallState.SUBMITTED})


@dataclass(slots=True)
class Transcript:
    """The calls of the present reply by id, read once and kept up to date, so that a call in
    turn 200 costs what a call in turn 1 costs.

    Attributes:
        message: the message of the reply, if it has written anything yet.
        open: calls without a final result, in order.
    """

    state: AgentState
    message: Msg | None = None
    calls: dict[str, ToolCallBlock] = field(default_factory=dict[str, ToolCallBlock])
    results: dict[str, ToolResultBlock] = field(default_factory=dict[str, ToolResultBlock])
    open: dict[str, ToolCallBlock] = field(default_factory=dict[str, ToolCallBlock])
    _length: int = 0

    @classmethod
    def read(cls, state: AgentState) -> "Transcript":
        """What the state says of the present reply."""
        found = cls(state, present_message(state))
        if found.message is not None:
            found._index(found.message.content)
        return found

    def still_holds(self, state: AgentState) -> bool:
        """Whether nobody has written to the state beside this transcript."""
        message = present_message(state)
        length = 0 if message is None else len(message.content)
        return self.state is state and self.message is message and self._length == length

    def _index(self, blocks: Iterable[ContentBlock]) -> None:
        for block in blocks:
            self._length += 1
            if isinstance(block, ToolCallBlock):
                self.calls[block.id] = block
                # Conversations of other writers may use an id again; the older result is not ours.
                self.results.pop(block.id, None)
                if block.state is not ToolCallState.FINISHED:
                    self.open[block.id] = block
            elif isinstance(block, ToolResultBlock):
                self.results[block.id] = block
                if block.state is not ToolResultState.RUNNING:
                    self.open.pop(block.id, None)

    @property
    def awaited(self) -> list[ToolCallBlock]:
        """Calls that people have to answer."""
        return [call for call in self.open.values() if call.state in AWAITED]

    @property
    def runnable(self) -> list[ToolCallBlock]:
        """Calls that may be worked on now: a pending call waits while people are awaited."""
        states = {ToolCallState.ALLOWED}
        if not self.awaited:
            states.add(ToolCallState.PENDING)
        return [call for call in self.open.values() if call.state in states]

    def append(self, name: str, blocks: Sequence[ContentBlock], now: str) -> None:
        """Add blocks to the message of the reply, beginning it if need be."""
        if self.message is None and blocks:
            reply_id = self.state.reply_context.reply_id
            self.message = Msg(id=reply_id, name=name, role="assistant", content=[], created_at=now)
            self.state.context.append(self.message)
        if blocks:
            self._write(blocks)

    def append_turn(
        self, name: str, blocks: Sequence[ContentBlock], usage: Usage | None, now: str
    ) -> None:
        """Add a model turn; one that asks for no call is a whole round."""
        self.append(name, blocks, now)
        if usage is not None:
            self._spend(usage)
        if not self.open:
            self.state.reply_context.cur_iter += 1

    def _write(self, blocks: Sequence[ContentBlock]) -> None:
        assert self.message is not None, "a reply without a message has no calls"
        self.message.content.extend(blocks)
        self._index(blocks)

    def _spend(self, usage: Usage) -> None:
        if self.message is None:
            return
        so_far = self.message.usage or Usage()
        self.message.usage = Usage(
            input_tokens=so_far.input_tokens + usage.input_tokens,
            output_tokens=so_far.output_tokens + usage.output_tokens,
            cache_input_tokens=so_far.cache_input_tokens + usage.cache_input_tokens,
            cache_creation_input_tokens=so_far.cache_creation_input_tokens
            + usage.cache_creation_input_tokens,
        )

    def begin(self, call: ToolCallBlock, now: str) -> None:
        """A run of the call starts: its result is there, still empty."""
        assert call.id in self.open, "a finished call never changes again"
        call.state = ToolCallState.ALLOWED
        if not self.begun(call):
            running = ToolResultBlock(id=call.id, name=call.name, output=[], created_at=now)
            self._write([running])

    def begun(self, call: ToolCallBlock) -> bool:
        """Whether a run of it had started."""
        return call.id in self.results

    def finish(self, call: ToolCallBlock, result: ToolResultBlock, *, counts: bool = True) -> None:
        """Give a call its one result; the last one of a turn ends the round, if that counts."""
        assert call.id in self.open, "a finished call never changes again"
        del self.open[call.id]
        call.state = ToolCallState.FINISHED
        call.finished_at = result.finished_at
        running = self.results.get(call.id)
        if running is None:
            self._write([result])
        else:
            running.output = result.output
            running.state = result.state
            running.metadata = result.metadata
            running.finished_at = result.finished_at
        if counts and not self.open:
            self.state.reply_context.cur_iter += 1


def present_message(state: AgentState) -> Msg | None:
    """The last message, if the present reply wrote it."""
    last = state.context[-1] if state.context else None
    ours = last is not None and last.role == "assistant" and last.id == state.reply_context.reply_id
    return last if ours else None
