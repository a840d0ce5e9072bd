"""Events: what a reply streams out, and what people send back into it.

The shapes are the wire of agentscope 2.0 events. Base fields come first in every dump. What
Keyturn adds (actor, reason, deadline, digest, revision) goes into `metadata`, which the reference
keeps and passes on.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, JsonValue, TypeAdapter, model_validator

from core.messages import (
    DataBlock,
    ErrorInfo,
    ReplyFinishedReason,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    new_id,
    timestamp,
)
from core.permissions.rules import PermissionRule

FinishedReason = Literal["completed", "interrupted"]


class EventBase(BaseModel):
    """What every event has."""

    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=timestamp)
    metadata: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class ReplyStartEvent(EventBase):
    """A reply begins; a resumed reply does not begin again."""

    type: Literal["REPLY_START"] = "REPLY_START"
    session_id: str
    reply_id: str
    name: str
    role: Literal["user", "assistant", "system"] = "assistant"


class ReplyEndEvent(EventBase):
    """A reply ended. A parked reply has no such event."""

    type: Literal["REPLY_END"] = "REPLY_END"
    session_id: str
    reply_id: str
    finished_reason: ReplyFinishedReason = ReplyFinishedReason.COMPLETED
    error: ErrorInfo | None = None


class ModelCallStartEvent(EventBase):
    """The model is asked."""

    type: Literal["MODEL_CALL_START"] = "MODEL_CALL_START"
    reply_id: str
    model_name: str


class ModelCallEndEvent(EventBase):
    """The model has answered."""

    type: Literal["MODEL_CALL_END"] = "MODEL_CALL_END"
    reply_id: str
    input_tokens: int
    output_tokens: int
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    finished_reason: FinishedReason = "completed"


class TextBlockStartEvent(EventBase):
    """A text begins."""

    type: Literal["TEXT_BLOCK_START"] = "TEXT_BLOCK_START"
    reply_id: str
    block_id: str


class TextBlockDeltaEvent(EventBase):
    """A text grows."""

    type: Literal["TEXT_BLOCK_DELTA"] = "TEXT_BLOCK_DELTA"
    reply_id: str
    block_id: str
    delta: str


class TextBlockEndEvent(EventBase):
    """A text is complete."""

    type: Literal["TEXT_BLOCK_END"] = "TEXT_BLOCK_END"
    reply_id: str
    block_id: str
    text: str | None = None


class DataBlockStartEvent(EventBase):
    """A file begins."""

    type: Literal["DATA_BLOCK_START"] = "DATA_BLOCK_START"
    reply_id: str
    block_id: str
    media_type: str
    name: str | None = None


class DataBlockDeltaEvent(EventBase):
    """A file grows: exactly one of `data` and `url`."""

    type: Literal["DATA_BLOCK_DELTA"] = "DATA_BLOCK_DELTA"
    reply_id: str
    block_id: str
    media_type: str
    data: str | None = None
    url: str | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        _require_one_source(self.data, self.url)
        return self


class DataBlockEndEvent(EventBase):
    """A file is complete."""

    type: Literal["DATA_BLOCK_END"] = "DATA_BLOCK_END"
    reply_id: str
    block_id: str


class ThinkingBlockStartEvent(EventBase):
    """A thought begins."""

    type: Literal["THINKING_BLOCK_START"] = "THINKING_BLOCK_START"
    reply_id: str
    block_id: str


class ThinkingBlockDeltaEvent(EventBase):
    """A thought grows."""

    type: Literal["THINKING_BLOCK_DELTA"] = "THINKING_BLOCK_DELTA"
    reply_id: str
    block_id: str
    delta: str


class ThinkingBlockEndEvent(EventBase):
    """A thought is complete."""

    type: Literal["THINKING_BLOCK_END"] = "THINKING_BLOCK_END"
    reply_id: str
    block_id: str


class HintBlockEvent(EventBase):
    """A note to the model was added."""

    type: Literal["HINT_BLOCK"] = "HINT_BLOCK"
    reply_id: str
    block_id: str
    source: str | None = None
    hint: str | list[TextBlock | DataBlock]


class ToolCallStartEvent(EventBase):
    """The model begins to ask for a call."""

    type: Literal["TOOL_CALL_START"] = "TOOL_CALL_START"
    reply_id: str
    tool_call_id: str
    tool_call_name: str


class ToolCallDeltaEvent(EventBase):
    """The input of a call grows."""

    type: Literal["TOOL_CALL_DELTA"] = "TOOL_CALL_DELTA"
    reply_id: str
    tool_call_id: str
    delta: str


class ToolCallEndEvent(EventBase):
    """The input of a call is complete."""

    type: Literal["TOOL_CALL_END"] = "TOOL_CALL_END"
    reply_id: str
    tool_call_id: str


class ToolResultStartEvent(EventBase):
    """A call runs."""

    type: Literal["TOOL_RESULT_START"] = "TOOL_RESULT_START"
    reply_id: str
    tool_call_id: str
    tool_call_name: str


class ToolResultTextDeltaEvent(EventBase):
    """The result of a call grows by text."""

    type: Literal["TOOL_RESULT_TEXT_DELTA"] = "TOOL_RESULT_TEXT_DELTA"
    reply_id: str
    tool_call_id: str
    delta: str


class ToolResultDataDeltaEvent(EventBase):
    """The result of a call grows by data: exactly one of `data` and `url`."""

    type: Literal["TOOL_RESULT_DATA_DELTA"] = "TOOL_RESULT_DATA_DELTA"
    reply_id: str
    tool_call_id: str
    block_id: str = Field(default_factory=new_id)
    media_type: str
    data: str | None = None
    url: str | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        _require_one_source(self.data, self.url)
        return self


class ToolResultEndEvent(EventBase):
    """A call ended; `metadata` is the metadata of its result."""

    type: Literal["TOOL_RESULT_END"] = "TOOL_RESULT_END"
    reply_id: str
    tool_call_id: str
    state: ToolResultState


class ExceedMaxItersEvent(EventBase):
    """The reply used up its iterations; `REPLY_END` follows."""

    type: Literal["EXCEED_MAX_ITERS"] = "EXCEED_MAX_ITERS"
    reply_id: str
    name: str


class RequireUserConfirmEvent(EventBase):
    """People must decide these calls. Keyturn sends one call per event, as the reference does."""

    type: Literal["REQUIRE_USER_CONFIRM"] = "REQUIRE_USER_CONFIRM"
    reply_id: str
    tool_calls: list[ToolCallBlock]


class RequireExternalExecutionEvent(EventBase):
    """People must do these calls and send back what came of them."""

    type: Literal["REQUIRE_EXTERNAL_EXECUTION"] = "REQUIRE_EXTERNAL_EXECUTION"
    reply_id: str
    tool_calls: list[ToolCallBlock]


class ConfirmResult(BaseModel):
    """One decision: the call it is about, perhaps with a changed input, and the rules accepted."""

    confirmed: bool
    tool_call: ToolCallBlock
    rules: list[PermissionRule] | None = None


class UserConfirmResultEvent(EventBase):
    """What people decided."""

    type: Literal["USER_CONFIRM_RESULT"] = "USER_CONFIRM_RESULT"
    reply_id: str
    confirm_results: list[ConfirmResult]


class UserInterruptEvent(EventBase):
    """A person stops the reply."""

    type: Literal["USER_INTERRUPT"] = "USER_INTERRUPT"
    reply_id: str


class ExternalExecutionResultEvent(EventBase):
    """What came of calls that people did."""

    type: Literal["EXTERNAL_EXECUTION_RESULT"] = "EXTERNAL_EXECUTION_RESULT"
    reply_id: str
    execution_results: list[ToolResultBlock]


class CustomEvent(EventBase):
    """Anything else, by name."""

    type: Literal["CUSTOM"] = "CUSTOM"
    name: str
    value: Any


AgentEvent = Annotated[
    ReplyStartEvent
    | ReplyEndEvent
    | ModelCallStartEvent
    | ModelCallEndEvent
    | TextBlockStartEvent
    | TextBlockDeltaEvent
    | TextBlockEndEvent
    | DataBlockStartEvent
    | DataBlockDeltaEvent
    | DataBlockEndEvent
    | ThinkingBlockStartEvent
    | ThinkingBlockDeltaEvent
    | ThinkingBlockEndEvent
    | HintBlockEvent
    | ToolCallStartEvent
    | ToolCallDeltaEvent
    | ToolCallEndEvent
    | ToolResultStartEvent
    | ToolResultTextDeltaEvent
    | ToolResultDataDeltaEvent
    | ToolResultEndEvent
    | ExceedMaxItersEvent
    | RequireUserConfirmEvent
    | RequireExternalExecutionEvent
    | UserConfirmResultEvent
    | UserInterruptEvent
    | ExternalExecutionResultEvent
    | CustomEvent,
    Field(discriminator="type"),
]

AGENT_EVENT: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent)


def _require_one_source(data: str | None, url: str | None) -> None:
    if (data is None) == (url is None):
        raise ValueError("exactly one of data and url must be given")
