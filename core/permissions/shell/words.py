"""A shell command as bash would see it, or the reason why that can't be told for sure.

`read_commands` is the allow side's only reader. It accepts a small part of the language and
nothing else: simple commands of literal words, joined by ``&&``, ``||``, ``;`` and ``|``, with at
most the harmless redirections of output to nowhere. Everything else raises `NotPlain`, which
always means "ask a person" and never "deny": what was not understood was not judged.

The grammar is tree-sitter-bash's. Its verdict is not trusted alone: characters are checked before
the parse, node types by an allow-list, and afterwards every byte must be accounted for.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import tree_sitter

from core.permissions.shell.grammar import TooSlow, leaves, parse
from core.permissions.shell.simple import plain_words

MAX_BYTES: Final = 8192
"""Longest command an allow rule may cover, in bytes of UTF-8."""

MAX_PARTS: Final = 20
"""Most simple commands in one command that allow rules may cover."""

MAX_BLANKS: Final = 63
"""Longest run of blanks: longer padding can push the tail of a command out of a preview."""

_TOO_MANY_BLANKS: Final = re.compile(rf"[ \t]{{{MAX_BLANKS + 1}}}")

_KEPT: Final = 64
"""How many readings are kept: judging one command reads it for rules, gates and offers."""

_OPERATORS: Final = frozenset({"&&", "||", ";", "|"})
_HARMLESS_REDIRECT: Final = re.compile(r"[12]?>[ \t]*/dev/null|2>&1|1?>&2")
_KEYWORDS: Final = frozenset(
    {"!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi"}
    | {"for", "function", "if", "in", "select", "then", "time", "until", "while"}
)
_PRINTERS: Final = frozenset({"echo", "printf"})
_QUOTED_PIECES: Final = re.compile(r"\\[\s\S]|\$[?|)]|[\s\S]")
_SYNTAX: Final = frozenset("$`'\"();<>&| \t")
_ORDINARY: Final = re.compile(r"[\w%+,./:@=-]*")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a simple command, as bash would see it.

    `text` is the literal value after quote removal. `plain` says that no quotes and no escapes
    were used. `glob` says that bash might put something else in its place (file names, a home
    directory), because a special character stands there unquoted: the text is what was written.
    """

    text: str
    plain: bool
    glob: bool


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments; `words[0]` is the program's name, plain and no glob.

    `text` is the command as it was written, from its first word to its last.
    """

    words: tuple[Word, ...]
    text: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The literal values of the words, the program's name first."""
        return tuple(word.text for word in self.words)


class NotPlain(Exception):
    """The command is outside what an allow rule may cover. `reason` is a phrase for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@lru_cache(maxsize=_KEPT)
def read_commands(command: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of `command`, in the order they are written; at least one.

    Raises:
        NotPlain: the command uses anything whose meaning is not certain from its text.
    """
    words = plain_words(command)
    if words is not None and len(command) <= MAX_BYTES:
        return (SimpleCommand(tuple(Word(w, plain=True, glob=False) for w in words), command),)
    return read_by_grammar(command)


def read_by_grammar(command: str) -> tuple[SimpleCommand, ...]:
    """The same, whatever the command is like.

    Raises:
        NotPlain: the command uses anything whose meaning is not certain from its text.
    """
    _check_characters(command)
    source = command.encode()
    try:
        root = parse(source)
    except TooSlow:
        raise NotPlain("it takes too long to read") from None
    if root.has_error:
        raise NotPlain("the syntax can't be read for sure")
    _check_every_byte_is_read(root, source)
    commands = tuple(_simple_commands(root, source))
    if not commands:
        raise NotPlain("there is no command")
    return commands


def _check_characters(command: str) -> None:
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        raise NotPlain("it is not valid text") from None
    if size > MAX_BYTES:
        raise NotPlain(f"it is longer than {MAX_BYTES} bytes")
    if not command.strip(" \t"):
        raise NotPlain("it is empty")
    if _TOO_MANY_BLANKS.search(command):
        raise NotPlain(f"it has more than {MAX_BLANKS} blanks in a row")
    if command.isascii() and command.isprintable():
        return
    for char in command:
        if char not in " \t" and unicodedata.category(char)[0] in "CZ":
            raise NotPlain(f"it has a hidden or control character, U+{ord(char):04X}")


def _check_every_byte_is_read(root: tree_sitter.Node, source: bytes) -> None:
    position = 0
    for leaf in leaves(root):
        if source[position : leaf.start_byte].strip(b" \t"):
            raise NotPlain("a part of it is outside every word")
        position = max(position, leaf.end_byte)
    if source[position:].strip(b" \t"):
        raise NotPlain("its end is outside every word")


def _simple_commands(root: tree_sitter.Node, source: bytes) -> Iterator[SimpleCommand]:
    count = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "command":
            count += 1
            if count > MAX_PARTS:
                raise NotPlain(f"it has more than {MAX_PARTS} parts")
            yield SimpleCommand(_words(node, source), _text(node, source))
        elif node.type == "redirected_statement":
            stack.append(_body_of_harmless_redirect(node, source))
        elif node.type in {"program", "list", "pipeline"}:
            stack.extend(reversed([child for child in node.children if not _is_operator(child)]))
        else:
            raise NotPlain(f"it uses {_name(node)}")


def _text(node: tree_sitter.Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _is_operator(node: tree_sitter.Node) -> bool:
    if node.is_named:
        return False
    if node.type not in _OPERATORS:
        raise NotPlain(f"it uses {_name(node)}")
    return True


def _name(node: tree_sitter.Node) -> str:
    """How a person would call this part of the syntax."""
    if node.type == "\n":
        return "a line break"
    if not node.is_named:
        return f"“{node.type}”"
    name = node.type.replace("_", " ")
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _body_of_harmless_redirect(node: tree_sitter.Node, source: bytes) -> tree_sitter.Node:
    body, *redirects = node.children
    if body.type not in {"command", "pipeline", "list"}:
        raise NotPlain("it redirects something that is not a command")
    end = body.end_byte
    for redirect in redirects:
        if redirect.start_byte == end:
            raise NotPlain("there is no blank before a redirection")
        text = _text(redirect, source)
        if redirect.type != "file_redirect" or not _HARMLESS_REDIRECT.fullmatch(text):
            raise NotPlain("it redirects input or output")
        end = redirect.end_byte
    return body


def _words(node: tree_sitter.Node, source: bytes) -> tuple[Word, ...]:
    words: list[Word] = []
    end = -1
    for child in node.children:
        if child.start_byte == end:
            raise NotPlain("two of its words have no blank between them")
        end = child.end_byte
        words.append(_word(_only_child(child) if not words else child, source))
    program = words[0]
    if not program.plain or program.glob:
        raise NotPlain("the program's name is quoted or has a special character")
    if "=" in program.text:
        raise NotPlain("it sets a variable")
    if program.text in _KEYWORDS:
        raise NotPlain(f"it uses “{program.text}”")
    if program.text not in _PRINTERS and _has_exit_status(node, source):
        raise NotPlain("it uses an expansion inside quotes")
    return tuple(words)


def _only_child(node: tree_sitter.Node) -> tree_sitter.Node:
    if node.type != "command_name" or len(node.children) != 1:
        raise NotPlain(f"it uses {_name(node)} before the program's name")
    return node.children[0]


def _word(node: tree_sitter.Node, source: bytes) -> Word:
    parts = node.children if node.type == "concatenation" else [node]
    words: list[Word] = []
    braces = ""
    end = node.start_byte
    for part in parts:
        if part.start_byte != end:
            raise NotPlain("a word has a gap")
        end = part.end_byte
        words.append(_part(part, source))
        if part.type in {"word", "number"}:
            braces += _text(part, source)
    if "{" in braces and ("," in braces or ".." in braces):
        raise NotPlain("it uses a brace expansion")
    if braces.startswith("#") and words[0].plain:
        raise NotPlain("it uses a comment")
    return Word(
        text="".join(word.text for word in words),
        plain=all(word.plain for word in words),
        glob=any(word.glob for word in words),
    )


def _part(node: tree_sitter.Node, source: bytes) -> Word:
    text = _text(node, source)
    if node.type in {"word", "number"} and not node.children:
        return _unquoted(text)
    if node.type == "raw_string":
        return Word(text[1:-1], plain=False, glob=False)
    if node.type == "string" and all(_is_certain(child, source) for child in node.children):
        return Word(_double_quoted(text[1:-1]), plain=False, glob=False)
    raise NotPlain(f"it uses {_name(node)}")


def _is_certain(node: tree_sitter.Node, source: bytes) -> bool:
    """Literal text inside double quotes, or ``$?``, which is a number whatever happens."""
    return node.type in {'"', "string_content", "$"} or _text(node, source) == "$?"


def _has_exit_status(node: tree_sitter.Node, source: bytes) -> bool:
    if b"$?" not in source[node.start_byte : node.end_byte]:
        return False
    if node.type == "string":
        return "$?" in _QUOTED_PIECES.findall(_text(node, source))
    return any(_has_exit_status(child, source) for child in node.children)


def _unquoted(text: str) -> Word:
    if _ORDINARY.fullmatch(text):
        return Word(text, plain=True, glob=False)
    literal: list[str] = []
    glob = False
    characters = iter(text)
    for char in characters:
        if char == "\\":
            escaped = next(characters, None)
            if escaped is None:
                raise NotPlain("it ends in a backslash")
            literal.append(escaped)
            continue
        if char in _SYNTAX:
            raise NotPlain(f"it uses “{char}” in a word")
        before = literal[-1] if literal else ""
        glob |= char in "*?[]{}" or (char == "~" and before in ("", "=", ":"))
        literal.append(char)
    return Word("".join(literal), plain="\\" not in text, glob=glob)


def _double_quoted(text: str) -> str:
    """The literal value; ``$?`` stays as it is written (only what `echo` prints may hold one).

    A ``$`` at the end, before ``|`` or before ``)`` is literal, as in ``"(a|b)$"``.
    """
    literal: list[str] = []
    for found in _QUOTED_PIECES.finditer(text):
        piece = found.group()
        if piece == "`" or (piece == "$" and found.end() < len(text)):
            raise NotPlain("it uses an expansion inside quotes")
        escapes = piece[0] == "\\" and piece[1:] and piece[1:] in '$`"\\'
        literal.append(piece[1:] if escapes else piece)
    return "".join(literal)
