"""Permissions of file tools that know their directory: what leads outside is denied at once,
rather than asked about and then refused."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.permissions.rules import PermissionBehavior, PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex, ToolPermissions

_OUTSIDE = PermissionDecision(
    PermissionBehavior.DENY,
    "The path leads outside the workspace.",
    "The path leads outside the workspace",
)


@dataclass(frozen=True, slots=True)
class Confined:
    """Other permissions, for paths in one directory.

    Attributes:
        argument: which argument is the path; a call without it is about the directory itself.
    """

    inner: ToolPermissions
    root: Path
    argument: str = "file_path"

    def check_read_only(self, value: Input) -> bool:
        """As the inner ones say."""
        return self.inner.check_read_only(value)

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """A denial for what leads outside now; else the inner opinion."""
        path = value.get(self.argument, ".")
        if isinstance(path, str) and not self._is_inside(path):
            return _OUTSIDE
        return self.inner.opinion(value, context)

    def check_rule(self, rule: PermissionRule) -> None:
        """As the inner ones do.

        Raises:
            RuleRefused: says what to write instead.
        """
        self.inner.check_rule(rule)

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """The inner rules."""
        return self.inner.index(rules)

    def suggest(self, value: Input) -> list[PermissionRule]:
        """The inner offers."""
        return self.inner.suggest(value)

    def _is_inside(self, path: str) -> bool:
        try:
            real = os.path.realpath(self.root / path)
        except (OSError, ValueError):
            return False
        return Path(real).is_relative_to(self.root)
