"""Which named departure makes a row stricter: a rule over the row and our verdict, never its id.

The names are those of the table in core/README.md.
"""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from core.errors import RuleRefused
from core.permissions.arguments import parse_conditions
from core.permissions.engine import Verdict
from core.permissions.shell.words import NotPlain, read_commands
from tests.conformance.outcome import Row

PATH_TOOLS = frozenset({"read", "write", "edit", "glob", "grep"})
ARGUMENT_TOOLS = frozenset({"function", "ask_user", "powershell"})

Test = Callable[[Row, Verdict], bool]


def departure(row: Row, verdict: Verdict) -> str | None:
    """The name of the departure, or none."""
    return next((name for name, test in DEPARTURES if test(row, verdict)), None)


def _kind(row: Row) -> str:
    return str(row["tool"]["kind"])


def _blocked(verdict: Verdict) -> bool:
    return verdict.cause in ("deny_rule", "ask_rule")


def _content(verdict: Verdict) -> str:
    return (verdict.rule.rule_content if verdict.rule else None) or ""


def _readable(content: str) -> bool:
    try:
        return bool(parse_conditions(content))
    except RuleRefused:
        return False


def reference_covers(content: str | None, command: str) -> bool:
    """Whether the reference's matcher for commands says yes: prefix, wildcard or substring."""
    if not content:
        return True
    if content.endswith(":*"):
        prefix = content[:-2].strip()
        return command == prefix or command.startswith(prefix + " ")
    if re.search(r"(?<!\\)\*", content):
        stem = content.endswith(" *") and command == content[:-2]
        return stem or fnmatchcase(command, content.replace("[", "[[]").replace("?", "[?]"))
    return content.replace("\\*", "*") in command


def covers_same_words(content: str | None, command: str) -> bool:
    """Whether the reference's matcher says yes to the same words, written with single blanks.

    Spacing and quotes do not change what bash runs, so this is not looser (the security cases
    ask for it: `git  status` under `git status:*`).
    """
    try:
        parts = read_commands(command)
    except NotPlain:
        return False
    return all(reference_covers(content, " ".join(part.argv)) for part in parts)


def _allowed_by_rule_there(row: Row) -> bool:
    """The reference allowed it because an allow rule matched the text."""
    return row["expect"]["behavior"] == "allow" and any(
        rule["behavior"] == "allow" and reference_covers(rule["rule_content"], _command(row))
        for rule in row["rules"]
    )


def _edited_there(row: Row) -> bool:
    """The reference allowed it as an edit: it looks at the first word alone."""
    edits = ("mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed")
    return row["mode"] in ("accept_edits", "dont_ask") and _command(row).split()[:1] in [
        [each] for each in edits
    ]


def _command(row: Row) -> str:
    return str(row["input"].get("command", ""))


def _is_bash(row: Row) -> bool:
    return _kind(row) == "bash"


DEPARTURES: tuple[tuple[str, Test], ...] = (
    ("tool-denial-holds", lambda row, verdict: verdict.cause == "tool"),
    (
        "families-block",
        lambda row, verdict: (
            _blocked(verdict) and verdict.rule is not None and verdict.rule.tool_name.endswith("*")
        ),
    ),
    (
        "unreadable-blocks",
        lambda row, verdict: (
            _blocked(verdict) and _kind(row) in ARGUMENT_TOOLS and not _readable(_content(verdict))
        ),
    ),
    (
        "conditions-block",
        lambda row, verdict: _blocked(verdict) and _kind(row) in ARGUMENT_TOOLS,
    ),
    ("search-below", lambda row, verdict: _blocked(verdict) and _kind(row) in ("glob", "grep")),
    ("real-paths", lambda row, verdict: _blocked(verdict) and _kind(row) in PATH_TOOLS),
    (
        "links-to-sensitive",
        lambda row, verdict: verdict.cause == "safety" and _kind(row) in ("write", "edit"),
    ),
    (
        "secrets-are-not-just-read",
        lambda row, verdict: (
            _kind(row) in ("read", "glob", "grep")
            and verdict.cause in ("mode", "explore")
            and row["expect"]["behavior"] == "allow"
        ),
    ),
    (
        "real-paths",
        lambda row, verdict: (
            _kind(row) in PATH_TOOLS
            and verdict.cause == "mode"
            and any(rule["behavior"] == "allow" and rule["rule_content"] for rule in row["rules"])
        ),
    ),
    ("smuggled-commands", lambda row, verdict: _is_bash(row) and _blocked(verdict)),
    ("safety-sees-more", lambda row, verdict: _is_bash(row) and verdict.cause == "safety"),
    (
        "empty-allows-nothing",
        lambda row, verdict: (
            verdict.cause == "mode"
            and any(
                (each["rule_content"], each["behavior"]) == ("", "allow") for each in row["rules"]
            )
        ),
    ),
    (
        "explore-only-reads",
        lambda row, verdict: verdict.cause == "explore" and row["expect"]["behavior"] == "ask",
    ),
    (
        "read-only-by-profile",
        lambda row, verdict: _is_bash(row) and verdict.cause == "explore",
    ),
    (
        "words-not-text",
        lambda row, verdict: (
            _is_bash(row) and verdict.cause == "mode" and _allowed_by_rule_there(row)
        ),
    ),
    (
        "edits-in-every-part",
        lambda row, verdict: _is_bash(row) and verdict.cause == "mode" and _edited_there(row),
    ),
    (
        "read-only-by-profile",
        lambda row, verdict: (
            _is_bash(row) and verdict.cause == "mode" and row["expect"]["behavior"] == "allow"
        ),
    ),
)
