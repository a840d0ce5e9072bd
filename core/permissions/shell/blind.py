"""Words in shell text that no grammar can take apart: everything that could be a command counts."""

import re
from collections.abc import Iterator
from typing import Final

from core.permissions.shell.literals import PARAMETER, decode_ansi_c, expand_braces

_SEPARATORS: Final = re.compile(r"[,;&|()<>{}`\n\r]|\$\(")
_SEPARATORS_BUT_BRACES: Final = re.compile(r"[;&|()<>`\n\r]|\$\(|(?:^|\s)[{}](?=\s|$)")
_BLANKS: Final = re.compile(r"[ \t\n]+")
_SUBSTITUTION: Final = re.compile(r"\$\(([^()]*)|`([^`]*)`")
_ANSI_C: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_QUOTES: Final = re.compile(r"[\"'\\]|\$(?=[\"'])")
_KEYWORDS: Final = frozenset(
    {"!", "{", "}", "if", "then", "else", "elif", "while", "until", "do", "time", "coproc"}
    | {"in", "function"}
)


def substituted(text: str) -> Iterator[list[str]]:
    """The words of what could be a command substitution anywhere in `text`."""
    for found in _SUBSTITUTION.finditer(text):
        yield from split_blindly(found.group(1) or found.group(2) or "")


def split_blindly(text: str) -> Iterator[list[str]]:
    """Words between anything that could separate commands, quotes ignored: for unreadable text."""
    text = _ANSI_C.sub(lambda match: decode_ansi_c(match.group(1)), text)
    bare = _QUOTES.sub("", text)
    for spelling in {bare, PARAMETER.sub("", bare)}:
        for separators in (_SEPARATORS, _SEPARATORS_BUT_BRACES):
            for piece in separators.split(spelling):
                yield from _after_keywords(piece)


def _after_keywords(piece: str) -> Iterator[list[str]]:
    words = [word for text in _BLANKS.split(piece) if text for word in expand_braces(text)]
    for at, word in enumerate(words):
        if word not in _KEYWORDS and not re.match(r"[A-Za-z_]\w*\+?=", word):
            yield words[at:]
            return
