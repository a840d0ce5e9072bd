"""Path patterns of rules, looked up for a path.

An allow rule covers a path only if it matches as written *and* where it really leads. A deny or ask
rule covers it if any spelling matches, case aside; never less than the pattern as written.
"""

from collections.abc import Callable, Iterator, Sequence

from core.errors import RuleRefused
from core.permissions.paths import Paths, fold, spellings
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.permissions.wildcards import (
    WildcardIndex,
    compile_wildcard,
    is_literal,
    literal_prefix,
)
from core.tools import Input, RuleIndex

PathsOf = Callable[[Input], tuple[str, ...] | None]
"""The paths a call is about, the one it names first; none if they can't be read."""


class AllowPaths:
    """Allow rules over paths."""

    def __init__(self, rules: Sequence[PermissionRule], paths: Paths, paths_of: PathsOf) -> None:
        self._rules = tuple(rule for rule in rules if rule.rule_content)
        self._index = WildcardIndex([rule.rule_content or "" for rule in self._rules])
        self._paths = paths
        self._paths_of = paths_of

    def find(self, value: Input) -> PermissionRule | None:
        """The rule that covers the path as written and where it leads."""
        written = self._paths_of(value)
        return self._covering(written[0]) if written else None

    def _covering(self, path: str) -> PermissionRule | None:
        real = self._paths.real(path)
        for position in self._index.find(path):
            rule = self._rules[position]
            compiled = compile_wildcard(anchored(rule.rule_content or "", self._paths.real))
            if compiled is not None and compiled.match(real):
                return rule
        return None


class BlockPaths:
    """Deny or ask rules over paths."""

    def __init__(self, rules: Sequence[PermissionRule], paths: Paths, paths_of: PathsOf) -> None:
        self._rules = tuple(rule for rule in rules if rule.rule_content)
        written = [rule.rule_content or "" for rule in self._rules]
        self._written = WildcardIndex(written)
        pairs = [
            (position, pattern)
            for position, content in enumerate(written)
            for pattern in _block_patterns(content, paths)
        ]
        self._owners = [position for position, _ in pairs]
        self._folded = WildcardIndex([pattern for _, pattern in pairs])
        self._paths = paths
        self._paths_of = paths_of

    def find(self, value: Input) -> PermissionRule | None:
        """A rule that matches any spelling of any path of the call; any rule at all if the call's
        path can't be read."""
        written = self._paths_of(value)
        if written is None:
            return next(iter(self._rules), None)
        position = next(self._hits(written), None)
        return None if position is None else self._rules[position]

    def _hits(self, written: tuple[str, ...]) -> Iterator[int]:
        for path in written:
            yield from self._written.find(path)
            for text in dict.fromkeys(map(fold, self._spellings(path))):
                for position in self._folded.find(text):
                    yield self._owners[position]

    def _spellings(self, path: str) -> Iterator[str]:
        """All of them; what is below a directory (a slash at the end) stays below it."""
        below = "/" if path.endswith("/") else ""
        for text in spellings(path, self._paths):
            yield text
            yield text.rstrip("/") + below


def path_index(rules: Sequence[PermissionRule], paths: Paths, paths_of: PathsOf) -> RuleIndex:
    """The index for rules that are all of one behaviour."""
    if all(rule.behavior is PermissionBehavior.ALLOW for rule in rules):
        return AllowPaths(rules, paths, paths_of)
    return BlockPaths(rules, paths, paths_of)


def anchored(pattern: str, place: Callable[[str], str]) -> str:
    """The pattern for paths that `place` made (`Paths.real`, `Paths.absolute`): its directory, up
    to the first wildcard, goes the same way. A pattern that begins with `*` floats."""
    if pattern.startswith("*"):
        return pattern
    prefix = literal_prefix(pattern)
    directory, slash, _ = prefix.rpartition("/")
    tail = pattern[len(directory) + len(slash) :]
    base = directory or ("/" if slash else ".")
    return escape(place(base)).rstrip("/") + "/" + tail


def escape(text: str) -> str:
    """The text as a pattern that matches only itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _block_patterns(pattern: str, paths: Paths) -> tuple[str, ...]:
    found = [pattern, anchored(pattern, paths.absolute), anchored(pattern, paths.real)]
    if is_literal(pattern):
        found.append(escape(paths.real(pattern)))
    return tuple(dict.fromkeys(map(fold, found)))


def check_path_rule(rule: PermissionRule) -> None:
    """Refuse a path pattern that can never match, or not as it looks.

    Raises:
        RuleRefused: says what to write instead.
    """
    pattern = rule.rule_content
    if not pattern:
        return
    if "\0" in pattern or "\n" in pattern:
        raise RuleRefused("A path pattern can't hold a line break or a zero byte.", "Remove it.")
    if ".." in pattern.split("/"):
        raise RuleRefused(
            "A pattern with .. never matches where a path really leads.",
            "Write the directory itself.",
        )
    if pattern.endswith("/") or "//" in pattern:
        raise RuleRefused(
            "No path is written like this, so the pattern never matches.",
            "For everything in a directory write dir/**; an absolute path begins with one /.",
        )
    if pattern.count("[") > pattern.count("]"):
        raise RuleRefused(
            "A [ in this pattern is never closed.", "Close it, or write [[] for the character."
        )
    if compile_wildcard(pattern) is None:
        raise RuleRefused("This pattern can't be read.", "Use * ? and [ab] only.")
