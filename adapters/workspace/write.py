"""The tool `Write`: puts a whole file in the workspace in place."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace import grounds
from adapters.workspace.directory import Directory
from core.errors import ToolFailed
from core.messages import TextBlock, ToolResultState
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": {
            "type": "string",
            "minLength": 1,
            "description": "Path of the file, absolute or relative to the workspace.",
        },
        "content": {"type": "string", "description": "The whole content of the file."},
    },
    "required": ["file_path", "content"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Write:
    """Writes text files, at once and whole.

    Args:
        directory: the workspace.
        permissions: how writes are judged.
    """

    directory: Directory
    permissions: ToolPermissions
    name: str = "Write"
    description: str = (
        "Write a whole text file of the workspace, replacing what is there. Missing directories "
        "are made. To change a part of a file, use Edit."
    )
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(
            idempotent=True,
            concurrency_safe=False,
            title="Write {file_path}",
            destination=("file_path",),
        )
    )

    def context(self, value: Input) -> Mapping[str, str]:
        """Where the path really leads now."""
        return grounds.of_file(str(value.get("file_path", "")), self.directory.root)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Write the file.

        Raises:
            ToolFailed: the path is refused, or the content is too long or no text.
        """
        data = encode(value["content"])
        new = await asyncio.to_thread(self.directory.write, value["file_path"], data)
        done = f"{'Created' if new else 'Replaced'} the file: {len(data)} bytes."
        yield Chunk((TextBlock(text=done),), ToolResultState.SUCCESS)


def encode(text: str) -> bytes:
    """Text as UTF-8.

    Raises:
        ToolFailed: it holds half a character.
    """
    try:
        return text.encode()
    except UnicodeError as error:
        raise ToolFailed("The text holds half a character (a lone surrogate).") from error
