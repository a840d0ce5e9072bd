"""What the permission engine answers, and in which order it asks itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from core.permissions.engine import compile_context, gate_for, judge
from core.permissions.opinions import NO_OPINION, safety_ask
from core.permissions.rules import (
    AutoRunMode,
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from core.policy import ModeCap, OperatorRule, Policy
from core.tools import Input, PermissionDecision, RuleIndex
from tests.core.permissions.samples import (
    SampleTool,
    context,
    function,
    gate,
    policy,
    rule,
    write,
)

MODES = list(PermissionMode)
TOOL_DENIES = PermissionDecision(PermissionBehavior.DENY, "no such table", "the table is locked")


@pytest.mark.parametrize("mode", MODES)
def test_a_deny_rule_beats_everything(mode: PermissionMode) -> None:
    """Allow rules, a read-only tool and any mode stand behind it."""
    rules = [rule("allow"), rule("deny"), rule("ask")]

    verdict = judge(compile_context(context(rules, mode), policy()), function(read_only=True), {})

    assert (verdict.behavior, verdict.cause) == ("deny", "deny_rule")
    assert verdict.rule == rule("deny")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rules", [[], [rule("ask")], [rule("allow")]], ids=["-", "ask", "allow"])
def test_a_tools_own_denial_holds(mode: PermissionMode, rules: list[PermissionRule]) -> None:
    """Neither a read-only flag nor an ask rule in front of it turns it into something weaker."""
    verdict = judge(
        compile_context(context(rules, mode), policy()),
        function(read_only=True, own=TOOL_DENIES),
        {},
    )

    assert (verdict.behavior, verdict.message) == ("deny", "no such table")


def test_explore_stays_read_only_even_if_an_ask_rule_is_about_the_call() -> None:
    """In explore nobody can be talked into a write."""
    explore = context([rule("ask")], PermissionMode.EXPLORE)

    verdict = judge(compile_context(explore, policy()), function(), {})

    assert (verdict.behavior, verdict.cause) == ("deny", "explore")


def test_an_allow_rule_does_not_silence_a_safety_ask() -> None:
    """It only ends by a person's answer, once at a time, so no rule is on offer."""
    tool = function(own=safety_ask("looks destructive"))

    verdict = judge(compile_context(context([rule("allow")]), policy()), tool, {})

    assert (verdict.behavior, verdict.bypass_immune) == ("ask", True)
    assert verdict.suggested_rules == ()


def test_rules_for_another_name_or_case_are_about_another_tool() -> None:
    """Names are exact, and a session can't allow a family of tools."""
    rules = [rule("allow", "FN"), rule("allow", "*"), rule("allow", "f*"), rule("allow", "other")]

    verdict = judge(compile_context(context(rules), policy()), function(), {})

    assert verdict.behavior == "ask"


def test_a_family_can_be_denied_by_anyone_and_allowed_by_the_operator() -> None:
    """`mcp__github__*` stands for all tools of that server."""
    tool = function("mcp__github__create_issue")
    family = rule("allow", "mcp__github__*")

    allowed = judge(compile_context(context(), policy(rules=[OperatorRule(family)])), tool, {})
    denied = judge(compile_context(context([rule("deny", "mcp__github__*")]), policy()), tool, {})

    assert (allowed.behavior, denied.behavior) == ("allow", "deny")


def test_a_passthrough_rule_is_no_rule() -> None:
    """It may stand anywhere in a context and says nothing."""
    given = PermissionContext(allow_rules={"fn": [rule("passthrough")]})

    assert judge(compile_context(given, policy()), function(), {}).behavior == "ask"


def test_an_ask_offers_what_would_answer_it_next_time() -> None:
    """The accepted rule, put into the context, allows the same call."""
    asked = judge(compile_context(context(), policy()), function(), {"x": 1})

    after = judge(compile_context(context(asked.suggested_rules), policy()), function(), {"x": 1})

    assert (asked.behavior, after.behavior) == ("ask", "allow")


@pytest.mark.parametrize(
    ("rules", "tool"),
    [
        ([rule("ask")], function()),
        ([], function(requires_confirmation=True)),
        ([], function(own=safety_ask("x"))),
    ],
    ids=["ask rule", "confirmation", "safety"],
)
def test_an_ask_that_no_rule_can_answer_offers_none(
    rules: list[PermissionRule], tool: SampleTool
) -> None:
    """Accepting it would change nothing, and people would wonder."""
    verdict = judge(compile_context(context(rules), policy()), tool, {})

    assert (verdict.behavior, verdict.suggested_rules) == ("ask", ())


def test_an_ask_that_no_gate_matches_goes_to_the_default_gate() -> None:
    """Every ask has somebody who decides it."""
    verdict = judge(compile_context(context(), policy(gate("refunds", "refund"))), function(), {})

    assert verdict.gate is not None
    assert verdict.gate.name == "default"


def test_the_most_specific_gate_decides() -> None:
    """A pattern before a name, a name before a family, whatever their order in the file."""
    gates = [
        gate("family", "pay*"),
        gate("large", "payout(amount>1000)"),
        gate("tool", "payout"),
    ]
    large, small, other = ("payout", 5000), ("payout", 5), ("pay_tax", 5000)

    for listed in (gates, gates[::-1]):
        book = compile_context(context(), policy(*listed))
        decided = [
            gate_for(book, function(name), {"amount": amount}).name
            for name, amount in (large, small, other)
        ]
        assert decided == ["large", "tool", "family"]


def test_of_gates_alike_the_one_with_the_larger_quorum_decides() -> None:
    """Two gates for the same calls: the stricter one."""
    book = compile_context(context(), policy(gate("a", "fn"), gate("b", "fn", quorum=2)))

    assert gate_for(book, function(), {}).name == "b"


def test_only_an_operators_rule_that_names_the_gate_passes_it() -> None:
    """The rule without the name, a session's rule and an allowlist stop at the gate."""
    gated = gate("g", "fn")
    allow = rule("allow", "fn", "x=1")
    named = policy(gated, rules=[OperatorRule(allow, frozenset({"g"}))])
    unnamed = policy(gated, rules=[OperatorRule(allow)])

    def answer(operator: Policy, value: Input) -> str:
        book = compile_context(context([rule("allow")]), operator, allowlist=[rule("allow")])
        return judge(book, function(), value).behavior

    assert answer(named, {"x": 1}) == "allow"
    assert answer(named, {"x": 2}) == "ask"
    assert answer(unnamed, {"x": 1}) == "ask"


def test_a_gate_that_can_not_be_read_gates_everything() -> None:
    """A mistake in the policy closes; it does not open."""
    book = compile_context(context([rule("allow")]), policy(gate("broken", "fn(")))

    verdict = judge(book, function(), {})

    assert (verdict.behavior, verdict.cause) == ("ask", "gate")


def test_a_cap_lowers_the_modes_of_its_agent_and_channel() -> None:
    """The looser mode gives way; elsewhere it stands."""
    capped_policy = Policy(
        policy().gates,
        caps=(
            ModeCap(agent="ops", channel="C1", mode=PermissionMode.DEFAULT),
            ModeCap(auto_run=AutoRunMode.USE_ALLOWLIST),
        ),
    )
    bypass = context(mode=PermissionMode.BYPASS)

    def answer(channel: str) -> str:
        book = compile_context(
            bypass, capped_policy, AutoRunMode.RUN_EVERYTHING, agent="ops", channel=channel
        )
        return judge(book, function(), {}).behavior

    assert (answer("C1"), answer("C2")) == ("ask", "allow")


@dataclass(frozen=True)
class FailingPermissions:
    """A tool whose own check is broken."""

    def check_read_only(self, value: Input) -> bool:
        raise RuntimeError("disk on fire")

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        return NO_OPINION

    def check_rule(self, rule: PermissionRule) -> None:
        return None

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        raise NotImplementedError

    def suggest(self, value: Input) -> list[PermissionRule]:
        return []


def test_a_check_that_fails_denies() -> None:
    """Also where everything else would allow."""
    bypass = context([rule("allow")], PermissionMode.BYPASS)

    verdict = judge(compile_context(bypass, policy()), SampleTool("fn", FailingPermissions()), {})

    assert (verdict.behavior, verdict.cause) == ("deny", "failure")
    assert "disk on fire" not in verdict.message


def test_a_rulebook_keeps_what_was_true_when_it_was_made() -> None:
    """Changing the context afterwards changes the next rulebook, not this one."""
    given = context()
    book = compile_context(given, policy())
    given.allow_rules["fn"] = [rule("allow")]

    assert judge(book, function(), {}).behavior == "ask"
    assert judge(compile_context(given, policy()), function(), {}).behavior == "allow"


def test_edits_in_a_working_directory_are_accepted_where_the_mode_says_so() -> None:
    """Outside of it they ask, and where the directory only seems to hold the file, too."""
    book = compile_context(
        context(mode=PermissionMode.ACCEPT_EDITS, directories=["/srv/proj"]), policy()
    )

    answers = [
        judge(book, write(), {"file_path": path}).behavior
        for path in ("/srv/proj/a", "a", "/srv/projx/a", "/srv/proj/../a", "/srv/proj/.env")
    ]

    assert answers == ["allow", "allow", "ask", "ask", "ask"]
