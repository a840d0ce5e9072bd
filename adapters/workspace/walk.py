"""A walk down a path that can't leave its root, whatever happens to the tree meanwhile.

A path is walked one name at a time from the root's own descriptor, never handed to the kernel
whole: symbolic links and ``..`` are followed here, against the descriptors that are held open. So
what was checked is what is opened.

Standard library only, as is `directory`: the search process imports both and should start fast.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.errors import ToolFailed

MAX_LINKS = 40
"""Symbolic links followed in one path. Source: Linux, path_resolution(7)."""

OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Inode = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Protected:
    """Files and directories of Keyturn itself, as they are at this moment."""

    inodes: frozenset[Inode]
    entries: frozenset[tuple[Inode, str]]
    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "Protected":
        """Look the paths up; what does not exist yet is known by its parent and name."""
        inodes: set[Inode] = set()
        entries: set[tuple[Inode, str]] = set()
        paths = tuple(paths)
        for path in paths:
            with suppress(OSError):
                inodes.add(_inode(path.stat()))
            with suppress(OSError):
                entries.add((_inode(path.parent.stat()), path.name))
        return cls(frozenset(inodes), frozenset(entries), tuple(paths))

    def check(self, info: os.stat_result) -> None:
        """Refuse an opened file or directory that is one of them, or another name of a file that
        lies in one of them."""
        linked = info.st_nlink > 1 and stat.S_ISREG(info.st_mode)
        if _inode(info) in self.inodes or (linked and _inode(info) in self._inside()):
            raise ToolFailed("This path belongs to Keyturn itself; tools may not touch it.")

    def _inside(self) -> Iterator[Inode]:
        for path in self.paths:
            for _, _, files, parent in os.fwalk(path):
                for name in files:
                    with suppress(OSError):
                        yield _inode(os.stat(name, dir_fd=parent, follow_symlinks=False))

    def check_entry(self, parent: os.stat_result, name: str) -> None:
        """Refuse a name in a directory, whether or not it exists."""
        if (_inode(parent), name) in self.entries:
            raise ToolFailed("This path belongs to Keyturn itself; tools may not touch it.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: an open directory and a name in it that is no link.

    `name` is "." for a directory that is reached by ``..`` or is the root.
    """

    parent: int
    name: str

    def status(self) -> os.stat_result | None:
        """What is there now, or None."""
        try:
            return os.stat(self.name, dir_fd=self.parent, follow_symlinks=False)
        except FileNotFoundError:
            return None


class Walk:
    """One walk down a path: the stack of open directories from the root to where we are.

    Args:
        roots: names of the one root: the real one first, then others it is known by.
        create: make missing directories on the way.
    """

    def __init__(self, roots: tuple[Path, ...], guard: Protected, *, create: bool) -> None:
        self._roots = roots
        self._guard = guard
        self._create = create
        self._links = 0
        self._stack = [os.open(roots[0], OPEN_DIRECTORY)]

    def close(self) -> None:
        """Close what is open."""
        while self._stack:
            os.close(self._stack.pop())

    def follow(self, parts: Iterable[str]) -> Place:
        """Walk to the last name and say where it is."""
        todo = deque(parts)
        while todo:
            part = todo.popleft()
            if part == "..":
                self._up()
                continue
            here = self._stack[-1]
            self._guard.check_entry(os.fstat(here), part)
            target = self._link(part)
            if target is not None:
                todo.extendleft(reversed(target))
            elif todo:
                self._down(part)
            else:
                return Place(here, part)
        return Place(self._stack[-1], ".")

    def _up(self) -> None:
        if len(self._stack) == 1:
            raise ToolFailed("The path leads outside the workspace.")
        os.close(self._stack.pop())

    def _down(self, name: str) -> None:
        here = self._stack[-1]
        try:
            child = os.open(name, OPEN_DIRECTORY, dir_fd=here)
        except FileNotFoundError:
            if not self._create:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
            child = os.open(name, OPEN_DIRECTORY, dir_fd=here)
        self._stack.append(child)
        self._guard.check(os.fstat(child))

    def _link(self, name: str) -> tuple[str, ...] | None:
        """The parts of a link's target, from where we then are; None if it is no link."""
        here = self._stack[-1]
        try:
            target = os.readlink(name, dir_fd=here)
        except OSError as error:
            if error.errno in {errno.EINVAL, errno.ENOENT}:
                return None
            raise
        self._links += 1
        if self._links > MAX_LINKS:
            raise ToolFailed("The path goes through too many symbolic links.")
        pure = PurePosixPath(target)
        if not pure.is_absolute():
            return pure.parts
        parts = names_below(pure, self._roots)
        while len(self._stack) > 1:
            os.close(self._stack.pop())
        return parts


def names_below(path: PurePosixPath, roots: tuple[Path, ...]) -> tuple[str, ...]:
    """The names below the root of an absolute path.

    Raises:
        ToolFailed: it does not begin with the root, whatever it is called.
    """
    for root in roots:
        if path.parts[: len(root.parts)] == root.parts:
            return path.parts[len(root.parts) :]
    raise ToolFailed("The path leads outside the workspace.")


def _inode(info: os.stat_result) -> Inode:
    return info.st_dev, info.st_ino


_WORDS = {
    errno.ENOENT: "There is no such file or directory.",
    errno.ELOOP: "The path changed while it was opened; try again.",
    errno.ENOTDIR: "A part of the path is no directory.",
}


@contextmanager
def explained() -> Iterator[None]:
    """Say what the system refused in words that quote no path."""
    try:
        yield
    except OSError as error:
        words = _WORDS.get(error.errno or 0, f"The system refused: {error.strerror}.")
        raise ToolFailed(words) from error
