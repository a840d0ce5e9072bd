"""Starts the search process and waits for what it finds."""

import json
import sys
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import adapters
from adapters.workspace import process
from adapters.workspace.directory import Directory
from adapters.workspace.process import Command, Ended
from core.errors import ToolFailed
from core.messages import TextBlock, ToolResultState
from core.tools import Chunk

DEADLINE = 20.0
"""Seconds that a search may take."""

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from adapters.workspace.worker import main; main()"
)


async def search(
    directory: Directory, what: Literal["glob", "grep"], value: Mapping[str, Any]
) -> Chunk:
    """What a search finds; an error result with a part of it if it takes too long.

    Raises:
        ToolFailed: the pattern or the path is refused, or the search broke.
    """
    order = {
        "root": str(directory.root),
        "protected": [str(path) for path in directory.protected],
        "what": what,
        "value": dict(value),
    }
    home = Path(adapters.__file__).parents[1]
    command = Command(
        argv=(sys.executable, "-I", "-S", "-B", "-c", _START, str(home)),
        env={},
        cwd=directory.root,
        timeout=DEADLINE,
        stdin=json.dumps(order).encode(),
    )
    text = ""
    ended = Ended(exit_code=1)
    async with aclosing(process.run(command)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Ended):
                ended = piece
            else:
                text += piece
    return _result(text, ended)


def _result(text: str, ended: Ended) -> Chunk:
    if ended.stopped:
        note = f"[stopped after {DEADLINE:g} s: the pattern or the path is too wide]"
        return Chunk((TextBlock(text=text + note),), ToolResultState.ERROR)
    if ended.exit_code == 2:
        raise ToolFailed(text)
    if ended.exit_code:
        raise ToolFailed("The search broke off. Use a simpler pattern or a narrower path.")
    return Chunk((TextBlock(text=text),), ToolResultState.SUCCESS)
