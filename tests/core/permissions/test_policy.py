"""Faults of a policy, found when it is loaded."""

import pytest

from core.policy import Gate, Gates, OperatorRule, Policy, check_policy
from tests.core.permissions.samples import function, gate, policy, rule, write

TOOLS = [function("refund"), write()]


def test_a_sound_policy_has_no_fault() -> None:
    """Gates and rules over tools that exist, with patterns they can read."""
    sound = policy(
        gate("refunds", "refund(amount>100)", "Write(/etc/**)"),
        rules=[OperatorRule(rule("allow", "refund", "amount<5"), frozenset({"refunds"}))],
    )

    assert check_policy(sound, TOOLS) == []


@pytest.mark.parametrize(
    "broken",
    [
        policy(gate("g", "refnd")),
        policy(gate("g", "refund(")),
        policy(gate("g", "refund(amount~5)")),
        policy(gate("g")),
        policy(gate("g", "Write(src/)")),
        policy(rules=[OperatorRule(rule("allow", "nothing"))]),
        policy(rules=[OperatorRule(rule("deny", "refund", "?"))]),
        policy(rules=[OperatorRule(rule("allow", "refund"), frozenset({"g"}))]),
        policy(gate("g", "refund"), rules=[OperatorRule(rule("ask", "refund"), frozenset({"g"}))]),
    ],
)
def test_what_can_never_work_is_a_fault(broken: Policy) -> None:
    """It is said at the start, with a remedy, not discovered at night."""
    faults = check_policy(broken, TOOLS)

    assert faults
    assert all(fault.reason and fault.remedy and fault.where for fault in faults)


def test_all_faults_are_reported_at_once() -> None:
    """One start, one list."""
    broken = Policy(
        Gates(Gate("default", "all"), (gate("a", "nope"), gate("b", "refund(x)"))),
        rules=(OperatorRule(rule("allow", "none")),),
    )

    assert len(check_policy(broken, TOOLS)) == 3
