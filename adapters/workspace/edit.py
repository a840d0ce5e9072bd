"""The tool `Edit`: replaces exact text in a file of the workspace."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace import grounds
from adapters.workspace.directory import MAX_WRITE, Directory
from adapters.workspace.write import encode
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
        "old_string": {
            "type": "string",
            "minLength": 1,
            "description": "The exact text to replace, white space and line ends included.",
        },
        "new_string": {"type": "string", "description": "The text to put in its place."},
        "replace_all": {
            "type": "boolean",
            "description": "Replace every place; otherwise there has to be exactly one.",
        },
    },
    "required": ["file_path", "old_string", "new_string"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces text byte for byte, so what surrounds it stays as it is, whatever its encoding.

    Args:
        directory: the workspace.
        permissions: how edits are judged.
    """

    directory: Directory
    permissions: ToolPermissions
    name: str = "Edit"
    description: str = (
        "Replace text in a file of the workspace. old_string has to be in the file exactly once, "
        "unless replace_all is true; give enough of what surrounds it."
    )
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(
            concurrency_safe=False, title="Edit {file_path}", destination=("file_path",)
        )
    )

    def context(self, value: Input) -> Mapping[str, str]:
        """Where the path really leads now."""
        return grounds.of_file(str(value.get("file_path", "")), self.directory.root)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Replace the text.

        Raises:
            ToolFailed: the path is refused, the text is not there or not only once, or somebody
                changed the file meanwhile.
        """
        count = await asyncio.to_thread(self._edit, value)
        done = f"Replaced the text in {count} {'place' if count == 1 else 'places'}."
        yield Chunk((TextBlock(text=done),), ToolResultState.SUCCESS)

    def _edit(self, value: Input) -> int:
        data, stamp = self.directory.read(value["file_path"], MAX_WRITE)
        old, new = encode(value["old_string"]), encode(value["new_string"])
        changed, count = replace(data, old, new, every=value.get("replace_all", False))
        self.directory.write(value["file_path"], changed, expected=stamp)
        return count


def replace(data: bytes, old: bytes, new: bytes, *, every: bool) -> tuple[bytes, int]:
    """The changed data and how many places were replaced.

    Raises:
        ToolFailed: nothing to do, not found, or found more than once without `every`.
    """
    if old == new:
        raise ToolFailed("old_string and new_string are the same.")
    count = data.count(old)
    overlaps = count == 1 and data.find(old) != data.rfind(old)
    if count == 0:
        ends = " The file's lines end in \\r\\n." if b"\r\n" in data and b"\n" in old else ""
        raise ToolFailed(f"old_string is not in the file.{ends}")
    if (count > 1 or overlaps) and not every:
        raise ToolFailed(
            f"old_string is in the file {max(count, 2)} times. Give more of what surrounds it, "
            "or set replace_all."
        )
    if len(data) + count * (len(new) - len(old)) > MAX_WRITE:
        raise ToolFailed(f"The file would grow beyond {MAX_WRITE} bytes.")
    return data.replace(old, new), count
