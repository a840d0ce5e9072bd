"""Allow rules over shell commands, and what may be saved as a rule at all.

A rule's content is one of

- nothing (null): the whole tool, whatever the command;
- exact, ``npm test``: the same words, however they are quoted or spaced;
- prefix, ``git status:*`` or ``git status *``: the same first words, and the rest must be covered
  by the flag profile of that program;
- directory, ``cat src/:*``: the same, for one path below that directory and nothing after it; only
  for programs that the reference runs unasked, as it takes ``src/`` for a whole word;
- wildcard, ``npm run test*`` or ``git * push``: word by word, where ``*`` stands for any text
  inside one word that is no option and holds no ``..``.

Every simple command of a command needs a rule. A rule that can't be judged covers nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from core.errors import RuleRefused
from core.permissions.profiles import Profile, ProfileMatch, names
from core.permissions.profiles.registry import find_profile
from core.permissions.rules import PermissionBehavior
from core.permissions.shell import patterns
from core.permissions.shell.directories import unsure_elsewhere
from core.permissions.shell.wildcards import WildcardIndex
from core.permissions.shell.words import NotPlain, SimpleCommand, Word, read_commands

_OPEN_HOST: Final = re.compile(r"[^*]*://[^/*]*\*")
_NAMED_HOST: Final = re.compile(r"[^*]*://[^/*]+/")


class Profiles(Protocol):
    """The flag profiles: which arguments of which programs only read.

    `core.permissions.profiles.Profiles` is one, and so is that package itself.
    """

    def find_profile(self, argv: Sequence[str], /) -> ProfileMatch | None:
        """The profile of the program (and subcommand) that `argv` begins with."""
        ...

    def uncovered(self, profile: Profile, words: Sequence[Word], /) -> str | None:
        """Why `words`, the arguments after the profile's own words, are not covered."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    """The same words; a special character must stand where it stood in the rule."""

    words: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Words word by word, `*` inside a word if it says so; more words only if `prefix`."""

    words: tuple[str, ...]
    wild: bool
    prefix: bool


@dataclass(frozen=True, slots=True)
class Below:
    """These words, then one path below the directory; the flag profile must cover it."""

    words: tuple[str, ...]
    directory: str


def check_rule(
    content: str | None, behavior: PermissionBehavior, profiles: Profiles | None = None
) -> None:
    """Refuse a rule that would be void or broken. Call it before a rule is saved.

    Raises:
        RuleRefused: with what is wrong and what to write instead.
    """
    if behavior is not PermissionBehavior.ALLOW:
        patterns.check_pattern(content)
        return
    if content is None:
        return
    rule = _read(content)
    if isinstance(rule, Open) and rule.prefix and profiles is not None:
        _check_has_profile(rule, profiles)


def _check_has_profile(rule: Open, profiles: Profiles) -> None:
    remedy = (
        "Save the exact command instead, or declare a flag profile for the program in keyturn.toml."
    )
    match = profiles.find_profile(rule.words)
    if match is None or match.prefix_len > len(rule.words):
        name = " ".join(rule.words[:2])
        raise RuleRefused(f"No flag profile says which arguments of “{name}” only read.", remedy)
    rest = [_plain(text) for text in rule.words[match.prefix_len :]]
    if (
        rest
        and profiles.uncovered(match.profile, rest)
        and profiles.uncovered(match.profile, [*rest, _plain("1")])
    ):
        raise RuleRefused("The flag profile does not cover the words of this prefix.", remedy)


def _plain(text: str) -> Word:
    return Word(text, plain=True, glob=False)


def _read(content: str) -> Exact | Open | Below:
    """What an allow rule says.

    Raises:
        RuleRefused: it can never cover a command, or must not.
    """
    head = content
    prefix = False
    for ending in (":*", " *"):
        if content.endswith(ending):
            head, prefix = content[: -len(ending)].strip(" \t"), True
            break
    words = _words_of_rule(head)
    wild = any(word.glob and "*" in word.text for word in words)
    if not prefix and not wild:
        return Exact(tuple((word.text, word.glob) for word in words))
    _check_open(words)
    if content.endswith("/:*") and not wild and words[0].text in names.RUN_UNASKED:
        *before, directory = (word.text for word in words)
        if before and not directory.startswith("-"):
            return Below(tuple(before), directory)
    return Open(tuple(word.text for word in words), wild, prefix)


def _words_of_rule(head: str) -> tuple[Word, ...]:
    if not head.strip(" \t*:"):
        raise RuleRefused(
            "This rule names no program.",
            "Name the program and its subcommand, or leave the pattern out for the whole tool.",
        )
    try:
        commands = read_commands(head)
    except NotPlain as error:
        raise RuleRefused(
            f"An allow rule can't cover this: {error.reason}.",
            "Write one plain command: a program and literal words.",
        ) from None
    if len(commands) != 1:
        raise RuleRefused(
            "An allow rule covers one command, and this is several.", "Save one rule for each part."
        )
    return commands[0].words


def _check_open(words: tuple[Word, ...]) -> None:
    """What holds for every rule that leaves something open."""
    program = words[0].text
    argv = [word.text for word in words]
    profiled = find_profile(argv) is not None  # one certain program, as in `uv run pytest`
    if not profiled and (names.is_interpreter(program) or names.runs_another_program(argv)):
        raise RuleRefused(
            f"“{program}” can run any program, so it can't be left open what follows.",
            "Save the exact command instead.",
        )
    if "/" in program or words[0].glob:
        raise RuleRefused(
            "A program named by its path can't be left open.",
            "Save the exact command, or name the program without a path.",
        )
    for word in words:
        star = word.text.find("*")
        if word.glob and (star < 0 or not word.plain or set(word.text) & set("?[]{}~")):
            raise RuleRefused(
                "A word of this rule mixes “*” with quotes, or has “?”, “[”, “{” or “~”.",
                "Use only “*”, without quotes, or save the exact command.",
            )
        if word.glob and _leaves_host_open(program, word.text):
            raise RuleRefused(
                "This rule leaves open what is to be reached over the network.",
                "Write the host and the slash behind it: https://api.example.com/*.",
            )
        if word.glob and word.text.startswith("-") and "=" not in word.text[:star]:
            raise RuleRefused(
                "This rule leaves open which option is used.",
                "Name the option, as in “--name=*”.",
            )


def _leaves_host_open(program: str, word: str) -> bool:
    if names.is_network(program):
        return _NAMED_HOST.match(word) is None
    return _OPEN_HOST.match(word) is not None


class AllowRules:
    """The allow rules of one shell tool, indexed: the cost of a decision is in the command."""

    def __init__(self, contents: Sequence[str | None], profiles: Profiles) -> None:
        """`contents` in the order of the rules; a rule that `check_rule` refuses covers nothing."""
        self._whole: int | None = None
        self._exact: dict[tuple[tuple[str, bool], ...], int] = {}
        self._prefixes: dict[tuple[str, ...], int] = {}
        self._below: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        self._wild = WildcardIndex()
        self._longest = 0
        self._profiles = profiles
        for index, content in enumerate(contents):
            self._add(index, content)

    def _add(self, index: int, content: str | None) -> None:
        if content is None:
            self._whole = index if self._whole is None else self._whole
            return
        try:
            rule = _read(content)
        except RuleRefused:
            return
        if isinstance(rule, Exact):
            self._exact.setdefault(rule.words, index)
        elif isinstance(rule, Below):
            self._below.setdefault(rule.words, []).append((rule.directory, index))
        elif rule.wild:
            self._wild.add(rule.words, prefix=rule.prefix, index=index)
        else:
            self._prefixes.setdefault(rule.words, index)
            self._longest = max(self._longest, len(rule.words))

    def covering(self, command: str) -> tuple[int, ...] | str:
        """The indexes of rules that together cover every simple command, or why they do not."""
        if self._whole is not None:
            return (self._whole,)
        if not (self._exact or self._prefixes or self._below or self._wild):
            return "no rule allows it"
        try:
            commands = read_commands(command)
        except NotPlain as error:
            return error.reason
        elsewhere = unsure_elsewhere(commands)
        if elsewhere is not None:
            return elsewhere
        found: set[int] = set()
        for part in commands:
            rule = self._rule_for(part)
            if isinstance(rule, str):
                return rule
            found.add(rule)
        return tuple(sorted(found))

    def _rule_for(self, part: SimpleCommand) -> int | str:
        exact = self._exact.get(tuple((word.text, word.glob) for word in part.words))
        if exact is not None:
            return exact
        refusal = f"no rule covers “{part.words[0].text}” with these arguments"
        literal = _literal(part)
        reach = self._reach(part) if self._prefixes or self._below or self._wild else None
        named = reach if isinstance(reach, int) else None
        index = self._prefix_for(part.argv, literal, named)
        if index is None:
            index = self._wild.find(part.argv, literal, named)
        if index is None and named is not None and literal == len(part.words):
            index = self._below_for(part.argv)
        if index is not None:
            return index
        return f"{refusal}: {reach}" if isinstance(reach, str) else refusal

    def _prefix_for(self, argv: tuple[str, ...], literal: int, reach: int | None) -> int | None:
        if reach is None:
            return None
        for length in range(min(self._longest, literal), reach - 1, -1):
            index = self._prefixes.get(argv[:length])
            if index is not None:
                return index
        return None

    def _below_for(self, argv: tuple[str, ...]) -> int | None:
        path = argv[-1]
        if ".." in path.split("/"):
            return None
        rules = self._below.get(argv[:-1], ())
        return next((index for directory, index in rules if path.startswith(directory)), None)

    def _reach(self, part: SimpleCommand) -> int | str | None:
        """How many words a prefix rule has to name, or why the profile does not cover the rest."""
        match = self._profiles.find_profile(part.argv)
        if match is None:
            return None
        why = self._profiles.uncovered(match.profile, part.words[match.prefix_len :])
        return match.prefix_len if why is None else why


def _literal(part: SimpleCommand) -> int:
    """How many leading words are certain: bash puts nothing else in their place."""
    for position, word in enumerate(part.words):
        if word.glob:
            return position
    return len(part.words)
