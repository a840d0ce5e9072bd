"""Permissions of a shell tool. What a command is, and what a rule over it means, is in `shell`."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.permissions import profiles as shipped
from core.permissions.opinions import NO_OPINION, allowed, safety_ask, suggested
from core.permissions.paths import Paths, edit_directories
from core.permissions.profiles.suggestions import suggest_shell_rules
from core.permissions.rules import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from core.permissions.shell.denial import DenyRules
from core.permissions.shell.programs import TooMuch, programs
from core.permissions.shell.readonly import is_read_only
from core.permissions.shell.rules import AllowRules, Profiles, check_rule
from core.permissions.shell.safety import (
    danger_reason,
    edits_inside,
    look_reason,
    safety_reason,
)
from core.tools import Input, PermissionDecision, RuleIndex

_MOST_PARTS = 32
_EDITING_MODES = frozenset({PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK})
# Source: agentscope 2.0 offers no rule for these programs, which it always allows.
_NEVER_OFFERED = frozenset({"echo", "cat", "ls", "pwd", "cd", "true", "false", "printf", "grep"})


@dataclass(frozen=True, slots=True)
class BashPermissions:
    """Bash: read-only commands run, dangerous ones always ask, rules decide the rest.

    Attributes:
        profiles: the flag profiles that prefix rules rely on; the shipped ones, or a set with an
            operator's additions.
    """

    name: str
    paths: Paths
    profiles: Profiles = field(default=shipped)

    def check_read_only(self, value: Input) -> bool:
        """Whether every part of the command only reads."""
        command = _command(value) or ""
        return _only_reads(command, self.profiles)

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """A safety ask for what is dangerous or can't be read; allowed where edits are accepted."""
        command = _command(value)
        if command is None:
            return safety_ask("the command is not text")
        reason = danger_reason(command, self.paths)
        if reason is not None:
            return safety_ask(reason)
        look = look_reason(command)
        if look is not None:
            return safety_ask(look, yields=True)
        if context.mode in _EDITING_MODES and self._edits_inside(command, context):
            return allowed("Edits inside the working directories are accepted")
        return NO_OPINION

    def _edits_inside(self, command: str, context: PermissionContext) -> bool:
        """Not with a backslash: the reference takes it for a part of the path."""
        directories = edit_directories(context, self.paths)
        return "\\" not in command and edits_inside(command, directories, self.paths)

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse a rule that would be void, broken or too wide.

        Raises:
            RuleRefused: says what to write instead.
        """
        check_rule(rule.rule_content, rule.behavior, self.profiles)

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """Rules over commands made ready."""
        if all(rule.behavior is PermissionBehavior.ALLOW for rule in rules):
            return _AllowCommands(rules, self.profiles)
        return _BlockCommands(rules)

    def parts(self, value: Input) -> Sequence[Input]:
        """The call once for each program that the command could start; none if there are too many
        to tell apart."""
        try:
            started = programs(_command(value) or "")
        except TooMuch:
            return ()
        if len(started) > _MOST_PARTS:
            return ()
        return [{**value, "command": shlex.join(argv)} for argv in started]

    def suggest(self, value: Input) -> list[PermissionRule]:
        """Rules as narrow as useful, never wider than the reference would offer."""
        command = _command(value)
        if not command or _is_cut_wrongly(command) or _only_reads(command, self.profiles):
            return []
        offered = [each for each in suggest_shell_rules(command) if _is_offered_by_reference(each)]
        if not offered or safety_reason(command, self.paths) is not None:
            return []
        return [suggested(self.name, each) for each in offered]


class _AllowCommands:
    """Allow rules: together they must cover every part of the command."""

    def __init__(self, rules: Sequence[PermissionRule], profiles: Profiles) -> None:
        self._rules = tuple(rules)
        self._index = AllowRules([rule.rule_content for rule in rules], profiles)

    def find(self, value: Input) -> PermissionRule | None:
        """The rule of the first part, if every part has one."""
        command = _command(value)
        covering = self._index.covering(command) if command is not None else ""
        return None if isinstance(covering, str) else self._rules[covering[0]]


class _BlockCommands:
    """Deny or ask rules: any part of the command is enough."""

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._rules = tuple(rules)
        self._index = DenyRules([rule.rule_content for rule in rules])

    def find(self, value: Input) -> PermissionRule | None:
        """The first rule that matches; any rule at all if the command can't be read."""
        command = _command(value)
        first = 0 if command is None else self._index.first(command)
        return None if first is None else self._rules[first]


def _command(value: Input) -> str | None:
    """The command, empty if there is none; none if it is not text."""
    command = value.get("command", "")
    return command if isinstance(command, str) else None


def _only_reads(command: str, profiles: Profiles) -> bool:
    return bool(command) and not _is_cut_wrongly(command) and is_read_only(command, profiles)


def _is_cut_wrongly(command: str) -> bool:
    """Several commands in one line, not in plain ASCII: the reference cuts them apart at the
    wrong places, asks about some and offers other rules."""
    return not command.isascii() and any(operator in command for operator in (";", "|", "&"))


def _is_offered_by_reference(content: str) -> bool:
    """The reference offers two words and what follows them, or nothing."""
    words = content.removesuffix(":*").removesuffix(" *").split()
    return len(words) > 1 and words[0] not in _NEVER_OFFERED
