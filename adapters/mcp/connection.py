"""A connection to one MCP server: one task owns it, makes it again when it broke, and lists the
tools before each call, so that a call never meets a tool that has changed since it was judged."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from mcp_types import Tool as Listed

from adapters.mcp.definitions import pin
from adapters.mcp.results import chunk
from adapters.mcp.servers import McpServer, OnChange
from adapters.mcp.tool import McpTool, made
from core.errors import InvalidSchema, OutcomeUnknown, SetupRefused, ToolFailed
from core.inputs import check_schema
from core.tools import Chunk, Input

PATIENCE = 30.0
"""Seconds to connect and list the tools."""

MAX_TOOLS = 1000
"""Tools of one server."""

MAX_WORDS = 2000
"""Characters of a server's own words in an error."""


@asynccontextmanager
async def opened(server: McpServer, on_change: OnChange) -> AsyncGenerator["Connection"]:
    """See `servers.connected`."""
    connection = Connection(server, on_change)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(connection.own())
            try:
                await connection.start()
                yield connection
            finally:
                connection.stop()
    except BaseExceptionGroup as errors:
        # The owner raises nothing: what is in the group came out of the body, once.
        raise _only(errors) from None


class Connection:
    """One server's tools.

    Attributes:
        tools: as they were listed when the context was entered.
        left_out: names of listed tools that can't be used, and why.
    """

    def __init__(self, server: McpServer, on_change: OnChange) -> None:
        self.server = server
        self.tools: tuple[McpTool, ...] = ()
        self.left_out: dict[str, str] = {}
        self._on_change = on_change
        self._client: Client | None = None
        self._told: dict[str, str] = {}
        self._wanted = asyncio.Event()
        self._broken = asyncio.Event()
        self._tried = asyncio.Event()
        self._stopping = False
        self._failure = ""

    @property
    def pins(self) -> dict[str, str]:
        """Pins of the tools by name."""
        return {tool.name: tool.pin for tool in self.tools}

    async def start(self) -> None:
        """Connect for the first time and take the tools.

        Raises:
            SetupRefused: it can't be reached, or is no MCP server.
        """
        try:
            listed = await self._listed()
        except ToolFailed as error:
            raise SetupRefused(
                f"The MCP server {self.server.name} can't be used: {error}"
            ) from error
        self.tools = tuple(made(self.server, one, self.call) for one in self._usable(listed))
        self._told = {one.name: pin(one) for one in listed}

    def stop(self) -> None:
        """Let the owner end."""
        self._stopping = True
        self._broken.set()
        self._wanted.set()

    async def own(self) -> None:
        """Hold the connection, in one task as the library wants it, until it is stopped."""
        while not self._stopping:
            await self._wanted.wait()
            self._wanted.clear()
            if not self._stopping:
                await self._hold()

    async def call(self, tool: McpTool, value: Input) -> Chunk:
        """Make a call, if the tool is still the one that was judged.

        Raises:
            ToolFailed: nothing was called, or the server refused.
            OutcomeUnknown: the connection broke or time ran out in between.
        """
        await self._check(tool)
        client = await self._connected()
        try:
            async with asyncio.timeout(self.server.timeout + 5):
                result = await client.call_tool(
                    tool.listed_name, dict(value), read_timeout_seconds=self.server.timeout
                )
        except MCPError as error:
            raise self._explained(error) from error
        except TimeoutError as error:
            raise OutcomeUnknown(self._silent()) from error
        except Exception as error:
            self._break()
            raise OutcomeUnknown(_lost(self.server.name, type(error).__name__)) from error
        return chunk(result)

    async def _check(self, tool: McpTool) -> None:
        """Refuse a tool that is gone or is another one by now."""
        try:
            listed = await self._listed()
        except _Broken:
            listed = await self._listed()
        self._tell(listed)
        present = next((one for one in listed if one.name == tool.listed_name), None)
        if present is None:
            raise ToolFailed(f"{self.server.name} no longer has this tool; nothing was called.")
        if pin(present) != tool.pin:
            raise ToolFailed(
                f"{self.server.name} has changed the definition of this tool since it was read; "
                "nothing was called. The operator has to look at it and restart Keyturn."
            )

    async def _listed(self) -> list[Listed]:
        client = await self._connected()
        found: list[Listed] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                    found += page.tools
                    cursor = page.next_cursor
                    if cursor is None or len(found) > MAX_TOOLS:
                        return found[:MAX_TOOLS]
        except Exception as error:
            self._break()
            raise _Broken(
                f"{self.server.name} could not be asked for its tools; nothing was called."
            ) from error

    async def _connected(self) -> Client:
        """The client; makes the owner connect if there is none.

        Raises:
            ToolFailed: that did not work.
        """
        if self._client is None:
            tried = self._tried
            self._wanted.set()
            await tried.wait()
        if self._client is None:
            raise ToolFailed(
                f"{self.server.name} can't be reached; nothing was called. {self._failure}".strip()
            )
        return self._client

    async def _hold(self) -> None:
        """Connect, and keep the connection until it breaks or is no longer needed."""
        self._broken = asyncio.Event()
        tried, self._tried = self._tried, asyncio.Event()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(PATIENCE):
                    client = await stack.enter_async_context(await self._made(stack))
                self._client, self._failure = client, ""
                tried.set()
                await self._broken.wait()
        except Exception as error:  # noqa: BLE001 - whatever it was, there is no connection now
            self._failure = _words(error)
        finally:
            self._client = None
            tried.set()

    def _break(self) -> None:
        self._client = None
        self._broken.set()

    async def _made(self, stack: AsyncExitStack) -> Client:
        server = self.server
        if server.url is None:
            program = StdioServerParameters(
                command=server.command[0],
                args=list(server.command[1:]),
                env=dict(server.env),
                cwd=server.cwd,
            )
            return Client(program, read_timeout_seconds=server.timeout)
        # A response stays open while its call runs; the call's own timeout comes first.
        timeout = httpx2.Timeout(PATIENCE, read=server.timeout + 10)
        http = httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout)
        await stack.enter_async_context(http)
        streams = streamable_http_client(server.url, http_client=http)
        return Client(streams, read_timeout_seconds=server.timeout)

    def _usable(self, listed: Sequence[Listed]) -> list[Listed]:
        usable: list[Listed] = []
        seen: set[str] = set()
        for one in listed:
            try:
                check_schema(one.input_schema)
            except InvalidSchema as error:
                self.left_out[one.name] = str(error)
                continue
            if one.name in seen:
                self.left_out[one.name] = "The server lists it twice; the first is used."
                continue
            seen.add(one.name)
            usable.append(one)
        return usable

    def _tell(self, listed: Sequence[Listed]) -> None:
        now = {one.name: pin(one) for one in listed}
        names = {
            name for name in now.keys() | self._told.keys() if now.get(name) != self._told.get(name)
        }
        if names:
            self._told = now
            self._on_change(sorted(names))

    def _explained(self, error: MCPError) -> ToolFailed:
        if error.code == REQUEST_TIMEOUT:
            return OutcomeUnknown(self._silent())
        if error.code == CONNECTION_CLOSED:
            self._break()
            return OutcomeUnknown(_lost(self.server.name, "connection closed"))
        return ToolFailed(f"{self.server.name} refused the call: {error.message[:MAX_WORDS]}")

    def _silent(self) -> str:
        return (
            f"{self.server.name} did not answer within {self.server.timeout:g} s. "
            "The call may or may not have taken effect; check before it is repeated."
        )


class _Broken(ToolFailed):
    """The connection broke before anything was called; another try may help."""


def _lost(name: str, why: str) -> str:
    return (
        f"No whole answer came from {name} after the call was made ({why}). "
        "It may or may not have taken effect; check before it is repeated."
    )


def _words(error: BaseException) -> str:
    """The cause in a few words; the library wraps it in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"It did not answer within {PATIENCE:g} s."
    return f"{type(error).__name__}: {error}"[:MAX_WORDS]


def _only(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first, *others = errors.exceptions
    return errors if others else first
