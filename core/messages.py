"""Messages and the blocks they are made of: what agent, people and models exchange.

The shapes are the wire of agentscope 2.0 messages: a dump of one side validates on the other and
comes back as the same JSON. Unknown fields are dropped on load (`ThinkingBlock` keeps them: they
carry provider signatures), so whatever Keyturn adds goes into `metadata`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from core.permissions.rules import PermissionRule


def new_id() -> str:
    """A fresh id: 32 hex characters, 122 random bits."""
    return uuid4().hex


def timestamp() -> str:
    """The present time as the wire has it: ISO 8601 with microseconds, UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")  # noqa: TID251 - the default of a wire model; the loop passes its own clock


class ToolCallState(StrEnum):
    """How far a call of the message has come."""

    PENDING = "pending"
    ASKING = "asking"
    ALLOWED = "allowed"
    SUBMITTED = "submitted"
    FINISHED = "finished"


class ToolResultState(StrEnum):
    """How a call ended. `running` means that its result is still streaming in."""

    SUCCESS = "success"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    DENIED = "denied"
    RUNNING = "running"


class ReplyFinishedReason(StrEnum):
    """Why a reply ended; a message without a reason has not ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    EXCEED_MAX_ITERS = "exceed_max_iters"
    ERROR = "error"


class ErrorType(StrEnum):
    """What kind of failure ended a reply."""

    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    RATE_LIMIT = "rate_limit"
    INVALID_REQUEST = "invalid_request"
    UPSTREAM = "upstream"
    CONNECTION = "connection"
    INTERNAL = "internal"
    SETUP = "setup"
    UNKNOWN = "unknown"


class Base64Source(BaseModel):
    """Data inside the message."""

    type: Literal["base64"] = "base64"
    data: str
    media_type: str


class URLSource(BaseModel):
    """Data behind an address; Keyturn never fetches it by itself."""

    type: Literal["url"] = "url"
    url: str
    media_type: str


class TextBlock(BaseModel):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None


class ThinkingBlock(BaseModel):
    """What the model thought; extra fields are kept because providers sign it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["thinking"] = "thinking"
    thinking: str
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None


class DataBlock(BaseModel):
    """A file, picture or recording."""

    type: Literal["data"] = "data"
    id: str = Field(default_factory=new_id)
    source: Base64Source | URLSource
    name: str | None = None
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None


class HintBlock(BaseModel):
    """A note to the model that no person wrote into the conversation."""

    type: Literal["hint"] = "hint"
    hint: str | list[TextBlock | DataBlock]
    id: str = Field(default_factory=new_id)
    source: str | None = None
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None

    @model_validator(mode="after")
    def _is_complete_when_made(self) -> Self:
        if self.finished_at is None:
            self.finished_at = self.created_at
        return self


class ToolCallBlock(BaseModel):
    """One call that the model asked for.

    `input` is the JSON text exactly as the model wrote it: it may be empty (no arguments) or not
    JSON at all. It is what people are shown, what is bound and what runs.
    """

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: str
    state: ToolCallState = ToolCallState.PENDING
    suggested_rules: list[PermissionRule] = Field(default_factory=list[PermissionRule])
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None


class ToolResultBlock(BaseModel):
    """The one result of a call; `id` is the id of its call."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    name: str
    output: str | list[TextBlock | DataBlock]
    state: ToolResultState = ToolResultState.RUNNING
    metadata: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    created_at: str = Field(default_factory=timestamp)
    finished_at: str | None = None


ContentBlock = TextBlock | ThinkingBlock | HintBlock | DataBlock | ToolCallBlock | ToolResultBlock


class Usage(BaseModel):
    """Tokens that a message has cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class ErrorInfo(BaseModel):
    """What went wrong; only beside `finished_reason: error`."""

    type: ErrorType
    message: str


class Msg(BaseModel):
    """One message of a conversation. `finished_reason` null: it is still being written."""

    name: str
    content: list[ContentBlock]
    role: Literal["user", "assistant", "system"]
    id: str = Field(default_factory=new_id)
    metadata: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    created_at: str = Field(default_factory=timestamp)
    usage: Usage | None = None
    finished_at: str | None = None
    finished_reason: ReplyFinishedReason | None = None
    structured_output: dict[str, Any] | None = None
    error: ErrorInfo | None = None

    @model_validator(mode="after")
    def _holds_what_its_role_may_hold(self) -> Self:
        allowed: Mapping[str, tuple[type[BaseModel], ...]] = {
            "user": (TextBlock, DataBlock),
            "system": (TextBlock,),
        }
        kinds = allowed.get(self.role)
        if kinds and not all(isinstance(block, kinds) for block in self.content):
            raise ValueError(f"a {self.role} message can't hold such a block")
        return self

    def text(self) -> str:
        """All text of the message, joined by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


def user_msg(text: str, name: str = "user") -> Msg:
    """A complete message from a person."""
    now = timestamp()
    block = TextBlock(text=text, created_at=now)
    return Msg(name=name, content=[block], role="user", created_at=now, finished_at=now)
