"""A tool of an MCP server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool as Listed

from adapters.mcp.definitions import claims, permissions, pin, tool_name, traits
from adapters.mcp.servers import McpServer
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

MAX_DESCRIPTION = 4096
"""Characters of a server's text that the model reads about one tool."""

Call = Callable[["McpTool", Input], Awaitable[Chunk]]


@dataclass(frozen=True, slots=True)
class McpTool:
    """Calls go to the server it came from.

    Attributes:
        listed_name: what the server calls it.
        pin: hash of its definition as it was listed; it does not run under another one.
        claims: what the server says of it, in words for those who decide; only claims.
    """

    name: str
    listed_name: str
    description: str
    input_schema: Mapping[str, Any]
    traits: Traits
    permissions: ToolPermissions
    pin: str
    claims: tuple[str, ...]
    call: Call

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Call it; the result comes in one piece.

        Raises:
            ToolFailed: the call was not made, or the server refused it.
            OutcomeUnknown: the call was made and no answer came.
        """
        yield await self.call(self, value)


def made(server: McpServer, listed: Listed, call: Call) -> McpTool:
    """A tool as the server lists it."""
    name = tool_name(server.name, listed.name)
    return McpTool(
        name=name,
        listed_name=listed.name,
        description=(listed.description or listed.title or "")[:MAX_DESCRIPTION],
        input_schema=listed.input_schema,
        traits=traits(listed, trusted=server.trusted),
        permissions=permissions(name, listed, trusted=server.trusted),
        pin=pin(listed),
        claims=claims(listed),
        call=call,
    )
