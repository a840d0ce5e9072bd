"""Rules as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RuleRefused
from core.permissions.rule_strings import covers_name, parse_rule, print_rule
from core.permissions.rules import PermissionBehavior


@pytest.mark.parametrize(
    ("text", "name", "content"),
    [
        ("Read", "Read", None),
        ("Bash(git status:*)", "Bash", "git status:*"),
        ("Write(src/**)", "Write", "src/**"),
        ("mcp__github__*", "mcp__github__*", None),
        ("refund(amount<=100, currency=EUR)", "refund", "amount<=100, currency=EUR"),
        ("Bash(echo (a))", "Bash", "echo (a)"),
        (" Read ", "Read", None),
    ],
)
def test_rules_are_read_and_written_back(text: str, name: str, content: str | None) -> None:
    """Parsing and printing are each other's reverse."""
    rule = parse_rule(text, PermissionBehavior.ALLOW, "operator")

    assert (rule.tool_name, rule.rule_content) == (name, content)
    assert print_rule(rule) == text.strip()


@pytest.mark.parametrize(
    "text", ["", "Bash(", "Bash()", "Bash( )", "Bash(x", "(x)", "a b", "mcp__*__x", "Bäsh", "*"]
)
def test_what_is_no_allow_rule_is_refused_with_a_remedy(text: str) -> None:
    """Among them: every tool there is."""
    with pytest.raises(RuleRefused) as refused:
        parse_rule(text, PermissionBehavior.ALLOW, "operator")

    assert refused.value.remedy


def test_everything_may_be_asked_about() -> None:
    """A star alone denies or asks."""
    assert parse_rule("*", PermissionBehavior.ASK, "operator").tool_name == "*"


@given(st.text(st.sampled_from("ab_*"), min_size=1), st.text(st.sampled_from("ab_"), min_size=1))
def test_a_name_covers_itself_and_a_star_what_begins_so(pattern: str, name: str) -> None:
    """Nothing else is a pattern in a name."""
    begins = pattern.endswith("*") and name.startswith(pattern[:-1])

    assert covers_name(pattern, name) == (pattern == name or begins)
