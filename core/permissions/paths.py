"""Paths as a rule must see them: where a path really leads, not how it is spelled.

A path has three spellings that matter: as the model wrote it, made absolute by text alone (`~` and
`..` folded), and real (symbolic links followed). What touches the disk is passed in as `Paths`.
"""

import os.path
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from core.permissions.profiles.secret_names import names_a_secret, without_invisible
from core.permissions.rules import PermissionContext

# Source: agentscope 2.0's lists of files that change how later programs behave or hold secrets.
SENSITIVE_NAMES = frozenset(
    {
        ".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile",
        ".netrc", ".npmrc", ".pypirc", ".env", ".envrc", ".env.local",
        ".env.development", ".env.test", ".env.staging", ".env.production",
        ".env.development.local", ".env.test.local", ".env.staging.local", ".env.production.local",
        # Further files that shells read when they start or end.
        ".bash_login", ".bash_logout", ".bash_aliases", ".zshenv", ".zlogin", ".zlogout", ".kshrc",
    }
)  # fmt: skip
SENSITIVE_DIRECTORIES = frozenset({".git", ".vscode", ".idea", ".ssh"})


class Paths(Protocol):
    """Where paths lead. Both methods take any spelling and never raise."""

    def absolute(self, path: str) -> str:
        """By text alone: `~` expanded, joined to the working directory, `.` and `..` folded."""
        ...

    def real(self, path: str) -> str:
        """The same with symbolic links followed."""
        ...


@dataclass(frozen=True, slots=True)
class DiskPaths:
    """Paths of this machine, seen from a working directory and a home."""

    cwd: str
    home: str

    def absolute(self, path: str) -> str:
        """By text alone."""
        return os.path.normpath(self._joined(path))

    def real(self, path: str) -> str:
        """Symbolic links followed, before `..` is folded, as the kernel does it."""
        joined = self._joined(path)
        return joined if "\0" in joined else os.path.realpath(joined)

    def _joined(self, path: str) -> str:
        return os.path.join(self.cwd, self._expand(path))  # noqa: PTH118 - Path drops . and /

    def _expand(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return path


def spellings(path: str, paths: Paths) -> tuple[str, str, str]:
    """As written, absolute, real."""
    return path, paths.absolute(path), paths.real(path)


def fold(text: str) -> str:
    """Without case, in one Unicode form and without invisible characters: some file systems see no
    difference. Source: Apple's HFS Plus, technical note 1150."""
    return without_invisible(unicodedata.normalize("NFC", text).casefold())


def is_sensitive(path: str, paths: Paths) -> bool:
    """Whether writing there changes how later programs behave, however it is spelled."""
    return any(
        _named(spelling, SENSITIVE_NAMES, SENSITIVE_DIRECTORIES)
        for spelling in spellings(path, paths)
    )


def is_secret(path: str, paths: Paths) -> bool:
    """Whether reading there gives secrets away, however it is spelled."""
    return any(map(names_a_secret, spellings(path, paths)))


def _named(path: str, names: frozenset[str], directories: frozenset[str]) -> bool:
    parts = fold(path).split("/")
    return parts[-1] in names or not directories.isdisjoint(parts)


def is_inside(path: str, directory: str) -> bool:
    """Whether a real path is a real directory or lies below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def edit_directories(context: PermissionContext, paths: Paths) -> tuple[str, ...]:
    """Real paths of the directories in which `accept_edits` may edit."""
    named: Iterable[str] = (each.path for each in context.working_directories.values())
    return (paths.real("."), *(paths.real(each) for each in named))
