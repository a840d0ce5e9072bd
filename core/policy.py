"""The operator's policy: gates, rules, caps on modes, and where cards go.

A gate is a rule that makes a call ask, and says who decides it, how many of them and until when.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Literal

from core.errors import RuleRefused
from core.permissions.rule_strings import covers_name, parse_rule, split_rule
from core.permissions.rules import (
    AutoRunMode,
    PermissionBehavior,
    PermissionMode,
    PermissionRule,
)
from core.permissions.wildcards import is_literal, literal_prefix
from core.tools import Risk, Tool

OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Escalation:
    """Others who may decide too, once nobody has for a while."""

    after: timedelta
    to: str


@dataclass(frozen=True, slots=True)
class Gate:
    """Who decides a call, how many of them, until when.

    Attributes:
        matches: rule strings; the gate is about every call that one of them covers.
        approvers: name of a set of people.
        quorum: different people who must approve.
        timeout: how long the question stays open; then the call expires.
        remind: when to ask again, counted from the question.
        risk: what the card says; none is the tool's own.
        grant_lifetime: how long an approval can wait to be used.
        unknown_timeout: how long people may take to say what became of a lost run.
        second_person_for_edits: an edited call always needs another approver than its editor.
        route: name of a route for its cards; none is the default.
    """

    name: str
    approvers: str
    matches: tuple[str, ...] = ()
    quorum: int = 1
    timeout: timedelta = timedelta(hours=1)
    remind: tuple[timedelta, ...] = ()
    escalate: Escalation | None = None
    risk: Risk | None = None
    grant_lifetime: timedelta = timedelta(seconds=60)
    unknown_timeout: timedelta = timedelta(hours=24)
    second_person_for_edits: bool = False
    route: str | None = None


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates; `default` decides what no other gate is about."""

    default: Gate
    listed: tuple[Gate, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorRule:
    """A rule of the operator. An allow rule that names gates passes them."""

    rule: PermissionRule
    passes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ModeCap:
    """The loosest modes that an agent, a channel, or both together may have; none caps nothing."""

    agent: str | None = None
    channel: str | None = None
    mode: PermissionMode | None = None
    auto_run: AutoRunMode | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the operator has decided, of one revision.

    Attributes:
        revision: rises with every change; calls remember under which one they were judged.
        routes: where cards go, by name: surface to channel.
        self_approval: whether requesters may approve their own calls.
    """

    gates: Gates
    rules: tuple[OperatorRule, ...] = ()
    caps: tuple[ModeCap, ...] = ()
    routes: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    self_approval: Literal["never", "low_risk"] = "never"
    revision: int = 0


# By what runs without a person. `dont_ask` edits in the working directories as `accept_edits`
# does, so it is looser than `default`, although it never asks.
_MODES = (
    PermissionMode.EXPLORE,
    PermissionMode.DEFAULT,
    PermissionMode.DONT_ASK,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.BYPASS,
)
_AUTO_RUN_MODES = (
    AutoRunMode.ASK_EVERY_TIME,
    AutoRunMode.USE_ALLOWLIST,
    AutoRunMode.RUN_EVERYTHING,
)


@dataclass(frozen=True, slots=True)
class Modes:
    """The two modes that a call is judged under: the agent's and the requester's."""

    agent: PermissionMode = PermissionMode.DEFAULT
    auto_run: AutoRunMode = AutoRunMode.USE_ALLOWLIST


def capped(policy: Policy, modes: Modes, agent: str | None, channel: str | None) -> Modes:
    """The modes, lowered to every cap of the policy that is about this agent and channel."""
    mode, auto_run = modes.agent, modes.auto_run
    for cap in policy.caps:
        if cap.agent not in (None, agent) or cap.channel not in (None, channel):
            continue
        mode = min(mode, cap.mode or mode, key=_MODES.index)
        auto_run = min(auto_run, cap.auto_run or auto_run, key=_AUTO_RUN_MODES.index)
    return Modes(mode, auto_run)


def gate_rules(gates: Gates) -> list[tuple[Gate, PermissionRule]]:
    """Every rule of every gate, most specific first; alike, the stricter gate.

    A rule string that can't be read is a rule for every call: a gate never opens by a mistake.
    """
    pairs = [(gate, _gate_rule(gate, match)) for gate in gates.listed for match in gate.matches]
    return sorted(pairs, key=lambda pair: (_breadth(pair[1]), -pair[0].quorum, pair[0].name))


def _gate_rule(gate: Gate, match: str) -> PermissionRule:
    try:
        return parse_rule(match, PermissionBehavior.ASK, f"gate:{gate.name}")
    except RuleRefused:
        return PermissionRule(
            tool_name="*",
            rule_content=None,
            behavior=PermissionBehavior.ASK,
            source=f"gate:{gate.name}",
        )


def _breadth(rule: PermissionRule) -> tuple[int, int, int]:
    """Small for narrow rules: a named tool before a family, a pattern before none, a long one
    before a short one."""
    content = rule.rule_content or ""
    literal = literal_prefix(content.removesuffix(":*"))
    wild_name = len(rule.tool_name) if rule.tool_name.endswith("*") else 1_000
    return (-wild_name, -len(literal), -len(content))


def is_about_less(narrow: PermissionRule, broad: PermissionRule) -> bool:
    """Whether a rule is about a part of what another one is about, as far as the texts show it."""
    if not covers_name(broad.tool_name, narrow.tool_name):
        return False
    inner, outer = narrow.rule_content or "", broad.rule_content or ""
    if not outer or inner == outer:
        return True
    for ending in (":*", " *"):
        if outer.endswith(ending):
            stem = outer.removesuffix(ending)
            return f"{inner.removesuffix(ending)} ".startswith((f"{stem} ", f"{stem}:"))
    if is_literal(outer):
        return inner.startswith(outer)
    return fnmatchcase(inner, outer)


@dataclass(frozen=True, slots=True)
class PolicyFault:
    """Something in the policy that can't work, for the person who wrote it."""

    where: str
    reason: str
    remedy: str


def check_policy(policy: Policy, tools: Iterable[Tool]) -> list[PolicyFault]:
    """Everything in gates and rules that can't work with these tools."""
    known = list(tools)
    faults: list[PolicyFault] = []
    for gate in policy.gates.listed:
        for match in gate.matches or ("",):
            faults += _check_rule_string(f"gate {gate.name}", match, known)
    for each in policy.rules:
        name = each.rule.tool_name
        faults += _check_rule(f"rule for {name}", each.rule, known)
        faults += _check_passes(each, policy.gates)
    return faults


def _check_rule_string(where: str, match: str, tools: Sequence[Tool]) -> list[PolicyFault]:
    try:
        split_rule(match)
        rule = parse_rule(match, PermissionBehavior.ASK, OPERATOR)
    except RuleRefused as refused:
        return [PolicyFault(where, refused.reason, refused.remedy)]
    return _check_rule(where, rule, tools)


def _check_rule(where: str, rule: PermissionRule, tools: Sequence[Tool]) -> list[PolicyFault]:
    covered = [tool for tool in tools if covers_name(rule.tool_name, tool.name)]
    if not covered:
        remedy = "Name a tool that an agent has."
        return [PolicyFault(where, f"No tool is called {rule.tool_name}.", remedy)]
    faults: list[PolicyFault] = []
    for tool in covered:
        try:
            tool.permissions.check_rule(rule)
        except RuleRefused as refused:
            faults.append(PolicyFault(where, refused.reason, refused.remedy))
    return faults


def _check_passes(each: OperatorRule, gates: Gates) -> list[PolicyFault]:
    unknown = sorted(each.passes - {gate.name for gate in gates.listed})
    where = f"rule for {each.rule.tool_name}"
    faults = [
        PolicyFault(where, f"There is no gate {name} to pass.", "Name a gate of the list.")
        for name in unknown
    ]
    if each.passes and each.rule.behavior is not PermissionBehavior.ALLOW:
        faults.append(
            PolicyFault(where, "Only an allow rule can pass a gate.", "Write allow, or no gate.")
        )
    return faults
