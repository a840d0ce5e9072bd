"""The tool `Grep`: lines of the workspace's files by regular expression."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace.directory import Directory
from adapters.workspace.search import search
from adapters.workspace.worker import HEAD_LIMIT, TYPES
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

MAX_CONTEXT = 100
"""Lines shown around a match."""


def _lines(words: str) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "description": words}


_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "maxLength": 10_000,
            "description": "The regular expression, in Python's syntax.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The file or directory to look in; the workspace if not given.",
        },
        "output_mode": {
            "type": "string",
            "enum": ["content", "files_with_matches", "count"],
            "description": "Matching lines, paths of files (if not given), or lines per file.",
        },
        "glob": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Only files like this, such as *.js or src/**/*.{ts,tsx}.",
        },
        "type": {"type": "string", "enum": sorted(TYPES), "description": "Only such files."},
        "-A": _lines("Lines to show after each match, with content."),
        "-B": _lines("Lines to show before each match, with content."),
        "-C": _lines("The same as context."),
        "context": _lines("Lines to show before and after each match, with content."),
        "n": {"type": "boolean", "description": "Show line numbers, with content; true."},
        "i": {"type": "boolean", "description": "Ignore case."},
        "case_insensitive": {"type": "boolean", "description": "The same as i."},
        "multiline": {
            "type": "boolean",
            "description": "Let a match span lines; . matches line ends too.",
        },
        "head_limit": {
            "type": "integer",
            "minimum": 0,
            "description": f"Lines or paths to show; {HEAD_LIMIT} if not given, 0 for all.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Lines or paths to skip first.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Grep:
    """Finds lines by regular expression.

    Args:
        directory: the workspace.
        permissions: how searches are judged.
    """

    directory: Directory
    permissions: ToolPermissions
    name: str = "Grep"
    description: str = (
        "Search the files of the workspace with a regular expression. Binary files, symbolic "
        "links and version control's own directories are left out."
    )
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(
            read_only=True,
            idempotent=True,
            title="Search for {pattern}",
            destination=("path",),
            risk="low",
        )
    )

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Search. After 20 s it is stopped, with what it found by then.

        Raises:
            ToolFailed: the pattern or the path is refused.
        """
        yield await search(self.directory, "grep", value)
