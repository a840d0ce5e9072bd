"""Permissions of search tools: Glob and Grep."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.permissions.opinions import NO_OPINION
from core.permissions.path_rules import check_path_rule, path_index
from core.permissions.paths import Paths, is_secret
from core.permissions.rules import PermissionContext, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex


@dataclass(frozen=True, slots=True)
class SearchPermissions:
    """Search below a directory: only reads, except in places that hold secrets.

    A rule is a path pattern over the directory searched; for Glob also over the names searched for.
    """

    name: str
    paths: Paths
    looks_at: Literal["names", "contents"]

    def check_read_only(self, value: Input) -> bool:
        """Searching is harmless unless it gives secrets to the model."""
        searched = self._searched(value)
        return searched is not None and not any(is_secret(each, self.paths) for each in searched)

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """None; what does not only read is asked."""
        return NO_OPINION

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse a path pattern that can't work.

        Raises:
            RuleRefused: says what to write instead.
        """
        check_path_rule(rule)

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """Path rules made ready."""
        return path_index(rules, self.paths, self._searched)

    def suggest(self, value: Input) -> list[PermissionRule]:
        """Nothing: a search is asked only where a rule says so, and no allow rule beats that."""
        return []

    def _searched(self, value: Input) -> tuple[str, ...] | None:
        """The directory, with and without a slash at its end, and what Glob looks for."""
        directory = value.get("path") or self.paths.absolute(".")
        pattern = value.get("pattern") or ""
        if not isinstance(directory, str) or not isinstance(pattern, str):
            return None
        below = directory.rstrip("/") + "/"
        if self.looks_at == "contents":
            return directory, below
        named = (pattern, directory, below, below + pattern)
        return named if not value.get("path") else (directory, below, pattern, below + pattern)
