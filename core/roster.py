"""The agents that this Keyturn runs, as the operator configured them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from core.permissions.rules import PermissionContext
from core.ports import Model
from core.tools import Tool


@dataclass(frozen=True, slots=True)
class TaskTerms:
    """Who does a task, and how long it stays open."""

    fulfillers: str
    timeout: timedelta = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One configured agent.

    Attributes:
        owner: the person who answers for it, and so never approves its calls.
        permissions: mode, working directories and rules that each of its sessions begins with.
        tasks: terms of its external tools, by tool name.
        queue_limit: messages that may wait in one session.
        channels: where the cards of its calls go when their gate names no route.
    """

    name: str
    model: Model
    tools: tuple[Tool, ...]
    instructions: str = ""
    owner: str = ""
    permissions: PermissionContext = field(default_factory=PermissionContext)
    tasks: Mapping[str, TaskTerms] = field(default_factory=dict[str, TaskTerms])
    queue_limit: int = 20
    max_iters: int = 30
    channels: tuple[str, ...] = ()

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, if the agent has it."""
        return next((tool for tool in self.tools if tool.name == name), None)


Roster = Mapping[str, AgentSpec]
