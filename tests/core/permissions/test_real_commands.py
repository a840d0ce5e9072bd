"""Lines that agents really ran: allowed under the rule a person would write, not by our offers."""

from typing import Any

import pytest

from core.permissions.profiles import Profiles
from core.permissions.profiles.suggestions import suggest_shell_rules
from core.permissions.shell.rules import AllowRules
from tests.cases import rows

ROWS = rows("real_commands.jsonl")
HARMLESS = [row for row in ROWS if row["harmless"] and row["natural_rule"]]
PROFILES = Profiles()

MISSES = {
    "crabbox image fsr-status ami-1234567890abcdef0 --region us-west-2 --json": (
        "a program of one company: its operator declares the profile"
    ),
    "nc -z 127.0.0.1 5900": "nc can send data anywhere; it gets no prefix rule",
    "aws ssm get-parameters-by-path --path"
    ' "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard"': (
        "the rule ends inside a quotation, so it is refused when it is saved"
    ),
}
"""Harmless lines that ask under their natural rule, and why."""


def content(rule: str) -> str:
    """``Bash(git log:*)`` → ``git log:*``."""
    return rule.removeprefix("Bash(").removesuffix(")")


def allowed(command: str, rules: list[str]) -> bool:
    return not isinstance(AllowRules(rules, PROFILES).covering(command), str)


def under_natural_rule(row: dict[str, Any]) -> bool:
    rules = [content(rule) for rule in [row["natural_rule"], *row["also_needed"]]]
    return allowed(row["command"], rules)


@pytest.mark.parametrize("row", HARMLESS, ids=[row["command"][:50] for row in HARMLESS])
def test_a_harmless_line_is_allowed_under_its_natural_rule(row: dict[str, Any]) -> None:
    """Every line but those of the table; a line of the table that passes has to leave it."""
    assert under_natural_rule(row) is (row["command"] not in MISSES)


def test_at_least_95_percent_of_the_harmless_lines_are_allowed() -> None:
    """62 of 65: asking too often trains people to press Approve."""
    passed = sum(map(under_natural_rule, HARMLESS))
    assert len(HARMLESS) == 65
    assert passed == len(HARMLESS) - len(MISSES)
    assert passed / len(HARMLESS) >= 0.95


def test_a_line_without_a_standing_rule_is_offered_none() -> None:
    """84 of 208 lines: deletes, deploys, free code, secrets."""
    without = [row["command"] for row in ROWS if row["natural_rule"] is None]
    assert len(without) == 84
    assert {text: suggest_shell_rules(text) for text in without if suggest_shell_rules(text)} == {}


def test_no_harmful_line_is_allowed_by_what_was_offered_for_others() -> None:
    """Someone ticks every offer of every other line: still nobody's delete runs."""
    offers = {row["command"]: suggest_shell_rules(row["command"]) for row in ROWS}
    let_through = []
    for row in ROWS:
        if not row["harmless"]:
            others = [r for text, rules in offers.items() if text != row["command"] for r in rules]
            if allowed(row["command"], others):
                let_through.append(row["command"])
    assert let_through == []


def test_most_harmless_lines_are_offered_a_rule_that_covers_them() -> None:
    """Ticking the offers of a card spares the next question for the same line."""
    offered = [row["command"] for row in HARMLESS if suggest_shell_rules(row["command"])]
    assert len(offered) >= 48
    for text in offered:
        assert allowed(text, suggest_shell_rules(text)), text


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("echo:*", 'echo "exit: $?"', True),
        ("echo:*", 'echo "\\$? $?x"', True),
        ("echo:*", 'echo "$??"', True),
        ("echo:*", 'echo "$HOME"', False),
        ("echo:*", 'echo "$?$(id)"', False),
        ("echo:*", "echo $?", False),
        ("grep:*", 'grep -vE "^$|(a$)|b$" f', True),
        ("grep:*", 'grep "a$HOME$" f', False),
        ("grep:*", 'grep "a$(id)$" f', False),
        ("cat:*", 'cat "f$?"', False),
        ("cat f$?", 'cat "f$?"', False),
        ("cat /srv/app/:*", "cat /srv/app/docs/x.md", True),
        ("cat /srv/app/:*", "cat /srv/app/../../etc/passwd", False),
        ("cat /srv/app/:*", "cat /srv/app/x /etc/passwd", False),
        ("cat /srv/app/:*", "cat /srv/app/.npmrc", False),
        ("cat /srv/app/:*", "cat /srv/app/*", False),
        ("cat /srv/app/:*", "cat /srv/apple", False),
        ("cat /srv/app/:*", "cat", False),
        ("touch tests/:*", "touch tests/x", False),
        ("uv run pytest:*", "uv run pytest tests -k x", True),
        ("uv run pytest:*", "uv run pytest -p evil", False),
        ("uv run:*", "uv run pytest", False),
        ("bun test:*", "bun test src/app.test.ts", True),
        ("command -v:*", "command -v node", True),
        ("command:*", "command -v node", False),
        ("python --version:*", "python --version -c 1", False),
    ],
)
def test_what_the_natural_rules_reach(rule: str, command: str, *, covered: bool) -> None:
    """An exit status in what is printed, one path of a directory, one certain runner; no more."""
    assert allowed(command, [rule]) is covered
