"""The search process: walks the workspace, and may be killed while a pattern eats its time.

A regular expression can take longer than the universe has, and Python's can't be interrupted; so
the search is a process of its own with a deadline. It reads one order as JSON from standard input
and prints what the model reads; exit code 2 says that the print is a refusal.
"""

import io
import json
import os
import re
import resource
import runpy
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.workspace.directory import Directory
from adapters.workspace.globs import anywhere, compile_glob
from adapters.workspace.walk import Protected
from core.errors import ToolFailed

MAX_ENTRIES = 200_000
"""Files looked at in one search."""

MAX_FILE = 10 * 1024 * 1024
"""Bytes of a file that is searched; larger ones are counted as skipped."""

MAX_PATHS = 1000
"""Paths that one `Glob` lists."""

MAX_LINE = 500
"""Characters of a line that are shown, as the reference has it."""

HEAD_LIMIT = 250
"""Lines or paths of one `Grep`, as the reference has it."""

MEMORY = 1024 * 1024 * 1024
"""Bytes of address space that the process may take."""

SNIFF = 8192
VERSION_CONTROL = frozenset({".git", ".svn", ".hg", ".bzr", ".jj", ".sl"})

TYPES: Mapping[str, str] = {
    "c": "*.{c,h}",
    "cpp": "*.{cc,cpp,cxx,hh,hpp,hxx,h}",
    "css": "*.{css,scss}",
    "go": "*.go",
    "html": "*.{html,htm}",
    "java": "*.java",
    "js": "*.{js,jsx,mjs,cjs}",
    "json": "*.json",
    "md": "*.{md,markdown}",
    "py": "*.{py,pyi}",
    "ruby": "*.rb",
    "rust": "*.rs",
    "sh": "*.{sh,bash}",
    "sql": "*.sql",
    "toml": "*.toml",
    "ts": "*.{ts,tsx,mts,cts}",
    "yaml": "*.{yaml,yml}",
}
"""Kinds of files that `Grep` knows by name."""


def _secret_names() -> Callable[[str], bool]:
    """What Read asks about, too. Run by its path: its package imports libraries that this process
    has no use for."""
    module = Path(__file__).parents[2] / "core" / "permissions" / "profiles" / "secret_names.py"
    names_a_secret: Callable[[str], bool] = runpy.run_path(str(module))["names_a_secret"]
    return names_a_secret


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that the walk came by: its directory's descriptor, its name, its relative path."""

    parent: int
    name: str
    path: str


class Search:
    """One search in one workspace."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._guard = Protected.of(directory.protected)
        self._names_a_secret = _secret_names()
        self.skipped = 0
        self.secrets = 0
        self.complete = True

    def glob(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Paths that match, newest first."""
        base = value.get("path") or "."
        pattern = compile_glob(value["pattern"])
        with self._directory.open_directory(base) as top:
            found = [
                (entry.path, os.stat(entry.name, dir_fd=entry.parent, follow_symlinks=False))
                for entry in self._walk(top)
                if pattern.match(entry.path)
            ]
        found.sort(key=lambda one: (-one[1].st_mtime_ns, one[0]))
        yield from (_join(base, path) for path, _ in found[:MAX_PATHS])
        if not found:
            yield "[no file matches]"
        if len(found) > MAX_PATHS:
            yield f"[{MAX_PATHS} of {len(found)} files; use a narrower pattern]"

    def grep(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Lines, paths or counts, as `output_mode` says."""
        pattern = _regex(value)
        mode = value.get("output_mode", "files_with_matches")
        shown = _limited(self._hits(value, pattern, mode), value)
        empty = True
        for line in shown:
            empty = False
            yield line
        if empty:
            yield "[nothing matches]"
        if self.skipped:
            yield f"[files larger than {MAX_FILE // 1024**2} MiB, left out: {self.skipped}]"
        if self.secrets:
            yield f"[files that may hold secrets, left out unless path names one: {self.secrets}]"

    def _hits(self, value: Mapping[str, Any], pattern: re.Pattern[str], mode: str) -> Iterator[str]:
        wanted = [compile_glob(anywhere(text)) for text in _filters(value)]
        base = value.get("path") or "."
        for entry, path in self._files(base, wanted):
            text = self._text(entry)
            if text is not None:
                yield from _report(path, text, pattern, {**value, "output_mode": mode})

    def _files(self, base: str, wanted: Sequence[re.Pattern[str]]) -> Iterator[tuple[Entry, str]]:
        """What is at a path: one file, or the wanted files below a directory.

        Files that may hold secrets are read only if the path names them, because then the
        permission engine has seen the name.
        """
        with self._directory.locate(base) as place:
            info = place.status()
            if info is not None and stat.S_ISREG(info.st_mode):
                self._guard.check(info)
                if not all(one.match(place.name) for one in wanted):
                    return
                yield Entry(place.parent, place.name, place.name), base
                return
        asked_for = self._names_a_secret(base)
        with self._directory.open_directory(base) as top:
            for entry in self._walk(top):
                if not all(one.match(entry.path) for one in wanted):
                    continue
                if not asked_for and self._names_a_secret(entry.path):
                    self.secrets += 1
                    continue
                yield entry, _join(base, entry.path)

    def _walk(self, top: int) -> Iterator[Entry]:
        seen = 0
        for folder, names, files, parent in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            names[:] = sorted(
                name for name in self._unprotected(names, parent) if name not in VERSION_CONTROL
            )
            for name in sorted(self._unprotected(files, parent)):
                seen += 1
                if seen > MAX_ENTRIES:
                    self.complete = False
                    return
                yield Entry(parent, name, f"{folder}/{name}"[2:])

    def _unprotected(self, names: Iterable[str], parent: int) -> Iterator[str]:
        here = os.fstat(parent)
        for name in names:
            try:
                self._guard.check_entry(here, name)
                self._guard.check(os.stat(name, dir_fd=parent, follow_symlinks=False))
            except (ToolFailed, OSError):
                continue
            yield name

    def _text(self, entry: Entry) -> str | None:
        """The text of a file; None if it is a link, binary, gone or too long."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.open(entry.name, flags, dir_fd=entry.parent)
        except OSError:
            return None
        with os.fdopen(file, "rb") as stream:
            info = os.fstat(file)
            if not stat.S_ISREG(info.st_mode):
                return None
            if info.st_size > MAX_FILE:
                self.skipped += 1
                return None
            data = stream.read(MAX_FILE)
        return None if b"\0" in data[:SNIFF] else data.decode("utf-8", errors="replace")


def _report(
    path: str, text: str, pattern: re.Pattern[str], value: Mapping[str, Any]
) -> Iterator[str]:
    lines = text.removesuffix("\n").split("\n")
    hits = _hit_lines(text, lines, pattern, several=value.get("multiline", False))
    mode = value["output_mode"]
    if mode == "files_with_matches":
        if next(hits, None) is not None:
            yield path
    elif mode == "count":
        if count := sum(1 for _ in hits):
            yield f"{path}:{count}"
    else:
        yield from _with_context(path, lines, list(hits), value)


def _hit_lines(
    text: str, lines: list[str], pattern: re.Pattern[str], *, several: bool
) -> Iterator[int]:
    """Indexes of lines in which something matches, ascending, each once."""
    if not several:
        yield from (index for index, line in enumerate(lines) if pattern.search(line))
        return
    last = -1
    line = position = 0
    for match in pattern.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        end = min(line + match[0].rstrip("\n").count("\n"), len(lines) - 1)
        yield from range(max(line, last + 1), end + 1)
        last = max(last, end)


def _with_context(
    path: str, lines: list[str], hits: list[int], value: Mapping[str, Any]
) -> Iterator[str]:
    both = value.get("context", value.get("-C"))
    before = value.get("-B", 0) if both is None else both
    after = value.get("-A", 0) if both is None else both
    matched = set(hits)
    previous = -1
    for index in sorted({i for hit in hits for i in range(hit - before, hit + after + 1)}):
        if not 0 <= index < len(lines):
            continue
        if (before or after) and previous >= 0 and index > previous + 1:
            yield "--"
        previous = index
        mark = ":" if index in matched else "-"
        number = f"{index + 1}{mark}" if value.get("n", True) else ""
        line = lines[index].rstrip("\r")
        cut = f"{line[:MAX_LINE]} [cut]" if len(line) > MAX_LINE else line
        yield f"{path}{mark}{number}{cut}"


def _limited(lines: Iterator[str], value: Mapping[str, Any]) -> Iterator[str]:
    limit = value.get("head_limit", HEAD_LIMIT)
    first = value.get("offset", 0)
    for index, line in enumerate(lines):
        if limit and index >= first + limit:
            yield f"[there is more; go on with offset {first + limit}]"
            return
        if index >= first:
            yield line


def _regex(value: Mapping[str, Any]) -> re.Pattern[str]:
    flags = re.NOFLAG
    if value.get("i") or value.get("case_insensitive"):
        flags |= re.IGNORECASE
    if value.get("multiline"):
        flags |= re.MULTILINE | re.DOTALL
    try:
        return re.compile(value["pattern"], flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailed(f"The pattern is no regular expression of Python: {error}.") from error


def _filters(value: Mapping[str, Any]) -> Iterator[str]:
    if "glob" in value:
        yield value["glob"]
    if "type" in value:
        if value["type"] not in TYPES:
            raise ToolFailed(f"Unknown type; known are {', '.join(TYPES)}.")
        yield TYPES[value["type"]]


def _join(base: str, path: str) -> str:
    return path if base == "." else f"{base.rstrip('/')}/{path}"


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except (ToolFailed, MemoryError, OSError) as error:
        sys.stdout.write(str(error) or type(error).__name__)
        sys.stdout.flush()
        sys.exit(2)


def main() -> None:
    """Do the search that standard input orders."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace")
    order = json.load(sys.stdin.buffer)
    with _refusals():
        directory = Directory(Path(order["root"]), map(Path, order["protected"]))
        search = Search(directory)
        lines = (
            search.glob(order["value"]) if order["what"] == "glob" else search.grep(order["value"])
        )
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        if not search.complete:
            sys.stdout.write(f"[stopped after {MAX_ENTRIES} files; give a path]\n")


if __name__ == "__main__":
    main()
