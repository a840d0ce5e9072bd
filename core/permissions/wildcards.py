"""Many wildcard patterns, one text: which of them match?

Every pattern is filed under the rarest three characters in a row that it asks for literally, so a
look-up runs only the few patterns that share such a run with the text, not all of them. The
matching itself is the standard library's `fnmatch`: `*` crosses `/`, `[ab]` is a class.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import translate

_GRAM = 3  # short enough for most literal runs, long enough to be rare


class WildcardIndex:
    """Patterns made ready for many look-ups. Positions are those in the sequence given."""

    __slots__ = ("_always", "_by_gram", "_compiled", "_exact", "_patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._by_gram: dict[str, list[int]] = defaultdict(list)
        self._always: list[int] = []
        self._compiled: dict[int, re.Pattern[str] | None] = {}
        grams: dict[int, frozenset[str]] = {}
        for position, pattern in enumerate(self._patterns):
            if is_literal(pattern):
                self._exact[pattern].append(position)
            else:
                grams[position] = _required_grams(pattern)
        self._file(grams)

    def _file(self, grams: dict[int, frozenset[str]]) -> None:
        shared = Counter(gram for required in grams.values() for gram in required)
        for position, required in grams.items():
            if required:
                rarest = min(required, key=lambda gram: (shared[gram], gram))
                self._by_gram[rarest].append(position)
            else:
                self._always.append(position)

    def find(self, text: str) -> Iterator[int]:
        """Positions of the patterns that match the whole text."""
        yield from self._exact.get(text, ())
        for position in self._candidates(text):
            if self.matches(position, text):
                yield position

    def _candidates(self, text: str) -> Iterator[int]:
        yield from self._always
        if self._by_gram:
            for gram in {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}:
                yield from self._by_gram.get(gram, ())

    def matches(self, position: int, text: str) -> bool:
        """Whether the pattern at this position matches the whole text."""
        if position not in self._compiled:
            self._compiled[position] = compile_wildcard(self._patterns[position])
        compiled = self._compiled[position]
        return compiled is not None and compiled.match(text) is not None


def compile_wildcard(pattern: str) -> re.Pattern[str] | None:
    """The pattern as a regular expression; none if it can't be read."""
    try:
        return re.compile(translate(pattern))
    except re.error:
        return None


def is_literal(pattern: str) -> bool:
    """Whether the pattern has no wildcard at all."""
    return not any(character in pattern for character in "*?[")


def literal_prefix(pattern: str) -> str:
    """What every match begins with: the pattern up to its first wildcard."""
    for at, character in enumerate(pattern):
        if character in "*?[":
            return pattern[:at]
    return pattern


def _required_grams(pattern: str) -> frozenset[str]:
    """Runs of three characters that every match holds."""
    runs: list[str] = []
    run = ""
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character not in "*?[":
            run += character
            at += 1
            continue
        runs.append(run)
        run = ""
        at = _after_class(pattern, at) if character == "[" else at + 1
    runs.append(run)
    return frozenset(run[at : at + _GRAM] for run in runs for at in range(len(run) - _GRAM + 1))


def _after_class(pattern: str, at: int) -> int:
    """Where the pattern goes on after a character class; an unclosed `[` stands for itself, and
    counting it as a wildcard only makes the look-up look at one pattern more."""
    start = at + 1
    if pattern[start : start + 1] == "!":
        start += 1
    close = pattern.find("]", start + 1)
    return at + 1 if close < 0 else close + 1
