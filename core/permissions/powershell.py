"""Permissions of PowerShell: nobody reads its commands here, so every one of them asks."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import RuleRefused
from core.permissions.opinions import NO_OPINION, unreadable
from core.permissions.rules import PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex


@dataclass(frozen=True, slots=True)
class PowerShellPermissions:
    """Rules for the whole tool only."""

    name: str

    def check_read_only(self, value: Input) -> bool:
        """Never: it can't be told."""
        return False

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """None, so it is asked."""
        return NO_OPINION

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse every pattern.

        Raises:
            RuleRefused: says what to write instead.
        """
        if rule.rule_content:
            raise RuleRefused(
                "PowerShell commands are not read, so no rule can be about some of them.",
                f"For every command write {self.name}.",
            )

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """No pattern can be read."""
        return unreadable(rules)

    def suggest(self, value: Input) -> list[PermissionRule]:
        """Nothing."""
        return []
