"""Patterns of deny and ask rules over the text of a command, matched as agentscope 2.0 does.

- nothing: every command
- ``git push:*``: this text, alone or followed by a blank
- ``git * push``: the whole text, ``*`` for anything; a final `` *`` may also be missing
- anything else: the text occurs somewhere

``\\*`` and ``\\\\`` stand for themselves. `*` also crosses a line break here: deny rules may match
more than the reference's, never less.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from core.errors import RuleRefused

T = TypeVar("T")

_GRAM: Final = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    """`parts` are the literal pieces between the stars; `anywhere` means it may occur inside."""

    parts: tuple[str, ...]
    anywhere: bool = False
    prefix: bool = False
    stem: str | None = None

    def matches(self, text: str) -> bool:
        """Whether the pattern matches `text`; the cost grows with the length of the text only."""
        if self.anywhere:
            return self.parts[0] in text
        if self.prefix:
            return text == self.parts[0] or text.startswith(self.parts[0] + " ")
        return text == self.stem or matches_parts(self.parts, text)


EVERYTHING: Final = Pattern(("",), anywhere=True)


def matches_parts(parts: Sequence[str], text: str) -> bool:
    """Whether `text` is `parts` with anything between them. Never backtracks."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return text == first
    end = len(text) - len(last)
    if end < len(first) or not text.startswith(first) or not text.endswith(last):
        return False
    position = len(first)
    for part in parts[1:-1]:
        position = text.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True


def check_pattern(content: str | None) -> None:
    """Refuse a deny or ask pattern that is broken or can never match.

    Raises:
        RuleRefused: with what to write instead.
    """
    if not content:
        return
    if content.endswith(":*"):
        if not content[:-2].strip():
            raise RuleRefused(
                "“:*” names no command.", "Leave the pattern out to mean every command."
            )
        return
    if _is_broken(content):
        raise RuleRefused(
            "A backslash in a pattern with “*” may only stand before “*” or “\\”.",
            "Write “\\\\” for a backslash.",
        )


def _is_broken(content: str) -> bool:
    parts, odd = _split(content)
    return odd and len(parts) > 1


def read_pattern(content: str | None) -> Pattern:
    """The pattern of a deny or ask rule. A broken one matches everything: it fails closed."""
    if not content:
        return EVERYTHING
    if content.endswith(":*"):
        return Pattern((content[:-2].strip(),), prefix=True)
    parts, odd = _split(content)
    if len(parts) == 1:
        return Pattern(tuple(parts), anywhere=True)
    if odd:
        return EVERYTHING
    stem = None
    if parts[-1] == "" and parts[-2].endswith(" ") and len(parts) == 2:
        stem = parts[0].strip() or None
    return Pattern(tuple(parts), stem=stem)


def _split(content: str) -> tuple[list[str], bool]:
    """The literal pieces between unescaped stars, and whether a backslash escapes nothing."""
    parts = [""]
    odd = False
    characters = iter(content)
    for char in characters:
        if char == "*":
            parts.append("")
        elif char == "\\":
            escaped = next(characters, "")
            if escaped and escaped in "*\\":
                parts[-1] += escaped
            else:
                odd = True
                parts[-1] += char + escaped
        else:
            parts[-1] += char
    return parts, odd


class PartsIndex(Generic[T]):
    """Values filed under the rarest few characters that their literal parts ask for."""

    def __init__(self, filed: Sequence[tuple[Sequence[str], T]]) -> None:
        """Each value with its literal parts, of which at least one is not empty."""
        self._by_gram: dict[str, list[T]] = {}
        counts = Counter(gram for parts, _ in filed for gram in set(_grams(parts)))
        for parts, value in filed:
            rarest = min(_grams(parts), key=lambda gram: (counts[gram], -len(gram)))
            self._by_gram.setdefault(rarest, []).append(value)
        self._sizes = {len(gram) for gram in self._by_gram}

    def candidates(self, text: str) -> Iterator[T]:
        """The values whose characters occur in `text`; the others can't match."""
        for size in self._sizes:
            for gram in {text[i : i + size] for i in range(len(text) - size + 1)}:
                yield from self._by_gram.get(gram, ())


def _grams(parts: Sequence[str]) -> list[str]:
    """Runs of four characters, or the longest run there is."""
    size = min(_GRAM, max(map(len, parts)))
    return [part[i : i + size] for part in parts for i in range(len(part) - size + 1)]


class PatternIndex:
    """Many patterns, asked together: the lowest index of those that match a text."""

    def __init__(self, patterns: Iterable[tuple[int, Pattern]]) -> None:
        self._everything: int | None = None
        self._prefixes: dict[str, int] = {}
        self._longest = 0
        filed: list[tuple[Sequence[str], tuple[int, Pattern]]] = []
        for index, pattern in patterns:
            parts = pattern.parts if pattern.stem is None else (pattern.stem,)
            if pattern.prefix:
                self._prefixes[parts[0]] = min(index, self._prefixes.get(parts[0], index))
                self._longest = max(self._longest, len(parts[0]))
            elif any(parts):
                filed.append((parts, (index, pattern)))
            elif self._everything is None or index < self._everything:
                self._everything = index
        self._filed = PartsIndex(filed)

    def first(self, text: str) -> int | None:
        """The lowest index of the patterns that match `text`."""
        best = self._everything
        for index in self._matching_prefixes(text):
            best = index if best is None or index < best else best
        for index, pattern in self._filed.candidates(text):
            if (best is None or index < best) and pattern.matches(text):
                best = index
        return best

    def _matching_prefixes(self, text: str) -> Iterator[int]:
        if not self._prefixes:
            return
        ends = [len(text)]
        blank = text.find(" ", 0, self._longest + 1)
        while blank >= 0:
            ends.append(blank)
            blank = text.find(" ", blank + 1, self._longest + 1)
        for end in ends:
            index = self._prefixes.get(text[:end])
            if index is not None:
                yield index
