"""Settings → the agents: model, tools with their permissions, and what each session begins with."""

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapters.models.providers import open_model
from adapters.workspace.bash import Bash
from adapters.workspace.confined import Confined
from adapters.workspace.directory import Directory
from adapters.workspace.edit import Edit
from adapters.workspace.glob import Glob
from adapters.workspace.grep import Grep
from adapters.workspace.read import Read
from adapters.workspace.sandbox import Sandbox
from adapters.workspace.write import Write
from bot.demo.story import DemoModel
from bot.settings import Agent, Settings, Task, ToolWords
from bot.settings.meaning import profiles_of
from core.errors import SetupRefused
from core.external import ExternalTool
from core.permissions.bash import BashPermissions
from core.permissions.files import ReadPermissions, WritePermissions
from core.permissions.paths import DiskPaths
from core.permissions.profiles import Profiles
from core.permissions.rule_strings import covers_name, parse_rule
from core.permissions.rules import (
    PermissionBehavior,
    PermissionContext,
    WorkingDirectory,
)
from core.permissions.search import SearchPermissions
from core.policy import OPERATOR
from core.ports import Clock, Model
from core.roster import AgentSpec, Roster, TaskTerms
from core.tools import Tool, Traits

TERMINAL_CHANNEL = "terminal:local"
MAX_SECRET = 64 * 1024


@dataclass(frozen=True, slots=True)
class AgentMaker:
    """Makes agents.

    Attributes:
        protected: files and directories that no tool may touch: data, configuration, keys.
        environment: where secrets come from.
    """

    settings: Settings
    protected: tuple[Path, ...]
    environment: Mapping[str, str]
    clock: Clock
    extra_tools: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict[str, tuple[Tool, ...]])
    """Tools of MCP servers, by server."""

    def roster(self) -> Roster:
        """Every agent of the settings.

        Raises:
            SetupRefused: a workspace, model, key or library is missing.
        """
        return {name: self.spec(name, agent) for name, agent in self.settings.agents.items()}

    def spec(self, name: str, agent: Agent) -> AgentSpec:
        """One agent."""
        return AgentSpec(
            name=name,
            model=self._model(agent),
            tools=tuple(self.tools(agent)),
            instructions=agent.instructions,
            owner=agent.owner or "",
            permissions=self._permissions(name, agent),
            tasks=self._tasks(agent),
            queue_limit=agent.queue_limit,
            max_iters=agent.max_iterations,
            channels=() if self.settings.routes else (TERMINAL_CHANNEL,),
        )

    def tools(self, agent: Agent) -> list[Tool]:
        """The agent's tools, with what the operator says about them."""
        directory = self._directory(agent)
        made: list[Tool] = []
        for entry in agent.tools:
            kind, colon, name = entry.partition(":")
            if colon and kind == "mcp":
                made += self.extra_tools.get(name, ())
            elif colon and kind == "external":
                made.append(_external(name, self.settings.tasks[name]))
            else:
                assert directory is not None, "the settings ask for a workspace beside such a tool"
                made.append(self._built_in(entry, agent, directory))
        return [self._described(tool) for tool in made]

    def _built_in(self, name: str, agent: Agent, directory: Directory) -> Tool:
        return _built_in(name, agent, directory, profiles_of(self.settings))

    def _described(self, tool: Tool) -> Tool:
        """The tool with the operator's words over its own."""
        for name, words in self.settings.tools.items():
            if covers_name(name, tool.name):
                traits = described(tool.traits, words)
                return dataclasses.replace(tool, traits=traits)  # type: ignore[type-var]
        return tool

    def _directory(self, agent: Agent) -> Directory | None:
        if agent.workspace is None:
            return None
        directory = Directory(agent.workspace, self.protected)
        if "Bash" in agent.tools:
            _sandbox(agent).check(directory)
        return directory

    def _model(self, agent: Agent) -> Model:
        kind, _, name = agent.model.partition(":")
        if kind == "scripted":
            if name != "demo":
                raise SetupRefused(f'There is no script "{name}". Known: scripted:demo.')
            return DemoModel()
        return open_model(
            agent.model,
            clock=self.clock,
            chance=random.random,
            api_key=self._key(agent, kind),
            base_url=agent.base_url,
        )

    def _key(self, agent: Agent, provider: str) -> str | None:
        if agent.api_key_file is not None:
            return read_secret(agent.api_key_file)
        return self.environment.get(agent.api_key_env or f"{provider.upper()}_API_KEY")

    def _permissions(self, name: str, agent: Agent) -> PermissionContext:
        context = PermissionContext(mode=agent.mode)
        if agent.workspace is not None:
            path = str(agent.workspace.resolve())
            context.working_directories[path] = WorkingDirectory(path=path, source=OPERATOR)
        shelves = {
            PermissionBehavior.ALLOW: context.allow_rules,
            PermissionBehavior.DENY: context.deny_rules,
            PermissionBehavior.ASK: context.ask_rules,
        }
        for rule in self.settings.rules:
            if name in rule.agents:
                parsed = parse_rule(rule.text(), PermissionBehavior(rule.behavior()), OPERATOR)
                shelves[parsed.behavior].setdefault(parsed.tool_name, []).append(parsed)
        return context

    def _tasks(self, agent: Agent) -> dict[str, TaskTerms]:
        named = [entry.removeprefix("external:") for entry in agent.tools if ":" in entry]
        tasks = self.settings.tasks
        return {n: TaskTerms(tasks[n].fulfillers, tasks[n].timeout) for n in named if n in tasks}


def secret_files(settings: Settings) -> tuple[Path, ...]:
    """Files that hold secrets of these settings."""
    files = (agent.api_key_file for agent in settings.agents.values())
    return tuple(file for file in files if file is not None)


def described(traits: Traits, words: ToolWords) -> Traits:
    """Traits of a tool with the operator's words in the place of its own."""
    said = words.model_dump(exclude_none=True, exclude_unset=True)
    return dataclasses.replace(traits, **said)


def _external(name: str, task: Task) -> Tool:
    traits = Traits(
        external=True,
        requires_confirmation=task.requires_confirmation,
        result_schema=task.result,
        title=task.title,
    )
    return ExternalTool(name, task.description or f"People do this: {name}.", task.input, traits)


def _sandbox(agent: Agent) -> Sandbox:
    return Sandbox(agent.sandbox, agent.network, agent.read_only)


def _built_in(name: str, agent: Agent, directory: Directory, profiles: Profiles) -> Tool:
    root = directory.root
    paths = DiskPaths(cwd=str(root), home=str(root))
    match name:
        case "Bash":
            return Bash(directory, BashPermissions(name, paths, profiles), _sandbox(agent))
        case "Read":
            return Read(directory, Confined(ReadPermissions(name, paths), root))
        case "Write":
            return Write(directory, Confined(WritePermissions(name, paths), root))
        case "Edit":
            return Edit(directory, Confined(WritePermissions(name, paths), root))
        case "Glob":
            return Glob(directory, Confined(SearchPermissions(name, paths, "names"), root, "path"))
        case "Grep":
            return Grep(
                directory, Confined(SearchPermissions(name, paths, "contents"), root, "path")
            )
        case _:
            raise SetupRefused(f'There is no tool "{name}".')


def read_secret(file: Path) -> str:
    """What stands in a secret's file, without the blank at its end.

    Raises:
        SetupRefused: the file can't be read, or is no text. Its content is never in the message.
    """
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_SECRET).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupRefused(f"The secret in {file} can't be read: {type(error).__name__}.") from None
