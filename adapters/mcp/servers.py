"""MCP servers as the operator declares them, and how to connect to one.

A server over stdio is a program that Keyturn starts as its own user, with the environment given
here and no sandbox: it is the operator's program, not the agent's. One that should not be able to
read Keyturn's files belongs on another account or machine, and is reached over HTTP.

The client library is an extra (`keyturn[mcp]`) and is imported only when a server is connected.
"""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import SetupRefused

if TYPE_CHECKING:
    from adapters.mcp.connection import Connection

_NAME = re.compile(r"[A-Za-z0-9](?:_?[A-Za-z0-9-])*")
MAX_NAME = 24
"""Characters of a server's name: tool names have 64, and the tool's own part needs most of them."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One server: either `command` (stdio) or `url` (streamable HTTP).

    Attributes:
        name: letters, digits, single "_" and "-"; the middle of ``mcp__name__tool``.
        command: program and arguments.
        url: of the endpoint.
        env: variables for the program, beside HOME, LOGNAME, PATH, SHELL, TERM and USER.
        cwd: where the program starts.
        headers: for every request, such as a bearer token.
        trusted: whether the operator believes what the server says of its tools: that one only
            reads, or may be repeated. Of others these hints are only claims.
        timeout: seconds that one call may take.

    Raises:
        SetupRefused: the name can't be used, or not exactly one of `command` and `url` is given.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    trusted: bool = False
    timeout: float = 120.0

    def __post_init__(self) -> None:
        if len(self.name) > MAX_NAME or not _NAME.fullmatch(self.name):
            raise SetupRefused(
                f'The name "{self.name}" of an MCP server can\'t be used: at most {MAX_NAME} '
                'letters, digits, "-" and single "_".'
            )
        if bool(self.command) == bool(self.url):
            raise SetupRefused(f"The MCP server {self.name} needs either command or url.")


OnChange = Callable[[Sequence[str]], None]


@asynccontextmanager
async def connected(
    server: McpServer, on_change: OnChange | None = None
) -> AsyncGenerator["Connection"]:
    """A connection that lives as long as the context and is made again when it breaks.

    Args:
        on_change: told the names of tools whose definition is new, gone or another than it was
            when the context was entered; rules that allow them must not hold any longer.

    Raises:
        SetupRefused: the extra is not installed, or the server can't be reached at the start.
    """
    library: Any = _library()
    async with library.opened(server, on_change or (lambda names: None)) as connection:
        yield connection


def _library() -> Any:
    try:
        return import_module("adapters.mcp.connection")
    except ImportError as error:
        raise SetupRefused(
            'MCP servers need a library that is not installed: pip install "keyturn[mcp]".'
        ) from error
