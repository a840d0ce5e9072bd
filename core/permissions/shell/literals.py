"""The text of one word as far as it is written down, for readers that would rather see too much.

Quotes and escapes are taken away, expansions count as empty: ``r$@m`` reads ``rm``.
"""

import re
from typing import Final

import tree_sitter

PARAMETER: Final = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?!$-]|\{[^{}]*\})")
"""An expansion of a variable, in text that was not taken apart."""

_EMPTY_TYPES: Final = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution"}
)
_ESCAPE: Final = re.compile(
    r"\\(?:x\{?([0-9A-Fa-f]{1,2})\}?|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([\s\S]))"
)
_CONTROL: Final = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MOST_WORDS: Final = 64


def literal(node: tree_sitter.Node, source: bytes) -> str:
    """What is literally written in a word; expansions are left out."""
    if node.type == "concatenation":
        return "".join(_part(child, source) for child in node.children)
    if node.type == "command_name":
        return "".join(literal(child, source) for child in node.children)
    return _part(node, source)


def _part(node: tree_sitter.Node, source: bytes) -> str:
    if node.type in _EMPTY_TYPES:
        return ""
    text = source[node.start_byte : node.end_byte].decode(errors="replace")
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "ansi_c_string":
        return decode_ansi_c(text[2:-1])
    if node.type in {"string", "translated_string"}:
        return _string(node, source)
    if "$" in text:
        text = PARAMETER.sub("", text)
    return re.sub(r"\\([\s\S])", r"\1", text) if "\\" in text else text


def _string(node: tree_sitter.Node, source: bytes) -> str:
    pieces: list[str] = []
    position = node.start_byte
    for child in node.children:
        if child.type in _EMPTY_TYPES or child.type == "string":
            pieces.append(source[position : child.start_byte].decode(errors="replace"))
            pieces.append(_string(child, source) if child.type == "string" else "")
            position = child.end_byte
    pieces.append(source[position : node.end_byte].decode(errors="replace"))
    text = "".join(pieces).removeprefix("$").removeprefix('"').removesuffix('"')
    return re.sub(r'\\([$`"\\])', r"\1", text).replace("\\\n", "")


def decode_ansi_c(text: str) -> str:
    """The value of ``$'text'``."""

    def value(match: re.Match[str]) -> str:
        for digits in match.group(1, 2, 3):
            if digits:
                return chr(min(int(digits, 16), 0x10FFFF))
        if match.group(4):
            return chr(int(match.group(4), 8) & 0xFF)
        return _CONTROL.get(match.group(5), match.group(5))

    return _ESCAPE.sub(value, text)


def expand_braces(text: str) -> list[str]:
    """The words that ``a{b,c}`` stands for; at most 64, the text itself if it holds no list."""
    if "{" not in text:
        return [text]
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) < _MOST_WORDS:
        word = waiting.pop(0)
        inner = re.search(r"\{([^{}]*,[^{}]*)\}", word)
        if inner is None:
            done.append(word)
            continue
        start, end = inner.span()
        waiting[:0] = [word[:start] + item + word[end:] for item in inner.group(1).split(",")]
    return done + waiting
