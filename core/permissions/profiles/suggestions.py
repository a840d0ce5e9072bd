"""What a card offers to allow from now on, computed from the command that is shown.

For each simple command at most two rules, the narrowest first: the very line, then a prefix that
rests on a flag profile. Nothing is offered when any part of the command is outside the profiles:
rules for the other parts would not spare the next question, and shells, interpreters, wrappers,
destructive commands, expansions, hidden characters and path-qualified programs have no profile.

Two bounds hold besides. A prefix is at least as long as agentscope's own suggestion (the first two
words), unless that engine runs the program unasked anyway (`names.RUN_UNASKED`): where it offers
``sort a:*``, ``sort *`` would be looser, while ``git log *`` and ``ls *`` are not. And where it
offers nothing (a single word, more than five parts) neither do we. Its suggestions for writers
(``git add:*``), runners and network tools are met by the very line or not at all.
"""

import re
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

from core.permissions.profiles import names
from core.permissions.profiles.coverage import uncovered
from core.permissions.profiles.profile import Offer
from core.permissions.profiles.registry import ProfileMatch, find_exact_line, find_profile
from core.permissions.shell.directories import unsure_elsewhere
from core.permissions.shell.words import NotPlain, SimpleCommand, Word, read_commands

MAX_PARTS: Final = 5
"""Most simple commands for which rules are offered; a longer line is judged each time."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-][\w./:@%+=,-]*")
_VERSION_FLAGS: Final = frozenset({"--version", "-V", "-v", "version"})


def suggest_shell_rules(command: str) -> list[str]:
    """The contents of allow rules to offer for `command`, part by part, the narrowest first.

    A prefix ends in `` *``. Together the first rules of all parts cover the command.
    """
    try:
        parts = read_commands(command)
    except NotPlain:
        return []
    if len(parts) > MAX_PARTS or unsure_elsewhere(parts) is not None:
        return []
    offered: dict[str, None] = {}
    for part in parts:
        rules = tuple(_rules_for(part))
        if not rules:
            return []
        offered.update(dict.fromkeys(rules))
    return list(offered)


def _rules_for(part: SimpleCommand) -> Iterator[str]:
    words = part.words
    if not _may_be_offered(words):
        return
    match = find_profile(part.argv)
    if match is None or match.profile.offer is Offer.NOTHING or _outside(match, words):
        if _is_exact_line(part):
            yield from _exact(words)
        return
    yield from _exact(words)
    if match.profile.offer is Offer.PREFIX:
        yield from _prefix(words, match)


def _outside(match: ProfileMatch, words: Sequence[Word]) -> bool:
    return uncovered(match.profile, words[match.prefix_len :]) is not None


def _is_exact_line(part: SimpleCommand) -> bool:
    match = find_exact_line(part.argv)
    if match is not None:
        return not _outside(match, part.words)
    return _asks_for_version(part.argv)


def _asks_for_version(argv: Sequence[str]) -> bool:
    """``terraform --version``: no program does more than print that, so far as it is a reader."""
    program = argv[0]
    return (
        len(argv) == 2
        and argv[1] in _VERSION_FLAGS
        and _PLAIN.fullmatch(program) is not None
        and "/" not in program
        and not names.is_interpreter(program)
        and not names.is_wrapper(program)
        and not names.is_network(program)
        and not names.is_writer(program)
    )


def _exact(words: Sequence[Word]) -> Iterator[str]:
    """The very line; not where the shell would put in other words than were shown."""
    if not any(word.glob for word in words):
        yield " ".join(_quoted(word) for word in words)


def _prefix(words: Sequence[Word], match: ProfileMatch) -> Iterator[str]:
    operands = match.profile.offered_operands
    length = match.prefix_len + operands
    if words[0].text not in names.RUN_UNASKED:
        length = max(length, 2)
    if any(word.text.startswith("-") for word in words[length - operands : length]):
        return
    head = words[:length]
    certain = all(word.plain and not word.glob and _PLAIN.fullmatch(word.text) for word in head)
    if len(head) == length and certain:
        yield " ".join([*(word.text for word in head), "*"])


def _may_be_offered(words: Sequence[Word]) -> bool:
    """The bound of the reference: it looks for a second word that is not quoted."""
    return words[0].text in names.RUN_UNASKED or any(word.plain for word in words[1:])


def _quoted(word: Word) -> str:
    return word.text if word.plain and _PLAIN.fullmatch(word.text) else quote(word.text)
