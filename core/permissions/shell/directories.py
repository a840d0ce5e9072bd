"""What a `cd` earlier in a line does to the parts behind it.

A rule, and the list of what only reads, speak of programs in the workspace. Behind a `cd` the same
words may mean something else: ``./deploy.sh`` is another file, ``rm -f x`` removes another one, and
git takes its configuration, which names programs to run, from any directory that merely looks like
a bare repository (``HEAD``, ``config``, ``objects``, ``refs``), without a ``.git`` in its path.
Source: git's manual, `safe.bareRepository`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from core.permissions.profiles.registry import find_exact_line, find_profile
from core.permissions.shell.words import SimpleCommand

_MOVERS: Final = frozenset({"cd", "pushd", "popd"})


def unsure_elsewhere(parts: Sequence[SimpleCommand]) -> str | None:
    """Why the parts behind a change of directory can't be judged by rules; None if they can.

    They can where the program is a known reader or runner that is found by its name, git aside.
    """
    for part in _behind_a_move(parts):
        program = part.words[0].text
        known = find_profile(part.argv) or find_exact_line(part.argv)
        if program == "git" or (known is None and program not in _MOVERS):
            return f"“{program}” may do something else after “cd”"
    return None


def _behind_a_move(parts: Sequence[SimpleCommand]) -> Iterator[SimpleCommand]:
    moved = False
    for part in parts:
        if moved:
            yield part
        moved |= part.words[0].text in _MOVERS
