"""The state of an agent in one session: the conversation and where the present reply stands.

Wire-compatible with the agent state of agentscope 2.0. What Keyturn adds lives under the key
`keyturn` of `middle_context`, a free dictionary that the reference keeps untouched.
"""

from typing import Any, cast

from pydantic import BaseModel, Field, model_validator

from core.messages import Msg, new_id
from core.permissions.rules import PermissionContext


class ReplyContext(BaseModel):
    """The reply that is being written. `cur_iter` counts finished rounds."""

    reply_id: str = Field(default_factory=new_id)
    cur_iter: int = 0
    structured_schema: dict[str, Any] | None = None
    structured_output: dict[str, Any] | None = None


class ToolContext(BaseModel):
    """What the reference keeps for its tools; carried along unread."""

    max_cache_files: int = 100
    max_cache_bytes: float = 25000.0
    read_file_cache: list[Any] = Field(default_factory=list[Any])
    activated_groups: list[str] = Field(default_factory=list[str])


class TasksContext(BaseModel):
    """What the reference keeps for its to-do list; carried along unread."""

    tasks: list[Any] = Field(default_factory=list[Any])


class AgentState(BaseModel):
    """Everything that is needed to go on in another process, beside the tools."""

    session_id: str = Field(default_factory=new_id)
    summary: str = ""
    context: list[Msg] = Field(default_factory=list[Msg])
    reply_context: ReplyContext = Field(default_factory=ReplyContext)
    permission_context: PermissionContext = Field(default_factory=PermissionContext)
    tool_context: ToolContext = Field(default_factory=ToolContext)
    tasks_context: TasksContext = Field(default_factory=TasksContext)
    middle_context: dict[str, Any] = Field(default_factory=dict[str, Any])

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, data: Any) -> Any:
        """Read dumps of earlier 2.0 versions, which had reply id and count at the top level."""
        if isinstance(data, dict) and "reply_id" in data and "reply_context" not in data:
            old = dict(cast(dict[str, Any], data))
            old["reply_context"] = {
                "reply_id": old.pop("reply_id"),
                "cur_iter": old.pop("cur_iter", 0),
            }
            return old
        return cast(Any, data)
