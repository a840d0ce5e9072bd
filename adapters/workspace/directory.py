"""The directory that an agent's file tools work in, and nothing outside it.

Every access walks the path anew (`walk`), so it is judged by the tree as it is at that moment.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from secrets import token_hex

from adapters.workspace.walk import (
    OPEN_DIRECTORY,
    Inode,
    Place,
    Protected,
    Walk,
    explained,
    names_below,
)
from core.errors import SetupRefused, ToolFailed

MAX_WRITE = 10 * 1024 * 1024
"""Bytes that a file may have to be written or edited."""

_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which state of a file was read; another one means that somebody changed it."""

    inode: Inode
    size: int
    modified: int

    @classmethod
    def of(cls, info: os.stat_result) -> "Stamp":
        """The stamp of a file whose status this is."""
        return cls((info.st_dev, info.st_ino), info.st_size, info.st_mtime_ns)


class Directory:
    """A directory that file tools may work in.

    Args:
        root: it must exist; links in the path to it are followed once, here.
        protected: Keyturn's data directory, configuration and keys. They are refused by identity,
            so a hard link or another mount of the same file does not help.

    Raises:
        SetupRefused: the root is missing, is no directory, is "/", or lies in a protected one.
    """

    def __init__(self, root: Path, protected: Iterable[Path] = ()) -> None:
        try:
            self.root = root.resolve(strict=True)
        except OSError as error:
            raise SetupRefused(
                f"The workspace {root} can't be used: {error.strerror}. Create it first."
            ) from error
        self.given = root.absolute()
        self.protected = tuple(path.absolute() for path in protected)
        if not self.root.is_dir() or self.root == Path("/"):
            raise SetupRefused(f"The workspace {root} has to be a directory other than /.")
        for path in self.protected:
            if self.root.is_relative_to(path.resolve()):
                raise SetupRefused(
                    f"The workspace {root} lies in {path}, where Keyturn keeps its own files. "
                    "Choose another directory."
                )

    def read(self, path: str, limit: int) -> tuple[bytes, Stamp]:
        """The whole content of a regular file.

        Args:
            limit: bytes; a longer file is refused.

        Raises:
            ToolFailed: the path leads outside, is protected, is no regular file, or is too long.
        """
        with self.open(path) as file:
            info = os.fstat(file)
            if info.st_size > limit:
                raise ToolFailed(f"The file has {info.st_size} bytes; the limit is {limit}.")
            with os.fdopen(os.dup(file), "rb") as stream:
                data = stream.read(limit + 1)
        if len(data) > limit:
            raise ToolFailed(f"The file grew beyond the limit of {limit} bytes.")
        return data, Stamp.of(info)

    @contextmanager
    def open(self, path: str) -> Iterator[int]:
        """A descriptor of a regular file, for reading.

        Raises:
            ToolFailed: the path leads outside, is protected, or is no regular file.
        """
        guard = Protected.of(self.protected)
        with self.locate(path) as place, explained():
            file = os.open(place.name, _OPEN_FILE, dir_fd=place.parent)
            try:
                info = os.fstat(file)
                guard.check(info)
                _check_regular(info)
                yield file
            finally:
                os.close(file)

    @contextmanager
    def open_directory(self, path: str) -> Iterator[int]:
        """A descriptor of a directory.

        Raises:
            ToolFailed: the path leads outside, is protected, or is no directory.
        """
        guard = Protected.of(self.protected)
        with self.locate(path) as place, explained():
            directory = os.open(place.name, OPEN_DIRECTORY, dir_fd=place.parent)
            try:
                guard.check(os.fstat(directory))
                yield directory
            finally:
                os.close(directory)

    def write(self, path: str, data: bytes, expected: Stamp | None = None) -> bool:
        """Put a whole file in place at once: readers see the old content or the new one.

        Mode and, where allowed, owner of an existing file are kept; missing directories are made.

        Args:
            expected: refuse if the file is no longer the one that was read.

        Returns:
            Whether the file is new.

        Raises:
            ToolFailed: as `read`, or the file changed, is read-only, or the data is too long.
        """
        if len(data) > MAX_WRITE:
            raise ToolFailed(f"That is {len(data)} bytes; a file may have {MAX_WRITE}.")
        with self.locate(path, create=True) as place, explained():
            before = place.status()
            if before is not None:
                Protected.of(self.protected).check(before)
                _check_regular(before)
                if not os.access(place.name, os.W_OK, dir_fd=place.parent):
                    raise ToolFailed("The file is read-only.")
            elif place.name == ".":
                raise ToolFailed("The path names a directory.")
            _replace(place, data, before, expected)
        return before is None

    @contextmanager
    def locate(self, path: str, *, create: bool = False) -> Iterator[Place]:
        """Walk a path, absolute or relative to the root.

        Args:
            create: make missing directories on the way.

        Raises:
            ToolFailed: it leads outside, through a protected directory, or nowhere.
        """
        with explained():
            guard = Protected.of(self.protected)
            walk = Walk((self.root, self.given), guard, create=create)
            try:
                place = walk.follow(self._relative(path))
            except BaseException:
                walk.close()
                raise
        try:
            yield place
        finally:
            walk.close()

    def _relative(self, path: str) -> tuple[str, ...]:
        if not path or "\0" in path:
            raise ToolFailed("The path is empty or holds a NUL character.")
        if path == "~" or path.startswith("~/"):
            # Rules read it as the home directory; a file tool must not read it otherwise.
            raise ToolFailed("The path leads outside the workspace.")
        try:
            os.fsencode(path)
        except UnicodeError as error:
            raise ToolFailed("The path holds characters that no file name can have.") from error
        pure = PurePosixPath(path)
        if not pure.is_absolute():
            return pure.parts
        return names_below(pure, (self.root, self.given))


def _replace(
    place: Place, data: bytes, before: os.stat_result | None, expected: Stamp | None
) -> None:
    temporary = f".keyturn-{token_hex(8)}.tmp"
    mode = 0o666 if before is None else 0o600
    file = os.open(temporary, _NEW_FILE, mode, dir_fd=place.parent)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
            stream.flush()
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(file, before.st_uid, before.st_gid)
                os.fchmod(file, stat.S_IMODE(before.st_mode) & 0o777)
            os.fsync(file)
        if expected is not None:
            _check_unchanged(place, expected)
        os.rename(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=place.parent)
        raise
    os.fsync(place.parent)


def _check_unchanged(place: Place, expected: Stamp) -> None:
    now = place.status()
    if now is None or Stamp.of(now) != expected:
        raise ToolFailed("The file was changed by somebody else meanwhile; read it again.")


def _check_regular(info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise ToolFailed("The path names a directory.")
    if not stat.S_ISREG(info.st_mode):
        raise ToolFailed("The path names no regular file.")
