"""Every program that a command could start, read liberally: for deny rules and safety asks.

The opposite of `words`: whatever looks like a command anywhere (in a substitution, a loop, a
function, a here-document for a shell, behind ``sudo`` or inside ``sh -c``) counts. It can name
programs that bash would not start. Nothing here ever allows anything.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import tree_sitter

from core.permissions.profiles import names
from core.permissions.shell.blind import split_blindly, substituted
from core.permissions.shell.grammar import TooSlow, deadline, parse, parse_until
from core.permissions.shell.literals import PARAMETER, expand_braces, literal
from core.permissions.shell.simple import plain_words
from core.permissions.shell.texts import feeds_a_shell, texts_of, with_values

Argv = tuple[str, ...]

MAX_DEPTH: Final = 6
"""How deep text inside text (``sh -c``, ``eval``) is followed."""

MAX_SIZE: Final = 131_072
"""Longest command that is read, in characters. Source: Linux takes no longer single argument."""

MAX_READ: Final = 4 * MAX_SIZE
"""Most characters that are read for one command, all text inside text together."""

MAX_TEXTS: Final = 1024
"""Most pieces of text inside text for one command."""

MAX_WRAPPED: Final = 128
"""Most words of one command that could each be a program's name."""

MAX_PROGRAMS: Final = 4096
"""Most programs that are listed for one command."""

MAX_WORDS: Final = 65_536
"""Most words in all programs of one command; wrappers repeat the words behind them."""

_KEPT: Final = 8
"""How many readings are kept: few, because one may be large."""

_COMMANDS: Final = frozenset(
    {"command", "declaration_command", "unset_command", "test_command", "negated_command"}
)
_TEXT_TYPES: Final = frozenset({"heredoc_body", "herestring_redirect"})
_MAY_HIDE: Final = frozenset({"expansion", "arithmetic_expansion", "regex"})
_EXEC_FLAGS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"})
_EXEC_PROGRAMS: Final = frozenset({"find", "fd", "fdfind", "rebase", "bisect"})
_CONTAINERS: Final = frozenset(
    {"docker", "docker-compose", "podman", "nerdctl", "crictl", "kubectl", "oc"}
)
_OPEN_HEREDOC: Final = re.compile(r"<<-?[ \t]*[\w]")
_SKIPPED_BEFORE_PROGRAM: Final = re.compile(r"[A-Za-z_]\w*\+?=.*|\d+[smhd]?|[+-].*", re.DOTALL)


class TooMuch(Exception):
    """The command is past a limit, so what it starts is unknown."""


@dataclass(frozen=True, slots=True)
class ShellText:
    """A piece of shell text, and how deep inside other text it stood."""

    text: str
    depth: int


@lru_cache(maxsize=_KEPT)
def programs(command: str) -> tuple[Argv, ...]:
    """The words of every program that `command` could start, the program's name first.

    Names are given without their directory (and once more with it, if there was one). A
    redirection counts as a program called ``>`` whose words are its targets.

    Raises:
        TooMuch: the command is past a limit.
    """
    if len(command) > MAX_SIZE:
        raise TooMuch
    until = deadline(len(command))
    found: dict[Argv, None] = {}
    seen: set[str] = set()
    left = MAX_READ
    waiting = deque([ShellText(command, 0)])
    while waiting:
        piece = waiting.popleft()
        for text in _spellings(piece.text):
            if text not in seen:
                seen.add(text)
                left -= len(text)
                if piece.depth > MAX_DEPTH or len(seen) > MAX_TEXTS or left < 0:
                    raise TooMuch
                _read_text(ShellText(text, piece.depth), until, waiting, found)
    return tuple(found)


def _read_text(
    piece: ShellText, until: float, waiting: deque[ShellText], found: dict[Argv, None]
) -> None:
    size = sum(map(len, found))
    for argv in _programs_of_text(piece, until, waiting):
        if argv not in found:
            size += len(argv)
            found[argv] = None
        if len(found) > MAX_PROGRAMS or size > MAX_WORDS:
            raise TooMuch


def _spellings(text: str) -> Iterator[str]:
    """The text, and what bash may make of it before it looks for words."""
    yield text
    joined = text.replace("\\\n", "").replace("\\\r\n", "")
    joined = joined.replace("\\`", "`").replace("\r", "\n").replace('$"', '"')
    joined = re.sub(r"\$IFS\b|\$\{IFS[^}]*\}", " ", joined)
    if "`" in joined:
        joined = joined.replace("\\\\", "\\")
    yield joined
    yield with_values(joined)


def _programs_of_text(piece: ShellText, until: float, waiting: deque[ShellText]) -> Iterator[Argv]:
    plain = plain_words(piece.text)
    lists, bodies = ([list(plain)], []) if plain else lists_by_grammar(piece, until)
    if len(lists) > MAX_PROGRAMS:
        raise TooMuch
    depth = piece.depth + 1
    started = [argv for words in lists for argv in _started(words)]
    yield from started
    feeds_shell = any(map(feeds_a_shell, started))
    for argv in started:
        waiting.extend(ShellText(inner, depth) for inner in texts_of(argv, feeds_shell=feeds_shell))
    if feeds_shell:
        waiting.extend(ShellText(re.sub(r"^<<<\s*|[\"']", "", body), depth) for body in bodies)
        waiting.extend(ShellText(body, depth) for body in bodies)


def lists_by_grammar(piece: ShellText, until: float) -> tuple[list[list[str]], list[str]]:
    """The words of each command in a text, and the texts of here-documents and here-strings.

    Raises:
        TooMuch: it takes too long to read.
    """
    source = piece.text.encode(errors="replace")
    try:
        root = parse_until(source, until) if piece.depth else parse(source)
    except TooSlow:
        raise TooMuch from None
    lists, bodies = _word_lists(root, source)
    if root.has_error:
        lists.extend(split_blindly(piece.text))
    elif _OPEN_HEREDOC.search(piece.text):  # where it ends, grammar and bash may disagree
        lists.extend(substituted(piece.text))
    return lists, bodies


def _word_lists(root: tree_sitter.Node, source: bytes) -> tuple[list[list[str]], list[str]]:
    """The words of each command, and the texts of here-documents and here-strings."""
    lists: list[list[str]] = []
    bodies: list[str] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _COMMANDS:
            lists.extend(_words(node, source))
        elif node.type == "redirected_statement":
            lists.append(_redirected(node, source))
        elif node.type == "file_redirect":
            lists.append([">", *_targets(node, source)])
        elif node.type in _MAY_HIDE:
            lists.extend(substituted(_text(node, source)))
        elif node.type in _TEXT_TYPES:
            bodies.append(_text(node, source))
        stack.extend(reversed(node.children))
    return lists, bodies


def _text(node: tree_sitter.Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")


def _words(node: tree_sitter.Node, source: bytes) -> list[list[str]]:
    """The words of a command; those that touch are one, and a line break ends it, as for bash."""
    lists: list[list[str]] = [[]]
    end = -1
    assigns = False
    for child in node.children:
        touches = child.start_byte == end
        if lists[-1] and b"\n" in source[end : child.start_byte].replace(b"\\\n", b""):
            lists.append([])
        words = lists[-1]
        starts_assignment = child.type == "variable_assignment" and not words
        assigns = node.type == "command" and (starts_assignment or (assigns and touches))
        end = child.end_byte
        if assigns:
            continue
        if "redirect" in child.type:
            words.extend(_targets(child, source)[1:])  # bash takes these for arguments
        elif touches and words:
            words[-1] = _joined(words[-1], child, source)
        else:
            words.append(literal(child, source))
    return [[word for text in words for word in expand_braces(text)] for words in lists]


def _redirected(node: tree_sitter.Node, source: bytes) -> list[str]:
    """The words of a command with those that stand behind its redirections: ``sudo >f rm x``."""
    body, *redirects = node.children
    lists = _words(body, source) if body.type in _COMMANDS else []
    words = lists[-1] if lists else []
    redirects = [each for each in redirects if each.type == "file_redirect"]
    return words + [word for each in redirects for word in _targets(each, source)[1:]]


def _joined(before: str, child: tree_sitter.Node, source: bytes) -> str:
    text = literal(child, source)
    if child.type == "string" and before.endswith("$"):
        return before[:-1] + text
    return PARAMETER.sub("", before + text)


def _targets(node: tree_sitter.Node, source: bytes) -> list[str]:
    """The words after a redirection; the grammar also takes the command's next words for these."""
    targets = [child for child in node.children if child.is_named]
    skipped = {"file_descriptor", *_TEXT_TYPES}
    return [literal(target, source) for target in targets if target.type not in skipped]


def _started(words: list[str]) -> Iterator[Argv]:
    """The program of these words, and those that it starts with the words behind it."""
    starts = deque([0])
    seen: set[int] = set()
    while starts:
        start = starts.popleft()
        if start in seen or start >= len(words):
            continue
        seen.add(start)
        if len(seen) > MAX_WRAPPED:
            raise TooMuch
        if words[start].strip():
            yield from _spelled(words[start:])
            starts.extend(_starts_behind(words, start))
        else:
            starts.append(start + 1)


def _spelled(words: list[str]) -> Iterator[Argv]:
    name = re.split(r"[/\\]", words[0])[-1]
    if name:
        yield (name, *words[1:])
    if name != words[0]:
        yield tuple(words)


def _starts_behind(words: list[str], start: int) -> list[int]:
    """Where in `words` another program's name could stand, given the program at `start`."""
    rest = range(start + 1, len(words))
    if names.base_name(words[start]) in _CONTAINERS:
        return _starts_in_container(words, start)
    if _is_exec_program(words[start:]):
        return [at + 1 for at in rest if words[at] in _EXEC_FLAGS]
    if not names.runs_another_program(words[start:]) and not names.is_shell(words[start]):
        return []
    starts: list[int] = []
    for at in rest:
        starts.append(at)
        value_of_option = words[at - 1].startswith("-") and at - 1 > start
        if not _SKIPPED_BEFORE_PROGRAM.fullmatch(words[at]) and not value_of_option:
            starts.append(at + 1)
            break
    return starts


def _starts_in_container(words: list[str], start: int) -> list[int]:
    """Behind ``run`` or ``exec``: values of options, the image or container, the program."""
    begins = [at for at in range(start + 1, len(words)) if words[at] in {"run", "exec", "debug"}]
    starts: list[int] = []
    named = 0
    for at in range(begins[0] + 1 if begins else len(words), len(words)):
        if words[at].startswith("-"):
            continue
        starts.append(at)
        named += not words[at - 1].startswith("-") or words[at - 1] == "--"
        if named == 2:
            break
    return starts


def _is_exec_program(words: list[str]) -> bool:
    return any(names.base_name(word) in _EXEC_PROGRAMS for word in words[:2])
