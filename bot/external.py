"""A task as a tool: the model asks for it, people carry it out."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ToolFailed
from core.permissions.external import ExternalPermissions
from core.tools import Chunk, Input, Run, ToolPermissions, Traits


@dataclass(frozen=True, slots=True)
class ExternalTask:
    """A tool that never runs here."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    traits: Traits

    @property
    def permissions(self) -> ToolPermissions:
        """Handing it out needs nobody's approval, unless the operator wants one first."""
        return ExternalPermissions(self.name, declared=not self.traits.requires_confirmation)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Refuse: people do it.

        Raises:
            ToolFailed: always.
        """
        raise ToolFailed(f"{self.name} is done by people, so nothing runs here.")
        yield Chunk()
