"""Tools of real MCP servers: one over stdio, one over streamable HTTP on the loopback."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.mcp.connection import Connection
from adapters.mcp.servers import McpServer, connected
from adapters.mcp.tool import McpTool
from core.errors import OutcomeUnknown, SetupRefused, ToolFailed
from core.messages import Base64Source, DataBlock, TextBlock, ToolResultState
from core.tools import Chunk, Run

PROGRAM = Path(__file__).with_name("server.py")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


def stdio(log: Path, **more: Any) -> McpServer:
    env = {"MCP_LOG": str(log), **more.pop("env", {})}
    return McpServer("ops", command=(sys.executable, str(PROGRAM), "stdio"), env=env, **more)


@asynccontextmanager
async def serving_http(log: Path, port: int, **env: str) -> AsyncIterator[None]:
    """The same server on a port, up when the body begins and gone when it ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), "http", str(port)),
        env={**os.environ, "MCP_LOG": str(log), **env},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(20):
            while not await listening(port):  # noqa: ASYNC110 - another process tells no event
                await asyncio.sleep(0.05)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def listening(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


def find(connection: Connection, listed_name: str) -> McpTool:
    return next(tool for tool in connection.tools if tool.listed_name == listed_name)


async def call(connection: Connection, listed_name: str, **value: Any) -> Chunk:
    tool = find(connection, listed_name)
    async with aclosing(cast("Any", tool.run(value, Run("reply", "call")))) as chunks:
        found = [chunk async for chunk in chunks]
    assert len(found) == 1
    return cast("Chunk", found[0])


def text(chunk: Chunk) -> str:
    return "\n".join(block.text for block in chunk.content if isinstance(block, TextBlock))


async def test_tools_of_a_stdio_server_are_listed_and_called(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, schemas, results of each kind, refusals; and nothing of our own environment."""
    monkeypatch.setenv("SLACK_TOKEN", "worth stealing")
    async with connected(stdio(log)) as ops:
        rows = await call(ops, "list_rows", table="t")
        put = await call(ops, "rows.put", row=5)
        bad = await call(ops, "rows.put", row="x")
        picture = await call(ops, "picture")
        failed = await call(ops, "fail")
        given = await call(ops, "environment")
        tool = find(ops, "list_rows")

    assert tool.name == "mcp__ops__list_rows"
    assert tool.description == "List rows."
    assert tool.input_schema["properties"]["table"]["default"] == "users"
    assert rows.state is ToolResultState.SUCCESS
    assert rows.metadata == {"structured_content": {"result": [1, 2]}}
    assert text(put) == "put 5 é"
    assert bad.state is failed.state is ToolResultState.ERROR
    assert "valid integer" in text(bad)
    data = picture.content[1]
    assert isinstance(data, DataBlock)
    assert data.source == Base64Source(data="aGk=", media_type="image/png")
    assert "SLACK_TOKEN" not in text(given)
    assert lines(log) == ["list t", "put 5"]


async def test_a_call_without_an_answer_has_an_unknown_outcome_and_is_not_repeated(
    log: Path,
) -> None:
    """By time, or by the server's death; the next call finds a new server."""
    async with connected(stdio(log, timeout=1.0)) as ops:
        with pytest.raises(OutcomeUnknown, match="may or may not"):
            await call(ops, "slow", seconds=3)
        with pytest.raises(OutcomeUnknown, match="may or may not"):
            await call(ops, "die")
        after = await call(ops, "list_rows")

    assert after.state is ToolResultState.SUCCESS
    assert lines(log) == ["slow begins", "die", "list users"]


async def test_an_http_server_that_comes_back_is_found_again(log: Path, port: int) -> None:
    """While it is gone nothing is called; afterwards the same tools work."""
    server = McpServer("ops", url=f"http://127.0.0.1:{port}/mcp", timeout=5.0)
    async with HttpServer(log, port) as server_process:
        await server_process.up()
        async with connected(server) as ops:
            first = await call(ops, "list_rows", table="one")
            with pytest.raises(OutcomeUnknown, match="may or may not"):
                await call(ops, "die")
            with pytest.raises(ToolFailed, match="nothing was called"):
                await call(ops, "list_rows", table="two")
            await server_process.down()
            await server_process.up()
            again = await call(ops, "list_rows", table="three")

    assert first.state is again.state is ToolResultState.SUCCESS
    assert lines(log) == ["list one", "die", "list three"]


async def test_a_tool_that_changed_since_it_was_listed_does_not_run(log: Path, port: int) -> None:
    """A server that shows one tool for approval and another for the run is found out; the change
    is reported, so that rules can drop."""
    server = McpServer("ops", url=f"http://127.0.0.1:{port}/mcp", timeout=5.0)
    told: list[str] = []
    async with HttpServer(log, port) as server_process:
        await server_process.up()
        async with connected(server, told.extend) as ops:
            before = await call(ops, "changing", row=1)
            await server_process.down()
            await server_process.up(MCP_CHANGED="1")
            with pytest.raises(ToolFailed, match="changed the definition"):
                await call(ops, "changing", row=1)
            untouched = await call(ops, "list_rows")

    assert text(before) == "good"
    assert told == ["changing"]
    assert untouched.state is ToolResultState.SUCCESS
    assert "changed tool ran" not in lines(log)


class HttpServer:
    """An HTTP server that can be taken down and brought up on the same port."""

    def __init__(self, log: Path, port: int) -> None:
        self._log = log
        self._port = port
        self._running: Any = None

    async def __aenter__(self) -> "HttpServer":
        return self

    async def up(self, **env: str) -> None:
        self._running = serving_http(self._log, self._port, **env)
        await self._running.__aenter__()

    async def down(self) -> None:
        await self._running.__aexit__(None, None, None)
        self._running = None

    async def __aexit__(self, *_: object) -> None:
        if self._running is not None:
            await self.down()


@pytest.mark.parametrize(
    "server",
    [
        McpServer("ops", url="http://127.0.0.1:1/mcp"),
        McpServer("ops", command=("/no/such/program",)),
        McpServer("ops", command=(sys.executable, "-c", "print('hello')")),
    ],
)
async def test_a_server_that_can_not_be_reached_is_refused_at_the_start(server: McpServer) -> None:
    """With its name, before any agent relies on it."""
    with pytest.raises(SetupRefused, match="MCP server ops"):
        async with connected(server):
            raise AssertionError("not reached")


async def test_what_the_body_raises_comes_out_as_it_is(log: Path) -> None:
    """The connection closes behind it, without wrapping it."""
    with pytest.raises(KeyError, match="mine"):
        async with connected(stdio(log)):
            raise KeyError("mine")


@pytest.mark.parametrize("name", ["a__b", "_a", "a_", "", "a b", "ä", "x" * 25])
def test_a_name_that_would_blur_tool_names_is_refused(name: str) -> None:
    """The name stands between double underscores."""
    with pytest.raises(SetupRefused, match="name"):
        McpServer(name, url="http://127.0.0.1/mcp")


def test_a_server_has_exactly_one_address() -> None:
    """A program or a URL."""
    with pytest.raises(SetupRefused, match="either command or url"):
        McpServer("ops")
    with pytest.raises(SetupRefused, match="either command or url"):
        McpServer("ops", command=("x",), url="http://127.0.0.1/mcp")


async def test_a_missing_extra_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package to install."""
    monkeypatch.delitem(sys.modules, "adapters.mcp.connection", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)

    with pytest.raises(SetupRefused, match=r"keyturn\[mcp\]"):
        async with connected(McpServer("ops", command=("x",))):
            raise AssertionError("not reached")
