"""What `keyturn.toml` can say. Every table refuses keys that it does not know."""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from core.permissions.profiles import ProfileConfig
from core.permissions.rules import AutoRunMode, PermissionMode
from core.tools import Risk

_DURATION = re.compile(r"(\d{1,6})\s*(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(value: object) -> timedelta:
    """`"90s"`, `"15m"`, `"4h"` or `"2d"` as a time span.

    Raises:
        ValueError: it is written in another way, or is zero.
    """
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match.group(1)):
        raise ValueError('write a time span as "90s", "15m", "4h" or "2d"')
    return timedelta(**{_UNITS[match.group(2)]: int(match.group(1))})


Duration = Annotated[timedelta, BeforeValidator(duration)]
Text = Annotated[str, Field(min_length=1)]
Schema = Mapping[str, Any]


class Table(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Agent(Table):
    """One agent: its model, its tools, where it works.

    `api_key_env` and `api_key_file` say where the model's key is; the key itself is never in the
    file. `max_auto_run` caps what people may choose with `keyturn mode` for this agent.
    """

    model: Text
    base_url: str | None = None
    api_key_env: str | None = None
    api_key_file: Path | None = None
    instructions: str = ""
    owner: str | None = None
    mode: PermissionMode = PermissionMode.DEFAULT
    max_auto_run: AutoRunMode = AutoRunMode.USE_ALLOWLIST
    tools: tuple[Text, ...] = ()
    workspace: Path | None = None
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    network: bool = False
    read_only: tuple[Path, ...] = ()
    queue_limit: Annotated[int, Field(ge=1, le=1000)] = 20
    max_iterations: Annotated[int, Field(ge=1, le=1000)] = 20


class Approvers(Table):
    """A named set of people who decide."""

    people: tuple[Text, ...] = ()
    slack_groups: tuple[Text, ...] = ()
    discord_roles: tuple[Text, ...] = ()
    sets: tuple[Text, ...] = ()

    def empty(self) -> bool:
        """Whether nobody is named in any way."""
        return not (self.people or self.slack_groups or self.discord_roles or self.sets)


class Person(Table):
    """One person, by the accounts that are hers. `local` is a login name of this machine."""

    slack: str | None = None
    discord: str | None = None
    local: str | None = None

    @model_validator(mode="after")
    def _has_an_account(self) -> "Person":
        if not (self.slack or self.discord or self.local):
            raise ValueError("name at least one account: slack, discord or local")
        return self


class Escalation(Table):
    """Who is asked as well, and how long after the question."""

    after: Duration
    to: Text


class Gate(Table):
    """Who decides a call, how many of them, until when."""

    approvers: Text
    quorum: Annotated[int, Field(ge=1, le=20)] = 1
    timeout: Duration = timedelta(hours=1)
    grant_lifetime: Duration = timedelta(seconds=60)
    unknown_timeout: Duration = timedelta(hours=24)
    remind: tuple[Duration, ...] = ()
    escalate: Escalation | None = None
    risk: Risk | None = None
    second_person_for_edits: bool = False
    route: str | None = None


class ListedGate(Gate):
    """A gate for the calls that `match`. What it leaves out is as in `gates.default`."""

    match: Text
    name: str | None = None


class Gates(Table):
    """`default` decides whatever asks and no other gate matches."""

    default: Gate
    list: tuple[ListedGate, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _inherit(cls, data: object) -> object:
        """Fill what a listed gate leaves out from `gates.default`."""
        if not isinstance(data, dict):
            return data
        tables = cast("dict[str, object]", data)
        default, listed = tables.get("default"), tables.get("list")
        if not isinstance(default, dict) or not isinstance(listed, list):
            return tables
        given = cast("dict[str, object]", default)
        shared = {key: given[key] for key in _INHERITED if key in given}
        gates = cast("list[object]", listed)
        return {**tables, "list": [_filled(gate, shared) for gate in gates]}


def _filled(gate: object, shared: dict[str, object]) -> object:
    return {**shared, **cast("dict[str, object]", gate)} if isinstance(gate, dict) else gate


_INHERITED = ("approvers", "timeout", "grant_lifetime", "unknown_timeout")


class Rule(Table):
    """One of `allow`, `deny` and `ask`, with a rule string such as `Bash(git status:*)`."""

    allow: str | None = None
    deny: str | None = None
    ask: str | None = None
    agents: tuple[Text, ...] = ()
    passes_gate: str | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Rule":
        if sum(text is not None for text in (self.allow, self.deny, self.ask)) != 1:
            raise ValueError("say exactly one of allow, deny and ask")
        if self.allow is None and self.passes_gate:
            raise ValueError("passes_gate belongs to an allow rule")
        if self.agents and self.passes_gate:
            raise ValueError("a rule that passes a gate holds for all agents; take agents out")
        return self

    def text(self) -> str:
        """The rule string."""
        return self.allow or self.deny or self.ask or ""

    def behavior(self) -> Literal["allow", "deny", "ask"]:
        """Which of the three it is; the key that the rule string stands under."""
        if self.allow is not None:
            return "allow"
        return "ask" if self.deny is None else "deny"


class ToolWords(Table):
    """What the operator says about a tool, over what its author says."""

    title: str | None = None
    destination: tuple[Text, ...] = ()
    undo: str | None = None
    risk: Risk | None = None
    read_only: bool | None = None
    idempotent: bool | None = None
    requires_confirmation: bool | None = None


class Task(Table):
    """A tool that people carry out: `external:NAME` in an agent's tools."""

    fulfillers: Text
    description: str = ""
    timeout: Duration = timedelta(hours=4)
    remind: tuple[Duration, ...] = ()
    input: Schema = Field(default_factory=lambda: {"type": "object"})
    result: Schema = Field(default_factory=lambda: {"type": "object"})
    title: str | None = None
    requires_confirmation: bool = False


class McpServer(Table):
    """A server whose tools are `mcp:NAME`. `env` names the variables that it is given."""

    command: tuple[Text, ...] = ()
    url: str | None = None
    env: tuple[Text, ...] = ()
    header_env: Mapping[str, str] = Field(default_factory=dict)
    trusted: bool = False

    @model_validator(mode="after")
    def _is_reachable_one_way(self) -> "McpServer":
        if bool(self.command) == bool(self.url):
            raise ValueError("say either command (a program to start) or url")
        return self


class Route(Table):
    """Where cards go."""

    slack: str | None = None
    discord: str | None = None


class Cap(Table):
    """The loosest modes that an agent, a channel, or both together may have."""

    agent: str | None = None
    channel: str | None = None
    mode: PermissionMode | None = None
    auto_run: AutoRunMode | None = None


class Local(Table):
    """The terminal. `self_approval` lets the person who asked decide her own agent's calls."""

    data: Path = Path(".keyturn")
    self_approval: Literal["never", "low_risk"] = "never"


class Settings(Table):
    """The whole file."""

    agents: Mapping[str, Agent] = Field(min_length=1)
    approvers: Mapping[str, Approvers] = Field(default_factory=dict)
    people: Mapping[str, Person] = Field(default_factory=dict)
    gates: Gates
    rules: tuple[Rule, ...] = ()
    profiles: tuple[ProfileConfig, ...] = ()
    tools: Mapping[str, ToolWords] = Field(default_factory=dict)
    tasks: Mapping[str, Task] = Field(default_factory=dict)
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)
    routes: Mapping[str, Route] = Field(default_factory=dict)
    caps: tuple[Cap, ...] = ()
    local: Local = Local()
