"""Rules as people write them: `Bash(git status:*)`, `Write(src/**)`, `mcp__github__*`, `Read`.

A rule is a tool's name and, in parentheses, a pattern over its input. What the pattern means is
the tool's business (`ToolPermissions.check_rule`): a command, a path, or conditions on arguments.
A name that ends in `*` stands for every tool whose name begins so.
"""

from core.errors import RuleRefused
from core.permissions.rules import PermissionBehavior, PermissionRule

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:*")
_FORM = "Write a tool's name, or a name and a pattern: Read, Bash(git status:*), mcp__github__*."


def parse_rule(text: str, behavior: PermissionBehavior, source: str) -> PermissionRule:
    """Read a rule string. The pattern is taken as it stands; the tool checks it.

    Raises:
        RuleRefused: it is no rule string, or an allow rule for every tool there is.
    """
    name, pattern = split_rule(text)
    if behavior is PermissionBehavior.ALLOW and not name.rstrip("*"):
        raise RuleRefused(
            "An allow rule for every tool is not a rule.", "Name the tool, or one server's tools."
        )
    return PermissionRule(tool_name=name, rule_content=pattern, behavior=behavior, source=source)


def split_rule(text: str) -> tuple[str, str | None]:
    """The tool's name and the pattern of a rule string; no pattern is every call of the tool.

    Raises:
        RuleRefused: it is no rule string.
    """
    name, opened, rest = text.strip().partition("(")
    if not name or not _NAME_CHARACTERS.issuperset(name):
        raise RuleRefused("This rule names no tool.", _FORM)
    if "*" in name[:-1]:
        raise RuleRefused("A tool's name can hold one * only, as its last character.", _FORM)
    if not opened:
        return name, None
    if not rest.endswith(")"):
        raise RuleRefused("The pattern is not closed by a parenthesis.", _FORM)
    pattern = rest[:-1]
    if not pattern.strip():
        raise RuleRefused("The parentheses are empty.", f"For every call of the tool write {name}.")
    return name, pattern


def print_rule(rule: PermissionRule) -> str:
    """The rule string of a rule; `parse_rule` reads it back."""
    if not rule.rule_content:
        return rule.tool_name
    return f"{rule.tool_name}({rule.rule_content})"


def covers_name(pattern: str, name: str) -> bool:
    """Whether the tool name of a rule stands for this tool: the same name, or a `*` at its end."""
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    return pattern == name
