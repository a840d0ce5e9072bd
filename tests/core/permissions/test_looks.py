"""Commands that only look dangerous to a search in their text: who may answer the safety ask."""

import pytest

from core.permissions.engine import Verdict, compile_context, judge
from core.permissions.rules import AutoRunMode, PermissionBehavior, PermissionRule
from tests.conformance.place import reference_place
from tests.core.permissions.samples import context, policy

LOOKS = [
    ("git for-each-ref --format='%(refname)'", "git for-each-ref:*"),
    ("sed -n 1,5p notes.txt | cat -A", "sed -n:*"),
]


def verdict(command: str, *contents: str | None, mode: AutoRunMode | None = None) -> Verdict:
    rules = [
        PermissionRule(
            tool_name="Bash", rule_content=each, behavior=PermissionBehavior.ALLOW, source="person"
        )
        for each in contents
    ]
    rulebook = compile_context(context(rules), policy(), mode or AutoRunMode.USE_ALLOWLIST)
    with reference_place() as place:
        return judge(rulebook, place.tool("bash"), {"command": command})


@pytest.mark.parametrize(("command", "rule"), LOOKS)
def test_a_rule_that_names_the_program_answers_it(command: str, rule: str) -> None:
    """The rule covers every part, option by option."""
    assert verdict(command, rule, "cat -A").behavior is PermissionBehavior.ALLOW


@pytest.mark.parametrize(("command", "rule"), LOOKS)
def test_neither_a_rule_for_the_tool_nor_a_mode_answers_it(command: str, rule: str) -> None:
    """Nor a rule for another program."""
    assert verdict(command).bypass_immune
    assert verdict(command, None).bypass_immune
    assert verdict(command, "git status:*").bypass_immune
    assert verdict(command, mode=AutoRunMode.RUN_EVERYTHING).bypass_immune


@pytest.mark.parametrize(
    "command",
    ["npm run format", "format c:", "sed -n 1w/tmp/x f | cat -A", "sed -n 1p .env -i | cat -A"],
)
def test_a_real_danger_is_answered_by_no_rule(command: str) -> None:
    """However exactly it names the command."""
    assert verdict(command, command, "npm run:*", "sed -n:*", "cat -A").behavior is not (
        PermissionBehavior.ALLOW
    )
