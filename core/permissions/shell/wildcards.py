"""Wildcard allow rules, indexed word by word so that ten thousand cost little more than one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from core.permissions.profiles.secret_names import names_a_secret
from core.permissions.shell.patterns import PartsIndex, matches_parts

_OPEN_WORDS: Final = (("", ""),)
_UP: Final = re.compile(r"(?:^|[/:=])\.\.")
_MEANINGFUL: Final = re.compile(r"[\s\"'`$;&|<>(){}\\!=]")


def _is_tame(parts: tuple[str, ...], word: str) -> bool:
    """Whether the `*` stand for text that no program reads as more than a name.

    A quoted word can hold another language: ``make 'test:=$(shell id)'``, ``ssh h 'ls; id'``. Only
    signs that the rule has itself may occur (of an address also what begins a query), and no name
    of a secret that the rule does not name.
    """
    written = "*".join(parts)
    known = f"{written}=&" if "://" in written else written
    if any(sign not in known for sign in _MEANINGFUL.findall(word)):
        return False
    return names_a_secret(written) or not names_a_secret(word)


@dataclass(slots=True)
class _Step:
    """What may stand at one position of the words, after the words before it."""

    literal: dict[str, "_Step"] = field(default_factory=dict[str, "_Step"])
    wild: dict[tuple[str, ...], "_Step"] = field(default_factory=dict[tuple[str, ...], "_Step"])
    filed: PartsIndex[tuple[str, ...]] | None = None
    closed: int | None = None
    open: int | None = None

    def after(self, word: str) -> "_Step":
        """The step after this word of a rule, made if it is new."""
        if "*" not in word:
            return self.literal.setdefault(word, _Step())
        parts = tuple(re.sub(r"\*+", "*", word).split("*"))
        if parts not in self.wild:
            self.wild[parts] = _Step()
            self.filed = None
        return self.wild[parts]

    def following(self, word: str) -> list["_Step"]:
        """The steps after this word of a command."""
        steps = [self.literal[word]] if word in self.literal else []
        if not self.wild or _UP.search(word):
            return steps
        for parts in self._candidates(word):
            option = word.startswith("-") and not parts[0].startswith("-")
            if not option and matches_parts(parts, word) and _is_tame(parts, word):
                steps.append(self.wild[parts])
        return steps

    def _candidates(self, word: str) -> Iterator[tuple[str, ...]]:
        if self.filed is None:
            self.filed = PartsIndex([(parts, parts) for parts in self.wild if any(parts)])
        yield from (parts for parts in _OPEN_WORDS if parts in self.wild)
        yield from self.filed.candidates(word)


class WildcardIndex:
    """Rules whose words hold `*`; each `*` stays inside its word."""

    def __init__(self) -> None:
        self._root = _Step()
        self._size = 0

    def __bool__(self) -> bool:
        return self._size > 0

    def add(self, words: tuple[str, ...], *, prefix: bool, index: int) -> None:
        """Add a rule; with `prefix`, more words may follow as far as the flag profile covers."""
        self._size += 1
        step = self._root
        for word in words:
            step = step.after(word)
        if prefix:
            step.open = index if step.open is None else step.open
        else:
            step.closed = index if step.closed is None else step.closed

    def find(self, argv: tuple[str, ...], literal: int, reach: int | None) -> int | None:
        """The index of a rule that covers `argv`.

        Args:
            literal: how many leading words bash takes as they stand; a rule's own words lie there.
            reach: how many words a prefix rule must name, or None where no profile covers the rest.
        """
        steps = [self._root]
        found: list[int] = []
        for position, word in enumerate(argv[:literal], start=1):
            steps = [after for step in steps for after in step.following(word)]
            for step in steps:
                if step.closed is not None and position == len(argv):
                    found.append(step.closed)
                if step.open is not None and reach is not None and position >= reach:
                    found.append(step.open)
        return min(found, default=None)
