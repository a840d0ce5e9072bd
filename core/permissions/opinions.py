"""Opinions and small parts that the permissions of all tools are put together from."""

from collections.abc import Sequence

from core.permissions.rules import PermissionBehavior, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex

NO_OPINION = PermissionDecision(PermissionBehavior.PASSTHROUGH, "")


def allowed(reason: str) -> PermissionDecision:
    """The tool itself sees no need to ask."""
    return PermissionDecision(PermissionBehavior.ALLOW, "Permission granted.", reason)


def safety_ask(reason: str, *, yields: bool = False) -> PermissionDecision:
    """An ask that allow rules can't silence; with `yields`, only rules that name what they allow
    can."""
    return PermissionDecision(
        PermissionBehavior.ASK,
        f"This needs a person: {reason}",
        f"Safety check: {reason}",
        bypass_immune=True,
        yields=yields,
    )


def suggested(tool_name: str, content: str | None) -> PermissionRule:
    """An allow rule to offer beside a call."""
    return PermissionRule(
        tool_name=tool_name,
        rule_content=content,
        behavior=PermissionBehavior.ALLOW,
        source="suggested",
    )


class NothingCovered:
    """Rules that cover no call."""

    def find(self, value: Input) -> PermissionRule | None:
        """None of them does."""
        return None


class EverythingCovered:
    """Deny or ask rules that can't be read: they cover every call."""

    def __init__(self, rule: PermissionRule) -> None:
        self._rule = rule

    def find(self, value: Input) -> PermissionRule | None:
        """The first of them."""
        return self._rule


def unreadable(rules: Sequence[PermissionRule]) -> RuleIndex:
    """The index of rules whose content a tool can't read: allow covers nothing, deny and ask
    cover everything."""
    strict = next((rule for rule in rules if rule.behavior is not PermissionBehavior.ALLOW), None)
    return NothingCovered() if strict is None else EverythingCovered(strict)
