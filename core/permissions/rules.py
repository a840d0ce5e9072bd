"""Permission rules and the modes they work under: the models, not the matching.

Wire-compatible with agentscope 2.0 permission models.
"""

from enum import StrEnum

from pydantic import BaseModel, Field


class PermissionBehavior(StrEnum):
    """What a rule or a verdict says. `passthrough` is only ever a tool's own opinion."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASSTHROUGH = "passthrough"


class PermissionMode(StrEnum):
    """Mode of an agent: what happens to a call that no rule speaks about."""

    DEFAULT = "default"
    ACCEPT_EDITS = "accept_edits"
    EXPLORE = "explore"
    BYPASS = "bypass"
    DONT_ASK = "dont_ask"


class AutoRunMode(StrEnum):
    """Mode of a person, working under the agent's mode."""

    ASK_EVERY_TIME = "ask_every_time"
    USE_ALLOWLIST = "use_allowlist"
    RUN_EVERYTHING = "run_everything"


class PermissionRule(BaseModel):
    """One rule for one tool. No content covers every call of the tool; empty content does so only
    to deny or ask."""

    tool_name: str
    rule_content: str | None
    behavior: PermissionBehavior
    source: str


class WorkingDirectory(BaseModel):
    """A directory in which `accept_edits` may edit."""

    path: str
    source: str


class PermissionContext(BaseModel):
    """What the engine knows of a session: mode, directories and rules by tool name."""

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, WorkingDirectory] = Field(
        default_factory=dict[str, WorkingDirectory]
    )
    allow_rules: dict[str, list[PermissionRule]] = Field(
        default_factory=dict[str, list[PermissionRule]]
    )
    deny_rules: dict[str, list[PermissionRule]] = Field(
        default_factory=dict[str, list[PermissionRule]]
    )
    ask_rules: dict[str, list[PermissionRule]] = Field(
        default_factory=dict[str, list[PermissionRule]]
    )
