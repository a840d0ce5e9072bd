"""Deny rules, ask rules and gates over shell commands: any part of a command is enough.

A rule matches what agentscope's would match in the raw text, and every smuggled form of it that
the text shows: quoted, with a path, in other letters' case, behind a wrapper, in a substitution, a
loop, a function or ``sh -c``, with options before the subcommand. A deny rule is still only a
second line; what keeps a program from running is that nothing allows it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from core.permissions.shell.flags import FlagRules
from core.permissions.shell.patterns import PatternIndex, read_pattern
from core.permissions.shell.programs import Argv, TooMuch, programs

_MOST_OPTIONS: Final = 32
_EXTENSION: Final = re.compile(r"\.(?:exe|cmd|bat|com)$")
_GLOB: Final = re.compile(r"[*?\[]")


class DenyRules:
    """The deny (or ask) rules of one shell tool, indexed."""

    def __init__(self, contents: Sequence[str | None]) -> None:
        """`contents` in the order of the rules. A broken pattern matches every command."""
        self._raw = PatternIndex((i, read_pattern(content)) for i, content in enumerate(contents))
        self._read = PatternIndex(
            (i, read_pattern(form))
            for i, content in enumerate(contents)
            for form in _forms(content)
        )
        self._programs = {_program(content) for content in contents if content}
        self._flagged = FlagRules(contents)
        self._any = bool(contents)

    def first(self, command: str) -> int | None:
        """The index of the first rule that matches, or None.

        A command past the limits of reading matches the first rule: what it starts is unknown.
        """
        if not self._any:
            return None
        found = [index for index in [self._raw.first(command)] if index is not None]
        try:
            started = programs(command)
        except TooMuch:
            return 0
        found.extend(index for argv in started for index in self._flagged.matching(argv))
        for text in {form for argv in started for form in self._texts(argv)}:
            index = self._read.first(text)
            if index is not None:
                found.append(index)
        return min(found, default=None)

    def _texts(self, argv: Argv) -> Iterator[str]:
        """The ways to write this program that a rule might have meant."""
        argvs = [argv, *_without_leading_options(argv)]
        for form in argvs:
            yield " ".join(form)
            for name in {form[0].lower(), _EXTENSION.sub("", form[0].lower())}:
                yield " ".join((name, *form[1:]))
        if _GLOB.search(argv[0]):
            for program in self._programs:
                if fnmatchcase(program, argv[0].lower()):
                    yield " ".join((program, *argv[1:]))


def _without_leading_options(argv: Argv) -> Iterable[Argv]:
    """``git -C x push`` as ``git push``: each option may or may not take the next word."""
    forms: list[Argv] = []
    positions = {1}
    while positions and len(forms) < _MOST_OPTIONS:
        at = min(positions)
        positions.remove(at)
        if at >= len(argv):
            continue
        if argv[at].startswith("-"):
            positions.add(at + 1)
            if "=" not in argv[at]:
                positions.add(at + 2)
        if at > 1:
            forms.append((argv[0], *argv[at:]))
    return forms


def _forms(content: str | None) -> Iterator[str | None]:
    """The rule as it is, and as a reader of words would write it: one blank, no quotes."""
    yield content
    if content:
        ending = ":*" if content.endswith(":*") else ""
        words = re.sub(r"[\"']", "", content.removesuffix(ending)).split()
        if words:
            words[0] = re.split("/", words[0])[-1].lower() or words[0]
            yield " ".join(words) + ending


def _program(content: str) -> str:
    words = content.removesuffix(":*").split()
    return words[0].split("*")[0].lower() if words else ""
