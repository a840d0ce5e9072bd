"""Rules, policy and modes of a session, made ready to judge many calls."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.permissions.rule_strings import covers_name
from core.permissions.rules import (
    AutoRunMode,
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
)
from core.policy import (
    Gate,
    Modes,
    OperatorRule,
    Policy,
    capped,
    gate_rules,
    is_about_less,
)
from core.tools import DivisiblePermissions, Input, RuleIndex, Tool

ALLOW = PermissionBehavior.ALLOW
DENY = PermissionBehavior.DENY
ASK = PermissionBehavior.ASK


@dataclass(frozen=True, slots=True)
class Matcher:
    """Rules of one behaviour for one tool: one that covers every call, and an index of the rest."""

    whole: PermissionRule | None = None
    index: RuleIndex | None = None

    def find(self, value: Input) -> PermissionRule | None:
        """The rule that covers this call, or none."""
        return self.whole if self.whole is not None else self.find_by_pattern(value)

    def find_by_pattern(self, value: Input) -> PermissionRule | None:
        """The rule whose pattern covers this call, or none."""
        return None if self.index is None else self.index.find(value)


@dataclass(frozen=True, slots=True)
class GateMatcher:
    """One rule of a gate."""

    gate: Gate
    rule: PermissionRule
    matcher: Matcher


@dataclass(frozen=True, slots=True)
class ToolRules:
    """All rules for one tool, made ready."""

    deny: Matcher
    ask: Matcher
    allow: Matcher
    allowlist: Matcher
    any_gate: Matcher
    gates: tuple[GateMatcher, ...]
    passes: Mapping[str, Matcher]
    divide: Callable[[Input], Sequence[Input]]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Rules, policy and modes of one session, ready to judge many calls.

    Tools are compiled when first judged, and then kept: make a new rulebook when rules, policy or
    modes change. Made by `compile_context`.
    """

    context: PermissionContext
    policy: Policy
    auto_run: AutoRunMode
    allowlist: tuple[PermissionRule, ...]
    _compiled: dict[str, tuple[Tool, ToolRules]] = field(
        default_factory=dict[str, tuple[Tool, ToolRules]], repr=False, compare=False
    )

    def rules_for(self, tool: Tool) -> ToolRules:
        """The rules for a tool, compiled once."""
        kept = self._compiled.get(tool.name)
        if kept is None or kept[0] is not tool:
            kept = (tool, _compile(self, tool))
            self._compiled[tool.name] = kept
        return kept[1]


def compile_context(
    context: PermissionContext,
    policy: Policy,
    auto_run: AutoRunMode = AutoRunMode.USE_ALLOWLIST,
    allowlist: Iterable[PermissionRule] = (),
    *,
    agent: str | None = None,
    channel: str | None = None,
) -> Rulebook:
    """A rulebook of what is true now; later changes of `context` do not reach it.

    `auto_run` and `allowlist` are the requester's; `agent` and `channel` find the caps that hold.
    """
    modes = capped(policy, Modes(context.mode, auto_run), agent, channel)
    frozen = PermissionContext(
        mode=modes.agent,
        working_directories=dict(context.working_directories),
        allow_rules={name: list(rules) for name, rules in context.allow_rules.items()},
        deny_rules={name: list(rules) for name, rules in context.deny_rules.items()},
        ask_rules={name: list(rules) for name, rules in context.ask_rules.items()},
    )
    return Rulebook(frozen, policy, modes.auto_run, tuple(allowlist))


def gate_for(rulebook: Rulebook, tool: Tool, value: Input) -> Gate:
    """Who decides this call: the most specific gate that matches, or the default."""
    return matching_gate(rulebook.rules_for(tool), value) or rulebook.policy.gates.default


def matching_gate(rules: ToolRules, value: Input) -> Gate | None:
    """The gate about this call: of each part the most specific, of those the strictest.

    So a call can't choose a laxer gate by doing one more thing. Gates that an operator's rule
    passes are left out.
    """
    if rules.any_gate.find(value) is None:
        return None
    about = [each for each in rules.gates if _holds(rules, each, value)]
    if len(about) > 1:
        about = _undisputed(about, rules.divide(value))
    strictest = min(about, key=lambda each: -each.gate.quorum, default=None)
    return None if strictest is None else strictest.gate


def _holds(rules: ToolRules, each: GateMatcher, value: Input) -> bool:
    if each.matcher.find(value) is None:
        return False
    passing = rules.passes.get(each.gate.name)
    return passing is None or passing.find(value) is None


def _undisputed(about: Sequence[GateMatcher], parts: Sequence[Input]) -> list[GateMatcher]:
    """Those that no narrower gate takes the place of, wherever they are about something."""
    kept: set[int] = set()
    unseen = set(range(len(about)))
    for part in parts:
        here = [at for at, each in enumerate(about) if each.matcher.find(part) is not None]
        unseen.difference_update(here)
        kept.update(at for at in here if not any(_yields(about[at], about[to]) for to in here))
    return [each for at, each in enumerate(about) if at in kept or at in unseen]


def _yields(each: GateMatcher, other: GateMatcher) -> bool:
    return is_about_less(other.rule, each.rule) and not is_about_less(each.rule, other.rule)


def _compile(rulebook: Rulebook, tool: Tool) -> ToolRules:
    context, operator, own = rulebook.context, rulebook.policy.rules, tool.permissions
    gates = [
        (gate, rule)
        for gate, rule in gate_rules(rulebook.policy.gates)
        if covers_name(rule.tool_name, tool.name)
    ]
    named = frozenset[str]().union(*(each.passes for each in operator))
    return ToolRules(
        deny=matcher_for(tool, [*_blocking(context.deny_rules, tool), *_of(operator, DENY, tool)]),
        ask=matcher_for(tool, [*_blocking(context.ask_rules, tool), *_of(operator, ASK, tool)]),
        allow=matcher_for(tool, [*_allowing(context, tool), *_of(operator, ALLOW, tool)]),
        allowlist=matcher_for(tool, _listed(rulebook.allowlist, tool)),
        any_gate=matcher_for(tool, [rule for _, rule in gates]),
        gates=tuple(GateMatcher(gate, rule, matcher_for(tool, [rule])) for gate, rule in gates),
        passes={
            name: matcher_for(
                tool, _of([each for each in operator if name in each.passes], ALLOW, tool)
            )
            for name in named
        },
        divide=own.parts if isinstance(own, DivisiblePermissions) else _whole,
    )


def _whole(value: Input) -> Sequence[Input]:
    return (value,)


def matcher_for(tool: Tool, rules: Sequence[PermissionRule]) -> Matcher:
    """Rules of one behaviour for this tool, made ready."""
    whole = next((rule for rule in rules if _covers_every_call(rule)), None)
    rest = [rule for rule in rules if rule.rule_content]
    return Matcher(whole, tool.permissions.index(rest) if rest else None)


def _covers_every_call(rule: PermissionRule) -> bool:
    """No pattern. An empty one is a mistake, and a mistake allows nothing."""
    return rule.rule_content is None or (rule.rule_content == "" and rule.behavior is not ALLOW)


def _blocking(rules: Mapping[str, Sequence[PermissionRule]], tool: Tool) -> list[PermissionRule]:
    """Deny or ask rules of a session: by the name they are filed under, or the one they bear."""
    return [
        rule if rule.behavior in (DENY, ASK) else rule.model_copy(update={"behavior": ASK})
        for name, filed in rules.items()
        for rule in filed
        if covers_name(name, tool.name) or covers_name(rule.tool_name, tool.name)
    ]


def _allowing(context: PermissionContext, tool: Tool) -> list[PermissionRule]:
    """Allow rules of a session, for this very tool: families are the operator's to allow."""
    return [
        rule
        for rule in context.allow_rules.get(tool.name, ())
        if rule.tool_name == tool.name and rule.behavior is ALLOW
    ]


def _listed(rules: Iterable[PermissionRule], tool: Tool) -> list[PermissionRule]:
    return [
        rule for rule in rules if rule.behavior is ALLOW and covers_name(rule.tool_name, tool.name)
    ]


def _of(
    rules: Iterable[OperatorRule], behavior: PermissionBehavior, tool: Tool
) -> list[PermissionRule]:
    return [
        each.rule
        for each in rules
        if each.rule.behavior is behavior and covers_name(each.rule.tool_name, tool.name)
    ]
