"""A flag profile: what one program may be told under a prefix rule; `coverage` judges by it.

A prefix rule such as ``git log:*`` says which program may run; the profile says with which flags
and operands. It is an allow-list: an unknown flag, an abbreviated one, an unknown letter in a
cluster or a value where none belongs leaves the command uncovered, and the call asks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

ANYTHING = r"[\s\S]*"
RELATIVE = r"(?![/~@-])(?!(?:[\s\S]*/)?\.\.(?:/|$))[\s\S]+"
"""A path below the working directory; no ``@file``, from which many programs read more flags."""
NAME = "NAME"
"""Stands for one word of a command that the rule has to spell out, as in ``npm run NAME``."""

_NAME_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_:.@/-]*")
_DECLARED_FLAG = re.compile(r"(--?[A-Za-z0-9?#@][\w?#@.-]*)(==|\[=\]|=)?")


class Takes(Enum):
    """What follows a flag."""

    NOTHING = ""
    VALUE = "="
    """One value: the next word, ``--flag=value``, or attached to a short flag."""
    ATTACHED = "[="
    """A value only when attached: ``--color`` or ``--color=auto``, ``-U`` or ``-U3``."""
    TWO = "=="
    """Two words, as ``jq --arg name value``."""


class Style(Enum):
    """How a program reads its arguments."""

    GNU = "gnu"
    """Long flags have two dashes; short ones may be clustered; flags and operands mix."""
    WHOLE = "whole"
    """A word with one dash is one flag (find, test, go, terraform); no clusters."""
    FIRST = "first"
    """As GNU, but the first operand ends the flags (printf)."""
    TEXT = "text"
    """Every word is text (echo)."""


class Globs(Enum):
    """Which words the shell may still expand."""

    NONE = "none"
    ROOTED = "rooted"
    """Only those that can't expand to a word that looks like a flag: ``src/*.py``, ``~/x``."""
    ANY = "any"
    """Also ``*.py``: for programs all of whose flags are harmless."""


class Offer(Enum):
    """What a card may offer as a standing rule for a command that this profile covers."""

    PREFIX = "prefix"
    EXACT = "exact"
    """It runs code of the project, or sends a request: only the very line is offered."""
    NOTHING = "nothing"
    """A rule has to be written by hand: the output may hold secrets, or it ties up a worker."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The arguments that a prefix rule may cover, for one program or subcommand.

    `operands` is the greatest number of operands (None: any); with `operand_flags`, operands count
    only when one of those flags is given. `requires` names flags of which one must be present.
    `script`, if set, is the pattern of the first operand (a search pattern, a sed script), unless
    one of `script_flags` has already given it. `values` holds a pattern per flag whose value
    matters. `loose_values` says that a value never follows in the same word as a short flag, so
    that what follows are further flags; digits are fine. `reads_files` marks programs that print
    what a file holds: well-known secret files are not covered. `offered_operands` says how many
    operands a prefix on a card holds besides the command.
    """

    command: tuple[str, ...]
    flags: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    numbers: bool = False
    style: Style = Style.GNU
    globs: Globs = Globs.ROOTED
    operands: int | None = None
    operand: re.Pattern[str] | None = None
    operand_flags: frozenset[str] = frozenset()
    requires: frozenset[str] = frozenset()
    script: re.Pattern[str] | None = None
    script_flags: frozenset[str] = frozenset()
    values: Mapping[str, re.Pattern[str]] = field(default_factory=dict[str, re.Pattern[str]])
    loose_values: bool = False
    reads_files: bool = False
    any_flags: bool = False
    offer: Offer = Offer.PREFIX
    offered_operands: int = 0


def read_flags(declared: str, style: Style = Style.GNU) -> tuple[dict[str, Takes], bool]:
    """Read a declaration such as ``-aAl -ITw= --all --color[=] -NUM``.

    A word with one dash holds one letter per flag (in `Style.WHOLE` it is one flag). A trailing
    ``=`` means "takes a value", ``[=]`` "only attached", ``==`` "two words". ``-NUM`` admits
    ``-30``.

    Returns:
        The flags with what follows each, and whether ``-NUM`` was declared.

    Raises:
        ValueError: a word is no declaration.
    """
    flags: dict[str, Takes] = {}
    words = declared.split()
    for word in words:
        if word == "-NUM":
            continue
        found = _DECLARED_FLAG.fullmatch(word)
        if found is None:
            raise ValueError(f"{word!r} does not declare a flag")
        name, mark = found.group(1), (found.group(2) or "").rstrip("]")
        whole = name.startswith("--") or style is Style.WHOLE
        for flag in (name,) if whole else [f"-{letter}" for letter in name[1:]]:
            flags[flag] = Takes(mark)
    return flags, "-NUM" in words


def profile(  # noqa: PLR0913 - the one declaration form of the tables
    command: str,
    flags: str = "",
    *,
    style: Style = Style.GNU,
    globs: Globs = Globs.ROOTED,
    operands: int | None = None,
    operand: str | None = None,
    operand_flags: str = "",
    requires: str = "",
    script: str | None = None,
    script_flags: str = "",
    values: Mapping[str, str] | None = None,
    loose_values: bool = False,
    reads_files: bool = False,
    offer: Offer = Offer.PREFIX,
    offered_operands: int = 0,
) -> Profile:
    """Declare a profile; the strings are those of `read_flags`, regular expressions and flag
    names."""
    known, numbers = read_flags(flags, style)
    return Profile(
        command=tuple(command.split()),
        flags=known,
        numbers=numbers,
        style=style,
        globs=globs,
        operands=operands,
        operand=None if operand is None else re.compile(operand),
        operand_flags=frozenset(operand_flags.split()),
        requires=frozenset(requires.split()),
        script=None if script is None else re.compile(script),
        script_flags=frozenset(script_flags.split()),
        values={name: re.compile(pattern) for name, pattern in (values or {}).items()},
        loose_values=loose_values,
        reads_files=reads_files,
        offer=offer,
        offered_operands=offered_operands,
    )


def is_name(word: str) -> bool:
    """Whether `word` may stand for `NAME`: a script or target, never a flag."""
    return _NAME_WORD.fullmatch(word) is not None
