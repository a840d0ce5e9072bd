"""The tool `Read`: lines of a text file in the workspace."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace.directory import Directory
from core.errors import ToolFailed
from core.messages import TextBlock, ToolResultState
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

MAX_FILE = 64 * 1024 * 1024
"""Bytes that a file may have to be read; larger ones are for Bash and `tail`."""

MAX_LINES = 2000
"""Lines of one call, as the reference has it."""

MAX_TEXT = 256 * 1024
"""Characters of one result."""

SNIFF = 8192
"""Bytes looked at to tell text from binary; a NUL among them means binary, as git does it."""

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": {
            "type": "string",
            "minLength": 1,
            "description": "Path of the file, absolute or relative to the workspace.",
        },
        "offset": {
            "type": "integer",
            "minimum": 1,
            "description": "Number of the first line to read, from 1.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LINES,
            "description": f"How many lines to read; {MAX_LINES} if not given.",
        },
    },
    "required": ["file_path"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Read:
    """Reads text files. The text is as it stands in the file, without line numbers.

    Args:
        directory: the workspace.
        permissions: how reads are judged.
    """

    directory: Directory
    permissions: ToolPermissions
    name: str = "Read"
    description: str = (
        "Read a text file of the workspace. Gives the lines as they are, without numbers; "
        "long files in parts of 2000 lines, with offset and limit."
    )
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(
            read_only=True,
            idempotent=True,
            title="Read {file_path}",
            destination=("file_path",),
            risk="low",
        )
    )

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Read the lines asked for. Bytes that are not UTF-8 come as U+FFFD, and a note says so.

        Raises:
            ToolFailed: the path is refused, or the file is binary or too long.
        """
        data, _ = await asyncio.to_thread(self.directory.read, value["file_path"], MAX_FILE)
        if b"\0" in data[:SNIFF]:
            raise ToolFailed(f"This is a binary file of {len(data)} bytes, not text.")
        text = lines(data, value.get("offset", 1), value.get("limit", MAX_LINES))
        yield Chunk((TextBlock(text=text),), ToolResultState.SUCCESS)


def lines(data: bytes, offset: int, limit: int) -> str:
    """The chosen lines of a file, and in brackets what is to know about the rest.

    Args:
        data: the whole file.
        offset: number of the first line, from 1.
        limit: how many lines.
    """
    rows = _split(data)
    if not rows:
        return "[the file is empty]"
    if offset > len(rows):
        return f"[the file has only {len(rows)} lines]"
    chosen, last = _fit(rows[offset - 1 : offset - 1 + limit], offset)
    text = chosen.decode("utf-8", errors="replace")
    notes: list[str] = []
    if last < len(rows):
        notes.append(f"[lines {offset} to {last} of {len(rows)}; go on with offset {last + 1}]")
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT]
        notes.append(f"[line {last} is cut after {MAX_TEXT} characters]")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in chosen:
        notes.append("[not valid UTF-8: undecodable bytes are shown as U+FFFD]")
    if not notes:
        return text
    return text + ("" if text.endswith("\n") else "\n") + "\n".join(notes)


def _split(data: bytes) -> list[bytes]:
    """Lines end at \\n only, so that numbers agree with other tools."""
    rows = [row + b"\n" for row in data.split(b"\n")]
    rows[-1] = rows[-1][:-1]
    return rows if rows[-1] else rows[:-1]


def _fit(rows: list[bytes], offset: int) -> tuple[bytes, int]:
    """As many whole lines as fit, at least one, and the number of the last."""
    size = 0
    for count, row in enumerate(rows):
        size += len(row)
        if size > MAX_TEXT and count > 0:
            return b"".join(rows[:count]), offset + count - 1
    return b"".join(rows), offset + len(rows) - 1
