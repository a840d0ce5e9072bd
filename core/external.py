"""External tools: the model asks for them, people carry them out."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ToolFailed
from core.inputs import check_schema
from core.permissions.external import ExternalPermissions
from core.tools import Chunk, Input, Run, ToolPermissions, Traits


@dataclass(frozen=True, slots=True)
class ExternalTool:
    """A task as a tool. It never runs here: its calls go to people, and their answer is the result.

    Raises:
        InvalidSchema: its input or its declared result could never be checked.
        ValueError: its traits do not say that it is external.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    traits: Traits

    def __post_init__(self) -> None:
        check_schema(self.input_schema)
        if self.traits.result_schema is not None:
            check_schema(self.traits.result_schema)
        if not self.traits.external:
            raise ValueError(f"the traits of {self.name} must say that it is external")

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
        yield Chunk()  # makes this a generator, as the contract wants
