"""The permission engine: may this call run, must a person decide, or is it refused?

`judge` is a pure function of rules, policy, modes and the call. The order of its steps is that of
agentscope 2.0, made stricter where `core/README.md` names a departure.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from core.permissions.rule_strings import print_rule
from core.permissions.rulebook import (
    Rulebook,
    ToolRules,
    compile_context,
    gate_for,
    matcher_for,
    matching_gate,
)
from core.permissions.rules import (
    AutoRunMode,
    PermissionBehavior,
    PermissionMode,
    PermissionRule,
)
from core.policy import Gate
from core.tools import Input, PermissionDecision, Tool

__all__ = [
    "Rulebook",
    "Verdict",
    "compile_context",
    "gate_for",
    "judge",
    "matcher_for",
]

ALLOW = PermissionBehavior.ALLOW
DENY = PermissionBehavior.DENY
ASK = PermissionBehavior.ASK

Cause = Literal[
    "deny_rule",
    "tool",
    "gate",
    "explore",
    "ask_rule",
    "read_only",
    "safety",
    "allow_rule",
    "confirmation",
    "auto_run",
    "mode",
    "failure",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to happen to a call, and why.

    Attributes:
        behavior: allow, deny or ask.
        message: for the model; it sees the one of a denial.
        reason: for people: the rule, gate, mode or check that made it.
        cause: the step that made it, for records and metrics.
        suggested_rules: to offer beside the question; only rules that would answer it next time.
        bypass_immune: a safety ask, which allow rules and `run_everything` can't silence.
        rule: the rule that made it, if one did.
        gate: who decides an ask; the gate that denied, if one did.
    """

    behavior: PermissionBehavior
    message: str
    reason: str
    cause: Cause
    suggested_rules: tuple[PermissionRule, ...] = ()
    bypass_immune: bool = False
    rule: PermissionRule | None = None
    gate: Gate | None = None


def judge(rulebook: Rulebook, tool: Tool, value: Input) -> Verdict:
    """What is to happen to this call of this tool.

    A permission check that fails denies: an error never lets a call through.
    """
    try:
        call = _Call(rulebook, rulebook.rules_for(tool), tool, value)
        verdict = next(found for step in _STEPS if (found := step(call)) is not None)
        return _with_question(call, _confined(call, verdict))
    except Exception as failed:  # noqa: BLE001 - a tool's own check may fail in any way
        return Verdict(
            DENY,
            f"{tool.name} could not be checked, so it was not run.",
            f"The permission check failed: {type(failed).__name__}",
            "failure",
        )


class _Call:
    """One call to be judged, with what the steps share."""

    __slots__ = ("mode", "opinion", "read_only", "rulebook", "rules", "tool", "value")

    def __init__(self, rulebook: Rulebook, rules: ToolRules, tool: Tool, value: Input) -> None:
        self.rulebook = rulebook
        self.rules = rules
        self.tool = tool
        self.value = value
        self.mode = rulebook.context.mode
        # A check that was written async gives a coroutine, which is true; only True is.
        self.read_only = tool.permissions.check_read_only(value) is True
        opinion: PermissionDecision = tool.permissions.opinion(value, rulebook.context)
        self.opinion = replace(opinion, behavior=PermissionBehavior(opinion.behavior))

    def denied(self, why: str, reason: str, cause: Cause) -> Verdict:
        return Verdict(DENY, f"{self.tool.name} was not run: {why}.", reason, cause)

    def asked(self, reason: str, cause: Cause) -> Verdict:
        return Verdict(ASK, f"{self.tool.name} needs a person's approval.", reason, cause)

    def allowed(self, reason: str, cause: Cause) -> Verdict:
        return Verdict(ALLOW, f"{self.tool.name} may run.", reason, cause)


def _deny_rule(call: _Call) -> Verdict | None:
    rule = call.rules.deny.find(call.value)
    if rule is None:
        return None
    verdict = call.denied("a rule denies it", f"Deny rule {print_rule(rule)}", "deny_rule")
    return replace(verdict, rule=rule)


def _tool_denies(call: _Call) -> Verdict | None:
    """A tool's own denial holds, whatever the read-only flag or an ask rule says."""
    if call.opinion.behavior is not DENY:
        return None
    return Verdict(DENY, call.opinion.message, call.opinion.reason or "The tool refuses it", "tool")


def _gate(call: _Call) -> Verdict | None:
    gate = matching_gate(call.rules, call.value)
    if gate is None:
        return None
    if call.mode is PermissionMode.EXPLORE:
        verdict = call.denied(
            "people must decide it, and in explore mode nobody is asked",
            f"Gate {gate.name}, in explore mode",
            "gate",
        )
    else:
        verdict = call.asked(f"Gate {gate.name}", "gate")
    return replace(verdict, gate=gate)


def _explore(call: _Call) -> Verdict | None:
    if call.mode is not PermissionMode.EXPLORE or call.read_only:
        return None
    return call.denied(
        "explore mode is read-only", "Mode explore lets an agent only read", "explore"
    )


def _ask_rule(call: _Call) -> Verdict | None:
    rule = call.rules.ask.find(call.value)
    if rule is None:
        return None
    return replace(call.asked(f"Ask rule {print_rule(rule)}", "ask_rule"), rule=rule)


def _read_only(call: _Call) -> Verdict | None:
    return call.allowed("This call only reads", "read_only") if call.read_only else None


def _tool_allows(call: _Call) -> Verdict | None:
    if call.opinion.behavior is not ALLOW:
        return None
    return call.allowed(call.opinion.reason or "The tool sees no need to ask", "tool")


def _safety(call: _Call) -> Verdict | None:
    opinion = call.opinion
    if opinion.behavior is not ASK or not opinion.bypass_immune:
        return None
    if call.mode is PermissionMode.BYPASS or (opinion.yields and _is_named(call)):
        return None
    verdict = call.asked(opinion.reason or opinion.message, "safety")
    return replace(verdict, bypass_immune=True)


def _is_named(call: _Call) -> bool:
    """Whether a rule with a pattern allows this call."""
    lists = (call.rules.allow, call.rules.allowlist)
    return any(rules.find_by_pattern(call.value) is not None for rules in lists)


def _allow_rule(call: _Call) -> Verdict | None:
    rule = call.rules.allow.find(call.value)
    listed = ""
    if rule is None:
        rule = call.rules.allowlist.find(call.value)
        listed = " of the requester's allowlist"
    if rule is None:
        return None
    verdict = call.allowed(f"Allow rule {print_rule(rule)}{listed}", "allow_rule")
    return replace(verdict, rule=rule)


def _fallback(call: _Call) -> Verdict:
    if call.mode is PermissionMode.BYPASS:
        return call.allowed("Mode bypass", "mode")
    runs = call.rulebook.auto_run is AutoRunMode.RUN_EVERYTHING
    if runs and call.mode is not PermissionMode.DONT_ASK:
        return call.allowed("The requester's auto-run mode run_everything", "auto_run")
    return call.asked(f"No rule covers it, mode {call.mode}", "mode")


_STEPS: tuple[Callable[[_Call], Verdict | None], ...] = (
    _deny_rule,
    _tool_denies,
    _gate,
    _explore,
    _ask_rule,
    _read_only,
    _tool_allows,
    _safety,
    _allow_rule,
    _fallback,
)


def _confined(call: _Call, verdict: Verdict) -> Verdict:
    """The verdict under what only ever makes it stricter."""
    if verdict.behavior is ALLOW and call.tool.traits.requires_confirmation:
        verdict = call.asked("This tool always needs a confirmation", "confirmation")
    if verdict.behavior is ALLOW and call.rulebook.auto_run is AutoRunMode.ASK_EVERY_TIME:
        verdict = call.asked("The requester's auto-run mode ask_every_time", "auto_run")
    if verdict.behavior is ASK and call.mode is PermissionMode.DONT_ASK:
        return replace(
            verdict,
            behavior=DENY,
            message=f"{call.tool.name} was not run: it needs a person, and nobody is there to ask.",
            reason=f"{verdict.reason}; mode dont_ask asks nobody",
        )
    return verdict


def _with_question(call: _Call, verdict: Verdict) -> Verdict:
    """An ask goes to its gate, with those rules on offer that would answer it next time."""
    if verdict.behavior is not ASK:
        return verdict
    gate = verdict.gate or call.rulebook.policy.gates.default
    offered = call.tool.permissions.suggest(call.value) if _would_help(call, verdict) else []
    return replace(verdict, gate=gate, suggested_rules=tuple(offered))


def _would_help(call: _Call, verdict: Verdict) -> bool:
    """Whether an accepted allow rule would answer the same call next time."""
    asks_anyway = call.rulebook.auto_run is AutoRunMode.ASK_EVERY_TIME
    return verdict.cause == "mode" and not (asks_anyway or call.tool.traits.requires_confirmation)
