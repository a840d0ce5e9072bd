"""Deny rules that name flags: in any order, place and cluster, ``rm -rf`` is ``rm x -r -f``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_CLUSTER: Final = re.compile(r"-[A-Za-z0-9]{1,3}")
"""Longer words with one dash are rather one flag: ``find -delete``."""
_SAME: Final = {"-R": "-r", "--recursive": "-r", "--force": "-f"}
"""Spellings of the two flags that most deny rules are about."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of a command, flags apart."""

    words: tuple[str, ...]
    flags: frozenset[str]


class FlagRules:
    """The deny (or ask) rules that name flags, by program."""

    def __init__(self, contents: Sequence[str | None]) -> None:
        """`contents` in the order of the rules; those without flags, or with ``*`` inside, are
        left to others."""
        self._rules: dict[str, list[tuple[int, _Line]]] = {}
        for index, content in enumerate(contents):
            words = re.sub(r"(?::| )\*$|[\"']", "", content or "").split()
            line = _line(words)
            if line.flags and line.words and not any("*" in word for word in words):
                self._rules.setdefault(line.words[0].lower(), []).append((index, line))

    def matching(self, argv: Sequence[str]) -> Iterator[int]:
        """The indexes of the rules whose words `argv` begins with and whose flags it has."""
        rules = self._rules.get(argv[0].lower())
        if not rules:
            return
        given = _line(argv)
        for index, rule in rules:
            begins = given.words[1 : len(rule.words)] == rule.words[1:]
            if begins and rule.flags <= given.flags:
                yield index


def _line(words: Sequence[str]) -> _Line:
    flags: set[str] = set()
    for word in words:
        if _CLUSTER.fullmatch(word):
            flags.update(f"-{letter}" for letter in word[1:])
        elif word.startswith("-"):
            flags.add(word.partition("=")[0])
    named = frozenset(_SAME.get(flag, flag) for flag in flags)
    return _Line(tuple(word for word in words if not word.startswith("-")), named)
