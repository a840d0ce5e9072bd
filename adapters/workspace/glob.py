"""The tool `Glob`: files of the workspace by name."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace.directory import Directory
from adapters.workspace.search import search
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "The glob, such as **/*.py or src/*.{ts,tsx}.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The directory to look in; the workspace if not given.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Glob:
    """Finds files by name.

    Args:
        directory: the workspace.
        permissions: how searches are judged.
    """

    directory: Directory
    permissions: ToolPermissions
    name: str = "Glob"
    description: str = (
        "Find files of the workspace by name, newest first. * stays inside one name, "
        "** crosses directories. Version control's own directories are left out."
    )
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(
            read_only=True,
            idempotent=True,
            title="Find {pattern}",
            destination=("path",),
            risk="low",
        )
    )

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """List the files.

        Raises:
            ToolFailed: the pattern or the path is refused.
        """
        yield await search(self.directory, "glob", value)
