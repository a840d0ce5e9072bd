"""Structured output: the last call of a reply that must end in data of a given shape."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from core.messages import TextBlock
from core.permissions.functions import FunctionPermissions
from core.state import ReplyContext
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

STRUCTURED_TOOL: Final = "GenerateStructuredOutput"
"""The tool that the model ends with. Source: the name in agentscope 2.0, so that its
conversations can be continued here."""

GRACE_ROUNDS: Final = 3
"""Rounds beyond the limit in which nothing but the structured output may be given."""

STRUCTURED_HINT = (
    f"This reply must end with a call of {STRUCTURED_TOOL}, whose input is the answer. "
    "Call it when the answer is ready."
)
STRUCTURED_NOW = f"The rounds of this reply are used up. Call {STRUCTURED_TOOL} now."


def schema_of(schema: type[BaseModel] | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A JSON schema, given one or a pydantic model."""
    if schema is None:
        return None
    if isinstance(schema, type):
        return schema.model_json_schema()
    return dict(schema)


@dataclass(frozen=True, slots=True)
class StructuredOutput:
    """The tool. Its input has been checked against the schema before it runs; it has no effect
    beyond the reply, so it is never asked about."""

    reply: ReplyContext

    @property
    def name(self) -> str:
        """As the reference calls it."""
        return STRUCTURED_TOOL

    @property
    def description(self) -> str:
        """What the model is told."""
        return "Give the final answer of this reply as data. It ends the reply."

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The shape that was asked for."""
        return self.reply.structured_schema or {"type": "object"}

    @property
    def traits(self) -> Traits:
        """It changes nothing outside of the reply."""
        return Traits(read_only=True, idempotent=True)

    @property
    def permissions(self) -> ToolPermissions:
        """Not used: the loop does not ask about its own tool."""
        return FunctionPermissions(STRUCTURED_TOOL, read_only=True)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Keep the answer."""
        self.reply.structured_output = dict(value)
        yield Chunk((TextBlock(text="The structured output was taken."),))
