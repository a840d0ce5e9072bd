"""Which profile a command falls under."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.permissions.profiles import (
    build,
    cloud,
    cluster,
    exact,
    files,
    forge,
    git,
    search,
    streams,
    system,
)
from core.permissions.profiles.coverage import uncovered
from core.permissions.profiles.profile import NAME, Profile, is_name
from core.permissions.shell.words import Word

Command = tuple[str, ...]

_CARRIED: Final[Mapping[Command, Mapping[str, int]]] = {
    ("git",): {"--no-pager": 0, "-P": 0},
    ("kubectl",): {"--context": 1, "-n": 1, "--namespace": 1},
    ("systemctl",): {"--user": 0, "--no-pager": 0},
    ("docker", "compose"): {"-f": 1, "--file": 1, "-p": 1, "--project-name": 1},
    ("docker-compose",): {"-f": 1, "--file": 1, "-p": 1, "--project-name": 1},
    ("terraform",): {"-chdir": 1},
    ("tofu",): {"-chdir": 1},
    ("ip",): {"-4": 0, "-6": 0, "-br": 0, "-brief": 0, "-j": 0, "-s": 0, "-o": 0, "-d": 0},
}
"""Options before the subcommand that a rule may carry, with how many words they take. They count as
words of the prefix, so only a rule that spells them out covers them: ``kubectl --context x
get``."""


@dataclass(frozen=True, slots=True)
class ProfileMatch:
    """The profile of a command, and how many of its words name it; a rule names at least these."""

    prefix_len: int
    profile: Profile


def _table(*areas: Sequence[Profile]) -> dict[Command, Profile]:
    table: dict[Command, Profile] = {}
    for profile in (profile for area in areas for profile in area):
        if profile.command in table:
            raise ValueError(f"{' '.join(profile.command)} has two profiles")
        table[profile.command] = profile
    return table


SHIPPED: Final[Mapping[Command, Profile]] = _table(
    files.PROFILES,
    search.PROFILES,
    streams.PROFILES,
    system.PROFILES,
    git.PROFILES,
    cluster.PROFILES,
    forge.PROFILES,
    cloud.PROFILES,
    build.PROFILES,
)
"""The profiles that a prefix rule may rest on, by command."""

EXACT_LINES: Final[Mapping[Command, Profile]] = _table(exact.PROFILES)
"""Commands of which only the very line may be offered."""

_NOTHING: Final[Mapping[Command, Profile]] = {}


def find_profile(
    argv: Sequence[str], extra: Mapping[Command, Profile] | None = None
) -> ProfileMatch | None:
    """The profile of the longest command that `argv` begins with.

    `extra` holds an operator's profiles by command; they win over the shipped ones of equal length.
    A prefix rule must spell out at least the `prefix_len` words, so ``git:*`` covers nothing.
    """
    own = extra if extra is not None else _NOTHING
    found: ProfileMatch | None = None
    key: Command = ()
    position = 0
    while position < len(argv):
        key = (*key, argv[position])
        position += 1
        profile = _named(key, own) or _named(key, SHIPPED)
        if profile is not None:
            found = ProfileMatch(position, profile)
        if len(key) >= _LONGEST and key not in own and not _begins(key, own):
            break
        position = _skip_carried(key, argv, position)
    return found


def find_exact_line(argv: Sequence[str]) -> ProfileMatch | None:
    """What says whether the very line `argv` may be offered, where no prefix may."""
    for length in range(min(len(argv), _LONGEST), 0, -1):
        profile = EXACT_LINES.get(tuple(argv[:length]))
        if profile is not None:
            return ProfileMatch(length, profile)
    return None


@dataclass(frozen=True, slots=True)
class Profiles:
    """The shipped profiles and an operator's own, as the shell rules ask for them."""

    extra: Mapping[Command, Profile] = field(default_factory=dict[Command, Profile])

    def find_profile(self, argv: Sequence[str], /) -> ProfileMatch | None:
        """As `find_profile`, with the operator's profiles."""
        return find_profile(argv, self.extra)

    def uncovered(self, profile: Profile, words: Sequence[Word], /) -> str | None:
        """As `profile.uncovered`."""
        return uncovered(profile, words)


_LONGEST: Final = max(map(len, SHIPPED))


def _named(key: Command, table: Mapping[Command, Profile]) -> Profile | None:
    profile = table.get(key)
    if profile is None and is_name(key[-1]):
        profile = table.get((*key[:-1], NAME))
    return profile


def _begins(key: Command, table: Mapping[Command, Profile]) -> bool:
    return any(command[: len(key)] == key for command in table)


def _skip_carried(key: Command, argv: Sequence[str], position: int) -> int:
    carried = _CARRIED.get(key, {})
    while position < len(argv):
        name, equals, _ = argv[position].partition("=")
        words = carried.get(name)
        if words is None or (equals and not words):
            break
        position += 1 if equals else 1 + words
    return position
