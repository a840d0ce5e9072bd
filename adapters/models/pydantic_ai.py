"""Language models of providers, through `pydantic_ai.direct`. Needs an extra: see `providers`."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from adapters.models.failures import failure, pause
from adapters.models.history import THOUGHTS, History, thought
from core.errors import ModelFailed
from core.messages import ErrorType, Msg, Usage
from core.ports import (
    CallDelta,
    Clock,
    ModelDone,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolChoice,
    ToolSpec,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A provider's model whose client does not retry by itself, and how to give its connections
    back."""

    model: Model
    close: Callable[[], Awaitable[None]]


@dataclass(slots=True)
class ProviderModel:
    """A provider's model.

    A turn that fails before anything of it was shown is tried again, with growing pauses; later
    it is not, because what was shown can't be taken back.

    Attributes:
        name: what events and records call it.
        clock: for the pauses.
        chance: a random number from 0 to 1 for each pause.
        timeout: seconds of silence after which the provider counts as gone.
    """

    name: str
    opened: Opened
    clock: Clock
    chance: Callable[[], float]
    timeout: float = 300.0
    _history: History = field(default_factory=History)

    async def stream(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSpec],
        choice: ToolChoice = "auto",
    ) -> AsyncGenerator[ModelEvent]:
        """One model turn over the whole conversation; `ModelDone` comes last.

        Raises:
            ModelFailed: the provider refused, could not be reached or broke off.
        """
        history = self._history.convert(messages)
        attempt = 0
        while True:
            attempt += 1
            begun = False
            try:
                async with aclosing(self._turn(history, tools, choice)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except (AgentRunError, UserError) as error:
                wait = None if begun else pause(error, attempt, self.chance())
                if wait is None:
                    raise failure(self.name, error) from error
            else:
                return
            await self.clock.sleep(wait)

    async def close(self) -> None:
        """Give the connections back."""
        await self.opened.close()

    async def _turn(
        self, history: list[ModelMessage], tools: Sequence[ToolSpec], choice: ToolChoice
    ) -> AsyncGenerator[ModelEvent]:
        settings = ModelSettings(timeout=self.timeout, max_retries=0)
        if tools:
            settings["tool_choice"] = choice
        parameters = ModelRequestParameters(function_tools=[_definition(tool) for tool in tools])
        turn = _Turn()
        async with model_request_stream(
            self.opened.model, history, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for event in stream:
                for mine in turn.take(event):
                    yield mine
            response = stream.get()
        yield self._done(response)

    def _done(self, response: ModelResponse) -> ModelDone:
        """The end of a turn.

        Raises:
            ModelFailed: the turn was cut, so that a call of it may be a part of what was meant.
        """
        reason = response.finish_reason
        calls = any(isinstance(part, ToolCallPart) for part in response.parts)
        if reason is None:
            raise ModelFailed(ErrorType.UPSTREAM, f"{self.name} broke off in its turn.")
        if reason == "content_filter":
            raise ModelFailed(ErrorType.UPSTREAM, f"{self.name} was stopped by its own filter.")
        if reason == "length" and calls:
            raise ModelFailed(
                ErrorType.UPSTREAM, f"{self.name} reached its length limit within a call."
            )
        usage = Usage(
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            cache_input_tokens=response.usage.cache_read_tokens,
            cache_creation_input_tokens=response.usage.cache_write_tokens,
        )
        return ModelDone(usage, "interrupted" if reason == "length" else "completed")


@dataclass(slots=True)
class _Turn:
    """Turns the library's events into ours. The first piece of a part comes with its start."""

    _calls: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    _thoughts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def take(self, event: ModelResponseStreamEvent) -> list[ModelEvent]:
        """What an event of the library means."""
        match event:
            case PartStartEvent(part=TextPart() as text):
                self._thoughts = []
                return [TextDelta(text.content)] if text.content else []
            case PartStartEvent(part=ThinkingPart() as thinking):
                return [ThinkingDelta(thinking.content)]
            case PartStartEvent(part=ToolCallPart() as call):
                self._thoughts = []
                self._calls[event.index] = (call.tool_call_id, call.tool_name)
                return [self._call(event.index, call.args)]
            case PartDeltaEvent():
                return self._delta(event)
            case PartEndEvent(part=ThinkingPart() as thinking):
                self._thoughts = [*self._thoughts, thought(thinking)]
                return [ThinkingDelta("", {THOUGHTS: self._thoughts})]
            case _:
                return []

    def _delta(self, event: PartDeltaEvent) -> list[ModelEvent]:
        match event.delta:
            case TextPartDelta(content_delta=text) if text:
                return [TextDelta(text)]
            case ThinkingPartDelta(content_delta=text) if text:
                return [ThinkingDelta(text)]
            case ToolCallPartDelta(args_delta=args) if args:
                return [self._call(event.index, args)]
            case _:
                return []

    def _call(self, index: int, args: str | Mapping[str, Any] | None) -> ModelEvent:
        call_id, name = self._calls[index]
        if args is not None and not isinstance(args, str):
            args = json.dumps(args, ensure_ascii=False)
        return CallDelta(index, call_id, name, args or "")


def _definition(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=dict(tool.input_schema),
        strict=False,
    )
