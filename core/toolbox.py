"""The tools of one agent, by name."""

from collections.abc import Iterable, Iterator

from core.errors import SetupRefused
from core.inputs import check_schema
from core.ports import ToolSpec
from core.tools import Tool


class Toolbox:
    """Tools by name; a name means one tool.

    Raises:
        SetupRefused: two tools of one name, or a tool without one.
        InvalidSchema: a tool's input could never be checked.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._add(tool)
        self._specs = tuple(
            ToolSpec(tool.name, tool.description, tool.input_schema) for tool in self
        )

    def _add(self, tool: Tool) -> None:
        if not tool.name:
            raise SetupRefused("A tool has no name. Give it one.")
        if tool.name in self._tools:
            raise SetupRefused(
                f"Two tools are called {tool.name}. Rename one, or leave one out: "
                "rules and decisions go by the name."
            )
        check_schema(tool.input_schema)
        self._tools[tool.name] = tool

    def find(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools.get(name)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told about them."""
        return self._specs

    def with_tool(self, tool: Tool) -> "Toolbox":
        """These tools and one more."""
        return Toolbox((*self, tool))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
