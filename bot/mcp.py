"""Settings → connections to MCP servers, and their tools."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from adapters.mcp.servers import McpServer as Server
from adapters.mcp.servers import connected
from bot.settings import McpServer, Settings
from core.errors import SetupRefused
from core.tools import Tool


@asynccontextmanager
async def mcp_tools(
    settings: Settings, environment: Mapping[str, str]
) -> AsyncGenerator[Mapping[str, tuple[Tool, ...]]]:
    """Tools by server, of every server that an agent uses, connected for as long as the block.

    Raises:
        SetupRefused: a server can't be reached, or a variable that it is to be given is not set.
    """
    used = {
        entry.removeprefix("mcp:")
        for agent in settings.agents.values()
        for entry in agent.tools
        if entry.startswith("mcp:")
    }
    tools: dict[str, tuple[Tool, ...]] = {}
    async with AsyncExitStack() as stack:
        for name in sorted(used):
            server = declared(name, settings.mcp[name], environment)
            connection = await stack.enter_async_context(connected(server))
            tools[name] = tuple(connection.tools)
        yield tools


def declared(name: str, table: McpServer, environment: Mapping[str, str]) -> Server:
    """A server as its adapter wants it, with the values of the variables that it is to be given.

    Raises:
        SetupRefused: a variable is not set; names it, never its value.
    """
    wanted = (*table.env, *table.header_env.values())
    missing = [variable for variable in wanted if variable not in environment]
    if missing:
        raise SetupRefused(
            f"The MCP server {name} is to be given {', '.join(missing)}, which is not set in"
            f" Keyturn's environment. Set it, or take it out of [mcp.{name}]."
        )
    return Server(
        name=name,
        command=table.command,
        url=table.url,
        env={variable: environment[variable] for variable in table.env},
        headers={header: environment[v] for header, v in table.header_env.items()},
        trusted=table.trusted,
    )
