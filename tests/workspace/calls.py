"""What the tests of the workspace share: a tool is called and its whole result read."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from core.messages import TextBlock, ToolResultState
from core.permissions.rules import PermissionBehavior, PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex, Run, Tool

RUN = Run("reply", "call")


class Nobody:
    """Permissions of a tool that these tests never ask about."""

    def check_read_only(self, value: Input) -> bool:
        return False

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.PASSTHROUGH, "")

    def check_rule(self, rule: PermissionRule) -> None:
        return None

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        raise NotImplementedError

    def suggest(self, value: Input) -> list[PermissionRule]:
        return []


@dataclass(frozen=True)
class Result:
    """A whole result."""

    text: str
    state: ToolResultState
    metadata: Mapping[str, Any]


async def call(tool: Tool, **value: Any) -> Result:
    """Run a tool to its end."""
    text = ""
    state = ToolResultState.RUNNING
    metadata: Mapping[str, Any] = {}
    async with aclosing(cast("Any", tool.run(value, RUN))) as chunks:
        async for chunk in chunks:
            assert state is ToolResultState.RUNNING, "a final chunk is the last"
            text += "".join(block.text for block in chunk.content if isinstance(block, TextBlock))
            state, metadata = chunk.state, chunk.metadata
    return Result(text, state, metadata)
