"""Permissions of plain functions and of MCP servers' tools."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.permissions.arguments import argument_index, check_argument_rule
from core.permissions.opinions import NO_OPINION, suggested
from core.permissions.rules import PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex


@dataclass(frozen=True, slots=True)
class FunctionPermissions:
    """A tool with arguments and nothing more: rules are conditions on them.

    Attributes:
        read_only: as its author or the operator declares it; for an MCP tool the server's hint,
            and only from servers the operator trusts.
        own: the opinion its author gave it, if any.
    """

    name: str
    read_only: bool = False
    own: PermissionDecision = NO_OPINION

    def check_read_only(self, value: Input) -> bool:
        """As declared."""
        return self.read_only

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """As given."""
        return self.own

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse conditions that can't be read.

        Raises:
            RuleRefused: says what to write instead.
        """
        check_argument_rule(rule)

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """Conditions made ready."""
        return argument_index(rules)

    def suggest(self, value: Input) -> list[PermissionRule]:
        """The whole tool, as the reference does: what an argument means is not known here."""
        return [suggested(self.name, None)]
