"""Permissions of file tools: Write and Edit, and Read."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.permissions.opinions import NO_OPINION, allowed, safety_ask, suggested
from core.permissions.path_rules import check_path_rule, escape, path_index
from core.permissions.paths import (
    Paths,
    edit_directories,
    is_inside,
    is_secret,
    is_sensitive,
)
from core.permissions.rules import PermissionContext, PermissionMode, PermissionRule
from core.tools import Input, PermissionDecision, RuleIndex

# The reference lets both edit: in `dont_ask` nobody could be asked.
_EDITING_MODES = frozenset({PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK})


@dataclass(frozen=True, slots=True)
class WritePermissions:
    """Write and Edit: a path rule decides; inside the working directories `accept_edits` does."""

    name: str
    paths: Paths
    field: str = "file_path"

    def check_read_only(self, value: Input) -> bool:
        """Never."""
        return False

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """A safety ask for files that steer other programs; allowed where edits are accepted."""
        path = _path(value, self.field)
        if path is None:
            return safety_ask("the path is not text")
        if not path:
            return NO_OPINION
        if is_sensitive(path, self.paths):
            return safety_ask("this file changes how other programs behave, or holds secrets")
        if context.mode in _EDITING_MODES and self._is_working_file(path, context):
            return allowed("Edits inside the working directories are accepted")
        return NO_OPINION

    def _is_working_file(self, path: str, context: PermissionContext) -> bool:
        real = self.paths.real(path)
        return any(is_inside(real, each) for each in edit_directories(context, self.paths))

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse a path pattern that can't work.

        Raises:
            RuleRefused: says what to write instead.
        """
        check_path_rule(rule)

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """Path rules made ready."""
        return path_index(rules, self.paths, lambda value: _paths_of(value, self.field))

    def suggest(self, value: Input) -> list[PermissionRule]:
        """The file's directory, or the file alone where the directory is no place to write in."""
        path = _path(value, self.field)
        if not path or is_sensitive(path, self.paths):
            return []
        return _suggestions(self.name, path, self.paths)


@dataclass(frozen=True, slots=True)
class ReadPermissions:
    """Read: only reads, except from files that hold secrets."""

    name: str
    paths: Paths
    field: str = "file_path"

    def check_read_only(self, value: Input) -> bool:
        """Reading is harmless unless it gives secrets to the model."""
        path = _path(value, self.field)
        return path is not None and not is_secret(path, self.paths)

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
        return path_index(rules, self.paths, lambda value: _paths_of(value, self.field))

    def suggest(self, value: Input) -> list[PermissionRule]:
        """The file's directory; nothing for secrets, which are given once at a time."""
        path = _path(value, self.field)
        if not path or is_secret(path, self.paths):
            return []
        return _suggestions(self.name, path, self.paths)


def _path(value: Input, field: str) -> str | None:
    """The path a call names, empty if it names none; none if it is not text."""
    path = value.get(field, "")
    return path if isinstance(path, str) else None


def _paths_of(value: Input, field: str) -> tuple[str, ...] | None:
    path = _path(value, field)
    if path is None:
        return None
    return (path,) if path else ()


def _suggestions(name: str, path: str, paths: Paths) -> list[PermissionRule]:
    """Only where the path is spelled as it really leads: any other rule would not cover it."""
    directory, slash, _ = path.rpartition("/")
    base = directory or ("/" if slash else ".")
    absolute = paths.absolute(base)
    if ".." in path.split("/") or not path.strip("/.~") or paths.real(base) != absolute:
        return []
    if absolute.count("/") < 2 or directory in ("", "~", "."):
        return [suggested(name, escape(path))]
    return [suggested(name, f"{escape(directory)}/**")]
