"""Where a value stands in a TOML file: `tomllib` reads values but does not say on which line."""

import re
from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\r\n]+")


def lines_of(text: str) -> Mapping[Path, int]:
    """The line (from 1) of every table, key and array item of `text`, which must be valid TOML."""
    found: dict[Path, int] = {(): 1}
    for path, offset in _Scanner(text).document():
        found.setdefault(path, text.count("\n", 0, offset) + 1)
    return found


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of the nearest thing around it that is written down."""
    while path not in lines:
        path = path[:-1]
    return lines[path]


class _Scanner:
    """Walks valid TOML and yields the paths it meets, with offsets."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Iterator[tuple[Path, int]]:
        table: Path = ()
        counts: dict[Path, int] = {}
        self._skip_blank()
        while self._at < len(self._text):
            start = self._at
            if self._text.startswith("[[", start):
                self._at += 2
                name = _resolved(self._key(), counts)
                counts[name] = counts.get(name, -1) + 1
                table = (*name, counts[name])
                self._at += 2
                yield name, start
                yield table, start
            elif self._text.startswith("[", start):
                self._at += 1
                table = _resolved(self._key(), counts)
                self._at += 1
                yield from _ancestors(table, start)
            else:
                yield from self._pair(table)
            self._skip_blank()

    def _pair(self, table: Path) -> Iterator[tuple[Path, int]]:
        start = self._at
        path = (*table, *self._key())
        yield from _ancestors(path, start)
        self._at += 1  # the equals sign
        yield from self._value(path)

    def _key(self) -> Path:
        """A dotted key; stops on the character behind it and its blanks."""
        parts: list[str | int] = []
        while True:
            self._skip_blank()
            match = _BARE_KEY.match(self._text, self._at) or _STRING.match(self._text, self._at)
            assert match is not None, "tomllib read this file, so a key stands here"
            parts.append(match.group().strip("\"'"))
            self._at = match.end()
            self._skip_blank()
            if not self._text.startswith(".", self._at):
                return tuple(parts)
            self._at += 1

    def _value(self, path: Path) -> Iterator[tuple[Path, int]]:
        self._skip_blank()
        yield path, self._at
        if self._text.startswith("[", self._at):
            yield from self._array(path)
        elif self._text.startswith("{", self._at):
            yield from self._inline_table(path)
        else:
            pattern = _STRING if self._text[self._at] in "\"'" else _PLAIN
            match = pattern.match(self._text, self._at)
            assert match is not None, "tomllib read this file, so a value stands here"
            self._at = match.end()

    def _array(self, path: Path) -> Iterator[tuple[Path, int]]:
        index = 0
        while not self._closed("]"):
            yield from self._value((*path, index))
            index += 1

    def _inline_table(self, path: Path) -> Iterator[tuple[Path, int]]:
        while not self._closed("}"):
            yield from self._pair(path)

    def _closed(self, bracket: str) -> bool:
        """Step over the opening bracket or a comma; whether the closing one comes next."""
        self._skip_blank()
        if self._text[self._at] in "[{,":
            self._at += 1
            self._skip_blank()
        if self._text[self._at] != bracket:
            return False
        self._at += 1
        return True

    def _skip_blank(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match is not None, "the pattern matches the empty string too"
        self._at = match.end()


def _resolved(name: Path, counts: Mapping[Path, int]) -> Path:
    """`name` with the index of the newest element behind every array of tables on its way."""
    path: Path = ()
    for part in name[:-1]:
        path = (*path, part)
        if path in counts:
            path = (*path, counts[path])
    return (*path, *name[-1:])


def _ancestors(path: Path, offset: int) -> Iterator[tuple[Path, int]]:
    for length in range(1, len(path) + 1):
        yield path[:length], offset
