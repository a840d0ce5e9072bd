"""Turns Keyturn's messages into the history that pydantic-ai sends to a provider."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from core.messages import (
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)

THOUGHTS = "parts"
"""Extra field of a `ThinkingBlock`: the provider's parts it is made of, each with the `length` of
its text and whatever the provider wants back (`signature`, `id`, `provider_name`, …)."""

MAX_CACHED = 20_000
"""Converted blocks kept; beyond that the cache starts afresh."""

NO_RESULT = "No result of this call is known."

Part = tuple[ModelRequestPart | ModelResponsePart, ...]
Outcome = Literal["success", "failed", "denied", "interrupted"]

_OUTCOMES: dict[ToolResultState, Outcome] = {
    ToolResultState.SUCCESS: "success",
    ToolResultState.ERROR: "failed",
    ToolResultState.DENIED: "denied",
    ToolResultState.INTERRUPTED: "interrupted",
    ToolResultState.RUNNING: "interrupted",
}


@dataclass(slots=True)
class History:
    """Converts conversations, remembering the blocks that it has converted before.

    A conversation grows at its end and is sent whole each turn, so almost every block is an old
    one. An entry is used only if the block is still equal to the one it was made of.
    """

    _cache: dict[tuple[str, str, str], tuple[ContentBlock, Part]] = field(
        default_factory=dict[tuple[str, str, str], tuple[ContentBlock, Part]]
    )

    def convert(self, messages: Sequence[Msg]) -> list[ModelMessage]:
        """The provider's view: requests and responses in turn, results right after their calls."""
        turns = _Turns()
        for message in messages:
            if message.role == "system":
                turns.ask(SystemPromptPart(message.text()))
                continue
            for block in message.content:
                if message.role == "user" or isinstance(block, HintBlock | ToolResultBlock):
                    turns.ask(*self._parts(block, _said))
                else:
                    turns.answer(*self._parts(block, _answered))
        return turns.finish()

    def _parts(self, block: ContentBlock, convert: Callable[[ContentBlock], Part]) -> Part:
        key = (convert.__name__, block.type, block.id)
        known = self._cache.get(key)
        if known is not None and (known[0] is block or known[0] == block):
            return known[1]
        parts = convert(block)
        if block.finished_at is not None:
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[key] = (block.model_copy(), parts)
        return parts


@dataclass(slots=True)
class _Turns:
    """The history as it grows."""

    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    _request: list[ModelRequestPart] = field(default_factory=list[ModelRequestPart])
    _response: list[ModelResponsePart] = field(default_factory=list[ModelResponsePart])
    _open: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, *parts: Any) -> None:
        """Something for the model."""
        self._end_response()
        for part in parts:
            if isinstance(part, ToolReturnPart):
                self._open.pop(part.tool_call_id, None)
            self._request.append(part)

    def answer(self, *parts: Any) -> None:
        """Something by the model."""
        if parts and not self._response:
            self._end_request()
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._open[part.tool_call_id] = part.tool_name
            self._response.append(part)

    def finish(self) -> list[ModelMessage]:
        """The whole history. Calls without a result get one that says so: providers insist."""
        self._end_response()
        self._end_request()
        return self.messages

    def _end_response(self) -> None:
        if self._response:
            self.messages.append(ModelResponse(self._response))
            self._response = []

    def _end_request(self) -> None:
        for call_id, name in self._open.items():
            self._request.append(ToolReturnPart(name, NO_RESULT, call_id, outcome="interrupted"))
        self._open = {}
        if self._request:
            # Providers want the results directly after the calls, before anything a person said.
            self._request.sort(key=lambda part: not isinstance(part, ToolReturnPart))
            self.messages.append(ModelRequest(self._request))
            self._request = []


def _said(block: ContentBlock) -> Part:
    """What people, tools and Keyturn say to the model."""
    match block:
        case TextBlock():
            return (UserPromptPart(block.text),)
        case DataBlock():
            return (UserPromptPart([_data(block)]),)
        case HintBlock():
            return (UserPromptPart(_content(block.hint)),)
        case ToolResultBlock():
            result: Any = _content(block.output)
            return (ToolReturnPart(block.name, result, block.id, outcome=_OUTCOMES[block.state]),)
        case _:
            return ()


def _answered(block: ContentBlock) -> Part:
    """What the model said."""
    match block:
        case TextBlock():
            return (TextPart(block.text),) if block.text else ()
        case ThinkingBlock():
            return _thoughts(block)
        case ToolCallBlock():
            return (ToolCallPart(block.name, block.input, block.id),)
        case DataBlock():
            return (TextPart(f"[file {block.name or 'without a name'}]"),)
        case _:
            return ()


def _thoughts(block: ThinkingBlock) -> tuple[ThinkingPart, ...]:
    known: list[dict[str, Any]] = (block.model_extra or {}).get(THOUGHTS) or [
        {"length": len(block.thinking)}
    ]
    parts: list[ThinkingPart] = []
    start = 0
    for one in known:
        end = start + one.get("length", 0)
        parts.append(
            ThinkingPart(
                block.thinking[start:end],
                id=one.get("id"),
                signature=one.get("signature"),
                provider_name=one.get("provider_name"),
                provider_details=one.get("provider_details"),
            )
        )
        start = end
    return tuple(parts)


def thought(part: ThinkingPart) -> dict[str, Any]:
    """What has to be kept of a thinking part beside its text."""
    kept = {
        "id": part.id,
        "signature": part.signature,
        "provider_name": part.provider_name,
        "provider_details": part.provider_details,
    }
    return {"length": len(part.content), **{k: v for k, v in kept.items() if v is not None}}


def _content(output: str | list[TextBlock | DataBlock]) -> str | list[UserContent]:
    if isinstance(output, str):
        return output
    if all(isinstance(block, TextBlock) for block in output):
        return "".join(block.text for block in output if isinstance(block, TextBlock))
    return [block.text if isinstance(block, TextBlock) else _data(block) for block in output]


def _data(block: DataBlock) -> UserContent:
    """The data itself, or the address as text: an address is never fetched on our behalf."""
    source = block.source
    if isinstance(source, Base64Source):
        return BinaryContent(base64.b64decode(source.data), media_type=source.media_type)
    return f"[{source.media_type} at {source.url}]"
