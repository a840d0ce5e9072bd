"""Commands that only read, and so need no question unless a rule or gate says otherwise.

Two lists have to agree: agentscope 2.0's list of read-only commands (by how the text begins) and
our flag profiles (by every word). Neither alone is enough: ``rg --pre ./x`` begins harmlessly.
"""

from typing import Final

from core.permissions.profiles.profile import Offer
from core.permissions.shell.directories import unsure_elsewhere
from core.permissions.shell.rules import Profiles
from core.permissions.shell.words import NotPlain, SimpleCommand, read_commands

# Source: agentscope 2.0's list of read-only commands.
_BEGINNINGS: Final = tuple(
    f"{beginning} "
    for beginning in (
        *("ls", "cat", "head", "tail", "less", "more", "file", "stat", "wc", "grep", "rg", "ag"),
        *("ack", "find", "tree", "pwd", "which", "whereis", "type"),
        *("git status", "git log", "git diff", "git show", "git ls-files", "git ls-tree"),
        *("git cat-file", "git rev-parse", "git rev-list", "git describe", "git shortlog"),
        *("git blame", "git grep", "git config --get", "git config --list"),
        *("docker ps", "docker images", "docker inspect", "docker logs", "docker version"),
        *("docker info", "gh repo view", "gh issue list", "gh pr list"),
        *("python --version", "python -V", "node --version", "node -v"),
        *("npm list", "npm ls", "pip list", "pip show"),
        *("echo", "cd", "true", "false", "printf"),
    )
)


def is_read_only(command: str, profiles: Profiles) -> bool:
    """Whether every part of the command is on both lists. In doubt: no."""
    if ">" in command:
        return False
    try:
        parts = read_commands(command)
    except NotPlain:
        return False
    if unsure_elsewhere(parts) is not None:
        return False
    return all(_begins_harmlessly(part) and _is_covered(part, profiles) for part in parts)


def _begins_harmlessly(part: SimpleCommand) -> bool:
    if not f"{part.text} ".startswith(_BEGINNINGS):
        return False
    return part.words[0].text != "git" or not any(map(_may_write, part.argv[2:]))


def _may_write(word: str) -> bool:
    """An option of git that writes a file or opens a program, also abbreviated or in a cluster."""
    if word.startswith("--"):
        return word.startswith(("--output", "--op"))
    return word.startswith("-") and "O" in word


def _is_covered(part: SimpleCommand, profiles: Profiles) -> bool:
    match = profiles.find_profile(part.argv)
    if match is None or match.profile.any_flags or match.profile.offer is Offer.NOTHING:
        return False
    return profiles.uncovered(match.profile, part.words[match.prefix_len :]) is None
