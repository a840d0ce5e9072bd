"""The last door before the terminal: whatever passes it can neither steer the terminal nor hide.

The core draws untrusted text already (`core.text.display`); this holds for every line once more,
so that no path to the screen can forget it. Colours are added behind this door, never before it.
"""

import unicodedata
from collections.abc import Iterator

from core.text import is_hidden, token

MIN_WIDTH = 40
MAX_WIDTH = 110


def printable(text: str) -> str:
    """One line of `text` with everything that a terminal would obey, or not show, drawn."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(token(c) if is_hidden(c) else c for c in text)


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """`text` in lines of at most `width` columns, broken at blanks where there are any.

    Nothing is dropped but the blank at a break: a long word is broken in the middle. `indent`
    starts every line after the first of a paragraph's.
    """
    return [
        line for part in text.split("\n") for line in _wrap_line(printable(part), width, indent)
    ]


def _wrap_line(text: str, width: int, indent: str) -> Iterator[str]:
    lead = ""
    while columns(lead + text) > width:
        room = width - columns(lead)
        cut = _fitting(text, room)
        blank = text.rfind(" ", 1, cut + 1)
        if blank > 0 and text[:blank].strip():
            yield lead + text[:blank]
            text = text[blank + 1 :]
        else:
            yield lead + text[:cut]
            text = text[cut:]
        lead = indent
    yield lead + text


def _fitting(text: str, room: int) -> int:
    """How many characters fit into `room` columns; at least one."""
    used = 0
    for index, character in enumerate(text):
        used += columns(character)
        if used > room:
            return max(index, 1)
    return len(text)


def columns(text: str) -> int:
    """The columns that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(character) for character in text)


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
