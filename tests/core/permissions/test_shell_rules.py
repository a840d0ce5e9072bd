"""Allow rules cover every part or nothing; what may be saved is decided when it is saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import RuleRefused
from core.permissions import profiles
from core.permissions.profiles import Profiles, profile_from_config
from core.permissions.rules import PermissionBehavior
from core.permissions.shell.denial import DenyRules
from core.permissions.shell.rules import AllowRules, check_rule

CASES = Path(__file__).parents[2] / "cases" / "security_cases.jsonl"
ROWS: list[dict[str, Any]] = [
    row for row in map(json.loads, CASES.read_text().splitlines()) if row["class"] == "shell_rule"
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_commands_are_judged_as_a_careful_person_would(row: dict[str, Any]) -> None:
    """Every row: deny first, then allow if every part is covered, else ask."""
    asked = row["input"]

    denied = DenyRules(asked["deny"]).first(asked["command"]) is not None
    covered = isinstance(AllowRules(asked["allow"], profiles).covering(asked["command"]), tuple)
    verdict = "deny" if denied else "allow" if covered else "ask"

    assert verdict == row["expected"] or (row["expected"] == "not_allow" and verdict != "allow")


def _covers(rules: list[str | None], command: str) -> bool:
    return isinstance(AllowRules(rules, profiles).covering(command), tuple)


def test_the_covering_rules_are_named_once_and_in_order() -> None:
    """Whoever explains a verdict needs to know which rules made it."""
    rules = AllowRules(["ls *", "npm test", "git status:*"], profiles)

    assert rules.covering("git status && ls -l | ls; npm test") == (0, 1, 2)


def test_a_part_without_a_rule_leaves_the_whole_command_uncovered() -> None:
    """The answer says which program has no rule."""
    why = AllowRules(["git status:*"], profiles).covering("git status && curl x")

    assert isinstance(why, str)
    assert "curl" in why


def test_a_rule_for_the_whole_tool_covers_what_can_not_be_read() -> None:
    """The operator said: everything. Deny rules and safety asks come before it."""
    assert _covers([None], "ls $(id) & x\ny")


@pytest.mark.parametrize(
    ("rule", "covered", "not_covered"),
    [
        ("npm test", ["npm test", "npm 'test'"], ["npm", "npm test x", "npm tests", "NPM test"]),
        (
            "find . -name '*.py'",
            ["find . -name \\*.py"],
            ["find . -name *.py", "find . -name a.py"],
        ),
        ("ls a?", ["ls a?"], ["ls ab", "ls 'a?'"]),
        ("git status *", ["git status", "git status -s"], ["git", "git stash", "git -C x status"]),
        ("npm run test*", ["npm run test", "npm run test:a"], ["npm run test a", "npm run build"]),
        ("git * origin", ["git push origin"], ["git origin", "git -c origin", "git a b origin"]),
        (
            "cat logs/*.log",
            ["cat logs/a.log"],
            ["cat logs/../x.log", "cat logs/a.txt", "cat a.log"],
        ),
        ("make --jobs=*", ["make --jobs=4"], ["make --jobs", "make -j"]),
        ("kubectl -n * get *", ["kubectl -n a get pods"], ["kubectl -n a delete pods"]),
    ],
)
def test_a_rule_covers_what_it_says(rule: str, covered: list[str], not_covered: list[str]) -> None:
    """Exact, prefix and wildcard rules, over words and not over text."""
    check_rule(rule, PermissionBehavior.ALLOW, profiles)

    assert [command for command in covered if not _covers([rule], command)] == []
    assert [command for command in not_covered if _covers([rule], command)] == []


REFUSED = (
    *("", "*", ":*", "**", " *", "git:*", "git *", "nosuchprogram:*", "curl *", "rm:*", "bash:*"),
    *("sudo ls:*", "env:*", "xargs *", "timeout 5 ls:*", "python3.11 *", "bash -c *", "./x:*"),
    *(
        "/bin/ls *",
        "l* -a",
        "ls $x",
        "ls && pwd",
        "ls > f",
        "git -*",
        "git log --out* x",
        "a 'b*'*",
    ),
    *("ls [ab]*x*", "C:\\x*", "git log --output=x:*", "ls\n*"),
)


@pytest.mark.parametrize("content", REFUSED)
def test_a_void_or_open_allow_rule_is_refused_with_a_remedy(content: str) -> None:
    """It is refused when it is saved; if it is there all the same, it covers nothing."""
    with pytest.raises(RuleRefused) as caught:
        check_rule(content, PermissionBehavior.ALLOW, profiles)

    assert caught.value.reason
    assert caught.value.remedy
    for command in ("ls", "ls -a", "git push", "curl x", "bash -c id", "sudo ls", "rm x"):
        assert not _covers([content], command)


@pytest.mark.parametrize("content", ["C:\\x*", "foo \\q*", "\\d *", ":*"])
def test_a_broken_deny_pattern_is_refused_when_saved(content: str) -> None:
    """It never breaks an evaluation."""
    with pytest.raises(RuleRefused):
        check_rule(content, PermissionBehavior.DENY)

    DenyRules([content]).first("git status")


@pytest.mark.parametrize("content", [None, "", "rm", "rm:*", "* --force", "a\\*b*"])
def test_deny_and_ask_rules_may_be_as_wide_as_one_likes(content: str | None) -> None:
    """Width is no danger there."""
    check_rule(content, PermissionBehavior.DENY)
    check_rule(content, PermissionBehavior.ASK)


def test_any_flags_opens_one_program_and_never_a_shell() -> None:
    """An operator may say so for a program; it stays one program."""
    extra = profile_from_config({"command": "mytool", "any_flags": True})
    own = Profiles({extra.command: extra})
    check_rule("mytool:*", PermissionBehavior.ALLOW, own)

    rules = AllowRules(["mytool:*", "bash:*"], own)

    assert rules.covering("mytool --whatever x") == (0,)
    assert isinstance(rules.covering("mytool x; id"), str)
    assert isinstance(rules.covering("bash x"), str)
