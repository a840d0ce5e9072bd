"""Shell text inside the words of a command, and what variables stand for, read liberally.

For deny rules and safety asks alone: what is found here may never run.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from core.permissions.profiles import names

_TEXT_ARGUMENTS: Final = frozenset(
    {"watch", "ssh", "su", "script", "parallel", "trap", "alias", "flock", "tmux", "screen"}
    | {"runuser", "env", "mapfile", "readarray", "complete", "compgen", "bind"}
)
_READ_SHELL_TEXT: Final = frozenset({"at", "batch"})
_SUBSCRIPTS: Final = frozenset({"test", "[", "[[", "printf", "let", "read", "declare", "unset"})
_PRINTERS: Final = frozenset({"echo", "printf"})
_PROGRAM_OPTION: Final = re.compile(
    r"--(?:to-command|use-compress-program|compress-prog\w*|checkpoint-action|pre|exec"
    r"|exec-batch|split-string|rsh|rsync-path|pager|editor|html|upload-pack|receive-pack"
    r"|open-files-in-pager|extcmd|command)(?:=(?:exec=)?(.*))?",
    re.DOTALL,
)
"""Options whose value is a program: of tar, sort, rg, fd, env, rsync, git, man and others."""
_PROGRAM_LETTER: Final = {
    "env": re.compile(r"-[A-Za-z0]*S(.*)", re.DOTALL),
    "fd": re.compile(r"-[A-Za-z0]*[xX](.*)", re.DOTALL),
    "fdfind": re.compile(r"-[A-Za-z0]*[xX](.*)", re.DOTALL),
    "rsync": re.compile(r"-[A-Za-z0]*e(.*)", re.DOTALL),
}
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_ASSIGNED: Final = re.compile(
    r"(?:^|[\s;&|({])([A-Za-z_]\w*)=(\"[^\"$`]{1,256}\"|'[^']{1,256}'|[^\s;&|()'\"$`<>]{1,256})"
)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_PRINTED: Final = re.compile(
    r"\$\(\s*(?:echo|printf)\s+([^()$`]*)\)|`\s*(?:echo|printf)\s+([^()$`]*)`"
)
_MOST_REPLACED: Final = 256


def feeds_a_shell(argv: Sequence[str]) -> bool:
    """Whether the program reads shell text from its input."""
    return names.is_shell(argv[0]) or names.base_name(argv[0]) in _READ_SHELL_TEXT


def texts_of(argv: Sequence[str], *, feeds_shell: bool) -> list[str]:
    """The arguments of `argv` that are shell text themselves, or may be."""
    name = names.base_name(argv[0]).lower()
    found = [*_arguments(name, argv, feeds_shell=feeds_shell), *_option_values(name, argv)]
    if name == "git":
        found += _git(argv)
    if names.is_interpreter(name) and not names.is_shell(name):
        found += _code(argv)
    return found


def _arguments(name: str, argv: Sequence[str], *, feeds_shell: bool) -> list[str]:
    if names.is_shell(name) or name in _TEXT_ARGUMENTS:
        texts = [re.sub(r"^[A-Za-z_]\w*=", "", word) for word in argv[1:]]
        return [*texts, " ".join(argv[1:])] if len(argv) > 2 else texts
    if name in _PRINTERS and feeds_shell:
        return list(argv[1:])
    if name in _SUBSCRIPTS:
        return [word for word in argv[1:] if "$(" in word or "`" in word]
    return []


def _option_values(name: str, argv: Sequence[str]) -> Iterator[str]:
    letter = _PROGRAM_LETTER.get(name)
    for at, word in enumerate(argv[1:], start=1):
        option = _PROGRAM_OPTION.fullmatch(word) or (letter and letter.fullmatch(word))
        if option:
            yield option[1] or " ".join(argv[at + 1 : at + 2])


def _git(argv: Sequence[str]) -> Iterator[str]:
    """Configuration that names programs, and what runs in each submodule or at each step."""
    for at, word in enumerate(argv[1:], start=1):
        if argv[at - 1] == "-c" or word.startswith("-c"):
            yield word.partition("=")[2].removeprefix("!")
        if word in {"foreach", "run"}:
            yield " ".join(argv[at + 1 :])


def _code(argv: Sequence[str]) -> Iterator[str]:
    """Quoted texts in code of another language (``os.system("rm x")``), and an editor's ``!rm``."""
    for word in argv[1:]:
        for double, single in _QUOTED.findall(word):
            yield double or single
        if word.lstrip(":").startswith("!"):
            yield word.lstrip(":!")


def with_values(text: str) -> str:
    """The text with variables that it sets itself, and what it merely prints, put in place."""
    values = {name: value.strip("\"'") for name, value in _ASSIGNED.findall(text)}

    def value(match: re.Match[str]) -> str:
        return str(values.get(match.group(1) or match.group(2), match.group()))

    def printed(match: re.Match[str]) -> str:
        return re.sub(r"[\"'\\]", "", match.group(1) or match.group(2) or "")

    for _ in range(2):
        text = _VARIABLE.sub(value, text, count=_MOST_REPLACED) if values else text
        text = _PRINTED.sub(printed, text, count=_MOST_REPLACED)
    return text
