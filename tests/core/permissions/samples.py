"""Tools, rules and policies that the permission tests speak about."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.permissions.files import ReadPermissions, WritePermissions
from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import NO_OPINION
from core.permissions.paths import DiskPaths
from core.permissions.rules import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    WorkingDirectory,
)
from core.policy import Gate, Gates, OperatorRule, Policy
from core.tools import Chunk, Input, PermissionDecision, Run, ToolPermissions, Traits

PATHS = DiskPaths(cwd="/srv/work", home="/srv/home")


@dataclass(frozen=True)
class SampleTool:
    """A tool that only has permissions."""

    name: str
    permissions: ToolPermissions
    traits: Traits = field(default_factory=Traits)
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Nothing to do."""
        yield Chunk()


def function(
    name: str = "fn",
    *,
    read_only: bool = False,
    own: PermissionDecision = NO_OPINION,
    requires_confirmation: bool = False,
) -> SampleTool:
    """A plain function tool."""
    traits = Traits(read_only=read_only, requires_confirmation=requires_confirmation)
    return SampleTool(name, FunctionPermissions(name, read_only, own), traits)


def write(name: str = "Write", paths: DiskPaths = PATHS) -> SampleTool:
    """A tool that writes files."""
    return SampleTool(name, WritePermissions(name, paths))


def read(paths: DiskPaths = PATHS) -> SampleTool:
    """A tool that reads files."""
    return SampleTool("Read", ReadPermissions("Read", paths))


def rule(behavior: str, tool_name: str = "fn", content: str | None = None) -> PermissionRule:
    """A rule of a session."""
    return PermissionRule(
        tool_name=tool_name,
        rule_content=content,
        behavior=PermissionBehavior(behavior),
        source="session",
    )


def context(
    rules: Iterable[PermissionRule] = (),
    mode: PermissionMode = PermissionMode.DEFAULT,
    directories: Iterable[str] = (),
) -> PermissionContext:
    """A session's context with these rules, filed as the reference files them."""
    made = PermissionContext(mode=mode)
    for each in rules:
        filed = {"allow": made.allow_rules, "deny": made.deny_rules, "ask": made.ask_rules}
        if each.behavior in filed:
            filed[each.behavior].setdefault(each.tool_name, []).append(each)
    for path in directories:
        made.working_directories[path] = WorkingDirectory(path=path, source="session")
    return made


def gate(name: str, *matches: str, approvers: str = "sre", quorum: int = 1) -> Gate:
    """A gate with these matches."""
    return Gate(name=name, approvers=approvers, matches=matches, quorum=quorum)


def policy(*gates: Gate, rules: Iterable[OperatorRule] = ()) -> Policy:
    """A policy with these gates beside the default one."""
    return Policy(Gates(Gate("default", "everyone"), gates), rules=tuple(rules))
