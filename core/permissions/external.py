"""Permissions of tools that people carry out."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.permissions.arguments import argument_index, check_argument_rule
from core.permissions.opinions import NO_OPINION, allowed
from core.permissions.rules import PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex


@dataclass(frozen=True, slots=True)
class ExternalPermissions:
    """A task for people, or a question to them.

    Attributes:
        read_only: asking changes nothing (a question to the requester).
        declared: the operator declared it as a task, so handing it out needs no second person:
            whoever claims it decides. Not declared, it is asked like any function.
    """

    name: str
    read_only: bool = False
    declared: bool = False

    def check_read_only(self, value: Input) -> bool:
        """As declared."""
        return self.read_only

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """Allowed if the operator declared the task."""
        if self.declared:
            return allowed("The operator declared this task; the person who takes it decides")
        return NO_OPINION

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
        """Nothing: people are asked to do it anyway."""
        return []
