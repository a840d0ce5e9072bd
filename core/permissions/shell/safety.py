"""What asks a person whatever allow rules and modes say, and the edits that a mode may allow.

The list is agentscope 2.0's, read more strictly: quotes, paths, wrappers and the order of flags
hide nothing. It is a list of known dangers, not a proof of harmlessness.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from core.permissions.paths import Paths, is_inside, is_sensitive
from core.permissions.profiles import names
from core.permissions.shell.grammar import TooSlow, parse
from core.permissions.shell.programs import Argv, TooMuch, programs
from core.permissions.shell.sed import sed_reason
from core.permissions.shell.simple import plain_words
from core.permissions.shell.words import NotPlain, SimpleCommand, read_commands

# Source: the shapes, patterns and programs that agentscope 2.0's Bash tool asks about.
_SHAPES: Final = {
    "command_substitution": "it runs a command inside another (substitution)",
    "process_substitution": "it runs a command in place of a file",
    "expansion": "it expands a variable with ${…}",
    "subshell": "it uses a subshell",
    "for_statement": "it uses a loop",
    "c_style_for_statement": "it uses a loop",
    "while_statement": "it uses a loop",
    "until_statement": "it uses a loop",
    "if_statement": "it uses a condition",
    "case_statement": "it uses a condition",
    "function_definition": "it defines a function",
    "test_command": "it uses a test",
}
_DANGERS: Final = re.compile(
    r"rm -rf|sudo rm|\bdd\b|\bmkfs\b|fdisk|(?<!--)format"
    r"|chmod 777|chmod -R 777|chown -R|kill -9|> /dev/"
)
_FORMAT: Final = "--format"
_KEPT: Final = 16
"""How many readings are kept: judging and offering look at the same command."""
_QUOTING: Final = re.compile(r"[\"'\\]")
_SHORT_FLAGS: Final = re.compile(r"-[A-Za-z0-9]+")
_HARMLESS_DEVICES: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_WRITERS_TOO: Final = frozenset({"sed", "rsync", "scp", "ln", ">"})
_EDIT_FLAGS: Final = {
    "mkdir": frozenset({"-p", "-v", "-pv"}),
    "touch": frozenset({"-a", "-c", "-m"}),
    "rm": frozenset({"-f", "-r", "-R", "-v", "-d"}),
    "rmdir": frozenset({"-v"}),
    "mv": frozenset({"-f", "-n", "-v", "-u"}),
    "cp": frozenset({"-f", "-n", "-v", "-u", "-p"}),
    "sed": frozenset({"-n", "-E", "-i"}),
}
"""The programs of edits, and the flags that neither name a path nor follow one elsewhere."""


def safety_reason(command: str, paths: Paths) -> str | None:
    """Why this command must be asked about, whatever rules and modes say; None if nothing is known.

    A phrase for people. At least everything that agentscope's own safety asks are about.
    """
    return danger_reason(command, paths) or look_reason(command)


def look_reason(command: str) -> str | None:
    """What looks dangerous to a search in the text, and is the harmless option of a program: a
    narrow rule for that program may answer it."""
    return f"it holds “{_FORMAT}”" if _FORMAT in command else _sed_in_text(command)


def danger_reason(command: str, paths: Paths) -> str | None:
    """What is dangerous, or can't be read: no rule of anybody answers it."""
    if not command.strip():
        return None
    reason, started = _text_danger(command)
    if reason is not None:
        return reason
    reasons = (check(argv, paths) for argv in started for check in _PATH_CHECKS)
    return next(filter(None, reasons), None)


@lru_cache(maxsize=_KEPT)
def _text_danger(command: str) -> tuple[str | None, tuple[Argv, ...]]:
    """What is dangerous wherever the paths in it lead, and the programs that the command starts."""
    try:
        shape = _shape(command)
        started: tuple[Argv, ...] = () if shape else programs(command)
    except (TooMuch, TooSlow):
        return "it is too long or too deep to be read", ()
    if shape:
        return shape, ()
    texts = [" ".join(command.split()), *(" ".join(argv) for argv in started if argv[0] != ">")]
    dangers = (_DANGERS.search(text) for text in texts)
    for danger in filter(None, dangers):
        return f"it holds “{danger.group()}”", started
    reasons = (check(argv) for argv in started for check in _TEXT_CHECKS)
    return next(filter(None, reasons), None), started


def _shape(command: str) -> str | None:
    if plain_words(command):
        return None
    root = parse(command.encode(errors="replace"))
    if root.has_error:
        return "its syntax can't be read for sure"
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_named and node.type in _SHAPES:
            return _SHAPES[node.type]
        stack.extend(reversed(node.children))
    return None


def _flags(argv: Argv) -> tuple[frozenset[str], frozenset[str]]:
    """The letters of the short flags and the names of the long ones."""
    short = "".join(word[1:] for word in argv[1:] if _SHORT_FLAGS.fullmatch(word))
    return frozenset(short), frozenset(word for word in argv[1:] if word.startswith("--"))


def _hidden_danger(argv: Argv) -> str | None:
    if argv[0] == ">":
        return "it writes to a device" if any(map(_is_device, argv[1:])) else None
    letters, long = _flags(argv)
    recursive = bool(letters & {"r", "R"}) or "--recursive" in long
    name = argv[0].lower()
    words = set(argv[1:])
    if name == "rm" and recursive and ("f" in letters or "--force" in long):
        return "it removes whole directories without asking"
    if name == "chmod" and words & {"777", "0777", "a+rwx", "ugo+rwx"}:
        return "it opens files to everyone"
    if name == "chown" and recursive:
        return "it changes the owner of whole directories"
    if name in {"kill", "pkill", "killall"} and words & {"-9", "-KILL", "-SIGKILL", "KILL", "9"}:
        return "it kills without warning"
    return None


def _is_device(target: str) -> bool:
    return target.startswith("/dev/") and target not in _HARMLESS_DEVICES


def _sed(argv: Argv) -> str | None:
    for at, word in enumerate(argv):
        if word == "sed" or word.endswith("/sed"):
            return sed_reason(argv[at + 1 :])
    return None


def _sed_in_text(command: str) -> str | None:
    """The reference takes every option behind `sed`, another program's too, for one of sed's own,
    and asks about those that it does not know."""
    if "sed" not in _QUOTING.sub("", command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    first = next((at for at, word in enumerate(words) if word.split("/")[-1] == "sed"), len(words))
    behind = words[first + 1 :]
    unknown = (
        word.startswith("--file") or (word[:1] == "-" != word[1:2] and set(word[1:]) - set("nEei"))
        for word in behind
    )
    scripts = (["-n", script] for flag, script in pairwise(behind) if flag == "-e")
    if any(unknown) or any(map(sed_reason, scripts)):
        return "it uses sed beside options that are not known to be sed's harmless ones"
    return None


def _sensitive_path(argv: Argv, paths: Paths) -> str | None:
    name = argv[0].lower()
    if not names.is_writer(name) and name not in _WRITERS_TOO:
        return None
    for word in argv[1:]:
        for path in (word, word.partition("=")[2]):
            if path and not path.startswith("-") and is_sensitive(path, paths):
                return "it touches a file that steers programs or holds secrets"
    return None


def _removes_a_root(argv: Argv, paths: Paths) -> str | None:
    if argv[0].lower() not in {"rm", "rmdir"}:
        return None
    home = {paths.absolute("~"), paths.real("~")}
    for word in argv[1:]:
        if word in {"*", "./*"} or word.endswith("/*"):
            return "it removes everything in a directory"
        if word.startswith("-") or not word:
            continue
        where = {paths.absolute(word), paths.real(word)}
        if where & home or any(path.count("/") <= 1 for path in where):
            return "it removes a directory at the root, or the home directory"
    return None


_TEXT_CHECKS: Final[tuple[Callable[[Argv], str | None], ...]] = (_hidden_danger, _sed)
_PATH_CHECKS: Final[tuple[Callable[[Argv, Paths], str | None], ...]] = (
    _sensitive_path,
    _removes_a_root,
)


def edits_inside(command: str, directories: Sequence[str], paths: Paths) -> bool:
    """Whether every part is a plain edit and every path of it lies inside one of `directories`.

    Edits are mkdir, touch, rm, rmdir, mv, cp and sed; `directories` are real paths. At least one
    path has to be written without quotes, as the reference sees no others.
    """
    if ">" in command or safety_reason(command, paths):
        return False
    try:
        parts = read_commands(command)
    except NotPlain:
        return False
    operands = [_edited(part) for part in parts]
    seen = False
    for words in operands:
        if words is None:
            return False
        for text, plain in words:
            real = paths.real(text)
            if not any(is_inside(real, directory) for directory in directories):
                return False
            seen |= plain
    return seen


def _edited(part: SimpleCommand) -> list[tuple[str, bool]] | None:
    """The paths that a plain edit names, and whether each is written plainly; None if unsure."""
    flags = _EDIT_FLAGS.get(part.words[0].text)
    if flags is None or any(word.glob and not word.text.startswith("~/") for word in part.words):
        return None
    operands = [word for word in part.words[1:] if word.text not in flags]
    if any(word.text.startswith("-") or not word.text for word in operands):
        return None
    if part.words[0].text == "sed":
        operands = operands[1:]
    found = [(word.text, word.plain) for word in operands]
    if part.words[0].text in {"cp", "mv"} and found:
        found.extend((f"{found[-1][0]}/{each.rsplit('/', 1)[-1]}", False) for each, _ in found[:-1])
    return found or None
