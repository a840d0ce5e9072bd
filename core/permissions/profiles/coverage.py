"""Whether a flag profile covers the arguments of a command."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.permissions.profiles.profile import Globs, Profile, Style, Takes
from core.permissions.profiles.secret_names import names_a_secret
from core.permissions.shell.words import Word

_GLOB_CHARACTERS = re.compile(r"[*?\[\]{}~!]")
_NEGATIVE = re.compile(r"-\d[\w.%]*")


@dataclass(slots=True)
class _Arguments:
    """The words after the command, sorted into flags (name, value) and operands."""

    flags: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    operands: list[Word] = field(default_factory=list[Word])


class _Uncovered(Exception):
    """Why a word is outside the profile."""


def uncovered(profile: Profile, words: Sequence[Word]) -> str | None:
    """Why `words`, those after the profile's command, are not covered; None when they are."""
    try:
        if profile.any_flags:
            for word in words:
                _check_glob(profile, word)
            return None
        arguments = _sort_out(profile, words)
        _check_operands(profile, arguments)
        _check_secrets(profile, arguments)
    except _Uncovered as why:
        return str(why)
    return None


def _sort_out(profile: Profile, words: Sequence[Word]) -> _Arguments:
    arguments = _Arguments()
    position, flags_end = 0, profile.style is Style.TEXT
    while position < len(words):
        word = words[position]
        position += 1
        if flags_end or not word.text.startswith("-") or word.text == "-":
            _check_glob(profile, word)
            arguments.operands.append(word)
            flags_end = flags_end or profile.style is Style.FIRST
        elif word.text == "--" and profile.style is not Style.WHOLE:
            flags_end = True
        else:
            position += _take_flag(profile, word, words[position:], arguments)
    return arguments


def _take_flag(
    profile: Profile, word: Word, following: Sequence[Word], arguments: _Arguments
) -> int:
    """Note the flag or cluster in `word`; return how many of the `following` words are its
    values."""
    if word.glob:
        _check_glob_in_flag(profile, word)
    text = word.text
    if profile.numbers and text[1:].isascii() and text[1:].isdigit():
        return 0
    if text.startswith("--") or profile.style is Style.WHOLE:
        name, equals, value = text.partition("=")
        takes = profile.flags.get(name)
        attached = value if equals else None
        return _take_value(profile, (name, takes), attached, following, arguments)
    for at, letter in enumerate(text[1:], start=2):
        name, rest = f"-{letter}", text[at:]
        takes = profile.flags.get(name)
        if takes is not Takes.NOTHING:
            if profile.loose_values and rest and not rest.isdecimal():
                raise _Uncovered(f"{rest} may be read as flags")
            attached = rest.removeprefix("=") if rest else None
            return _take_value(profile, (name, takes), attached, following, arguments)
        arguments.flags.append((name, ""))
    return 0


def _take_value(
    profile: Profile,
    flag: tuple[str, Takes | None],
    attached: str | None,
    following: Sequence[Word],
    arguments: _Arguments,
) -> int:
    name, takes = flag
    if takes is None:
        raise _Uncovered(f"{name} is not in the profile of {' '.join(profile.command)}")
    if takes is Takes.NOTHING and attached is not None:
        raise _Uncovered(f"{name} takes no value")
    if attached is not None or takes in (Takes.NOTHING, Takes.ATTACHED):
        if takes is Takes.TWO:
            raise _Uncovered(f"{name} takes its two values as words of their own")
        _note(profile, name, attached, arguments)
        return 0
    count = 2 if takes is Takes.TWO else 1
    if len(following) < count:
        raise _Uncovered(f"{name} needs a value")
    for word in following[:count]:
        _check_separate(profile, name, word)
        _note(profile, name, word.text, arguments)
    return count


def _check_separate(profile: Profile, name: str, word: Word) -> None:
    """A value in a word of its own: no glob, and nothing that another version takes for a flag."""
    if word.glob:
        raise _Uncovered(f"the shell may expand the value of {name}")
    looks_like_flag = word.text.startswith("-") and word.text != "-"
    if looks_like_flag and name not in profile.values and not _NEGATIVE.fullmatch(word.text):
        raise _Uncovered(f"the value of {name} looks like a flag")


def _note(profile: Profile, name: str, value: str | None, arguments: _Arguments) -> None:
    pattern = profile.values.get(name)
    if pattern is not None and value is not None and not pattern.fullmatch(value):
        raise _Uncovered(f"this value of {name} is not in the profile")
    arguments.flags.append((name, value or ""))


def _check_glob(profile: Profile, word: Word) -> None:
    if not word.glob or profile.globs is Globs.ANY:
        return
    rooted = word.text[:1] not in ("", "*", "?", "[", "{", "!", "-")
    if profile.globs is Globs.NONE or not rooted:
        raise _Uncovered(f"the shell may expand {word.text} to words that are not shown")


def _check_glob_in_flag(profile: Profile, word: Word) -> None:
    name, equals, _ = word.text.partition("=")
    literal = bool(equals) and not _GLOB_CHARACTERS.search(name)
    if profile.globs is Globs.NONE or not literal or name in profile.values:
        raise _Uncovered(f"the shell may expand {word.text} to words that are not shown")


def _check_operands(profile: Profile, arguments: _Arguments) -> None:
    given = {name for name, _ in arguments.flags}
    if profile.requires and not profile.requires & given:
        raise _Uncovered(f"one of {', '.join(sorted(profile.requires))} is needed")
    plain = list(arguments.operands)
    if profile.script is not None and not profile.script_flags & given and plain:
        script = plain.pop(0)
        if script.glob or not profile.script.fullmatch(script.text):
            raise _Uncovered(f"{script.text} is not in the profile")
    most = profile.operands
    if profile.operand_flags:
        most = None if profile.operand_flags & given else 0
    if most is not None and len(plain) > most:
        raise _Uncovered(f"{plain[most].text} is one operand too many")
    for word in plain:
        if profile.operand and (word.glob or not profile.operand.fullmatch(word.text)):
            raise _Uncovered(f"{word.text} is not an operand of the profile")


def _check_secrets(profile: Profile, arguments: _Arguments) -> None:
    if not profile.reads_files:
        return
    given = {name for name, _ in arguments.flags}
    skip = 1 if profile.script is not None and not profile.script_flags & given else 0
    texts = [word.text for word in arguments.operands[skip:]]
    texts += [value for name, value in arguments.flags if name not in profile.script_flags]
    for text in texts:
        if names_a_secret(text):
            raise _Uncovered(f"{text} usually holds a secret")
