"""A flag profile that an operator declares in ``keyturn.toml``.

::

    [[profiles]]
    command = "crabbox image status"
    flags = ["--json", "--region=", "-v", "-o="]     # a trailing "=": takes a value
    operands = 1                                     # at most; leave it out for any number
"""

import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import RuleRefused
from core.permissions.profiles import names
from core.permissions.profiles.profile import NAME, Globs, Offer, Profile, Style, read_flags

_WORD = re.compile(r"[A-Za-z0-9_][\w.:@+-]*")
_REMEDY = "See “Flag profiles” in core/README.md."
_MAX_WORDS = 6


class ProfileConfig(BaseModel):
    """One ``[[profiles]]`` table; unknown keys and wrong types are mistakes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    command: str
    """The program and its subcommands, one blank between; ``NAME`` stands for any one word."""
    flags: list[str] = Field(default_factory=list[str])
    """``-v``, ``--all``; with a value ``-o=``, ``--region=``; only attached ``--color[=]``."""
    any_flags: bool = False
    """Every argument is covered: for a program that does nothing else than read."""
    operands: Annotated[int, Field(ge=0)] | None = None
    """The greatest number of operands; any number if left out."""
    globs: bool = False
    """Whether ``src/*.py`` and ``~/x`` are fine as operands."""
    reads_files: bool = False
    """Whether it prints files, so that well-known secret files are left out."""
    clusters: bool = True
    """Whether ``-ab`` means ``-a -b``; otherwise a word with one dash is one flag."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_command(self.command)
        if self.any_flags and self.flags:
            raise ValueError("any_flags = true leaves no use for flags; keep one of the two")
        for flag in self.flags:
            _check_flag(flag)
        return self


def profile_from_config(table: Mapping[str, object] | ProfileConfig) -> Profile:
    """The profile that one ``[[profiles]]`` table declares. Cards never offer rules under it.

    Raises:
        RuleRefused: the table has a mistake; all of them are named.
    """
    config = table if isinstance(table, ProfileConfig) else _validated(table)
    style = Style.GNU if config.clusters else Style.WHOLE
    flags, numbers = read_flags(" ".join(config.flags), style)
    return Profile(
        command=tuple(config.command.split()),
        flags=flags,
        numbers=numbers,
        style=style,
        globs=Globs.ROOTED if config.globs else Globs.NONE,
        operands=config.operands,
        reads_files=config.reads_files,
        any_flags=config.any_flags,
        offer=Offer.NOTHING,
    )


def _validated(table: Mapping[str, object]) -> ProfileConfig:
    try:
        return ProfileConfig.model_validate(dict(table))
    except ValidationError as error:
        found = [
            ".".join(map(str, (*mistake["loc"],)))
            + (": " if mistake["loc"] else "")
            + mistake["msg"]
            for mistake in error.errors()
        ]
        raise RuleRefused(f"This flag profile has mistakes: {'; '.join(found)}.", _REMEDY) from None


def _check_command(command: str) -> None:
    words = command.split(" ")
    if len(words) > _MAX_WORDS or not all(map(_WORD.fullmatch, words)):
        raise ValueError("command must be a program's name and its subcommands, without a path")
    if words[0] == NAME:
        raise ValueError("command must begin with the name of one program")
    program = words[0]
    for is_one, what in (
        (names.is_shell(program), "a shell"),
        (names.is_interpreter(program), "an interpreter"),
        (names.runs_another_program(words), "a wrapper that runs another program"),
    ):
        if is_one:
            raise ValueError(f"{command} is {what}; allow exact commands instead")


def _check_flag(flag: str) -> None:
    if not re.fullmatch(r"(?:-[\w?#@]|--?[A-Za-z0-9][\w.-]*)(?:=|\[=\])?|-NUM", flag):
        raise ValueError(f"{flag!r} is no flag; write -v, --all, -o=, --region= or --color[=]")
