"""Safe display: what a person sees of an untrusted text is all there is, and nothing else.

Every surface shows the result as literal text (`core.text.surfaces`). How it is drawn is in
`core.text.marks`; this module says what may be judged at a glance.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.text.marks import (
    BLANKS,
    COMBINING,
    COMBINING_FLOOD,
    HIDDEN,
    MASKED,
    MIXED_SCRIPT,
    Mark,
    Piece,
    find_marks,
    is_hidden,
    pieces,
)
from core.text.masking import Span

SHOWN_CHARACTERS = 3000
"""Most characters drawn of one text on a card. Source: Slack's published limit of a text object."""

LENGTH_NAMED_FROM = 300
"""From this many characters on, the length is named beside the text."""

MANY_LINES = 20
"""More lines than this push the end, and the buttons, off a screen."""

MIXED_DIRECTION = "mixed_direction"
LINES = "many_lines"
TOO_LONG = "too_long"

WITHHOLDING = frozenset(
    {HIDDEN, MIXED_SCRIPT, MIXED_DIRECTION, COMBINING_FLOOD, LINES, BLANKS, TOO_LONG, MASKED}
)
"""Flags that replace one-click approval by a full review."""

_FLAG_NOTES = {
    HIDDEN: "has invisible characters, drawn as <U+…>",
    MIXED_SCRIPT: "has letters that look like others, drawn as <U+…>",
    MIXED_DIRECTION: "mixes writing directions, so the order on the screen may mislead",
    COMBINING: "has combining marks",
    COMBINING_FLOOD: "has piled-up combining marks, counted",
    BLANKS: "has a very long run of blanks, counted",
    MASKED: "has masked secrets",
}
_EMPTY = "<empty>"
_CUT_NOTE = "<{} more characters>"
_WORTH_DRAWING = 4
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as people see it.

    `text` is literal: surfaces put it into plain-text elements and parse nothing in it.
    `notes` are our own words about it ("81 lines"), to be shown beside it, never inside.
    `characters` counts the original. `one_click` is False if anything was cut, masked, or drawn
    as a token that stands for something unprintable.
    """

    text: str
    notes: tuple[str, ...]
    flags: tuple[str, ...]
    one_click: bool
    characters: int

    def plain(self) -> str:
        """Notes and text in one string, for places that have no room for two."""
        return "\n".join((*(f"[{note}]" for note in self.notes), self.text))


def show(text: str, secrets: Sequence[Span] = (), *, limit: int = SHOWN_CHARACTERS) -> Shown:
    """Draw `text` for a card, with the spans in `secrets` masked, in at most `limit` characters."""
    head, inside = _head(text, secrets, limit)
    marks = find_marks(head, inside)
    drawn, left = cut(pieces(head, marks), limit, beyond=len(text) - len(head))
    flags = {mark.flag for mark in marks if mark.flag}
    if left:
        flags.add(TOO_LONG)
    if len(inside) < len(secrets):
        flags.add(MASKED)
    if any(is_hidden(character) for character in set(text) - {"\n"}):
        flags.add(HIDDEN)
    if text.count("\n") >= MANY_LINES:
        flags.add(LINES)
    if _mixes_directions(text):
        flags.add(MIXED_DIRECTION)
    return Shown(
        text=drawn or _EMPTY,
        notes=_notes(text, flags),
        flags=tuple(sorted(flags)),
        one_click=not flags & WITHHOLDING,
        characters=len(text),
    )


def one_line(text: str, secrets: Sequence[Span] = (), *, limit: int = 150) -> str:
    """Draw `text` for a title or a label: one line, cut with a visible mark.

    A title is a summary, so a cut here withholds nothing; the whole text stands in its row.
    """
    flat = [
        Mark(mark.start, mark.end, mark.drawn.split("\n", 1)[0], mark.flag)
        for mark in find_marks(text, secrets)
    ]
    parts = [piece for piece in pieces(text, flat) if piece.length]
    drawn = "".join(piece.drawn for piece in parts)
    if len(drawn) <= limit:
        return drawn or _EMPTY
    kept, room = "", limit - 1
    for piece in parts:
        kept += piece.drawn[: room - len(kept)] if piece.plain else piece.drawn
        if len(kept) >= room:
            break
    return f"{kept[:room].rstrip()}…"


def _head(text: str, secrets: Sequence[Span], limit: int) -> tuple[str, Sequence[Span]]:
    """As much of a text as is worth drawing for a card, and the secrets in it.

    What is far beyond the limit is cut anyway; drawing it would only take time.
    """
    end = limit * _WORTH_DRAWING
    if len(text) <= end:
        return text, secrets
    end = min([end, *(span.start for span in secrets if span.start < end < span.end)])
    return text[:end], [span for span in secrets if span.end <= end]


def cut(parts: Iterable[Piece], limit: int, beyond: int = 0) -> tuple[str, int]:
    """The drawing in at most `limit` characters, and how many of the original are left out.

    `beyond` counts characters that are left out already, behind the last piece.
    """
    whole = list(parts)
    if not beyond and sum(len(piece.drawn) for piece in whole) <= limit:
        return "".join(piece.drawn for piece in whole), 0
    left = sum(piece.length for piece in whole) + beyond
    room = limit - len(_CUT_NOTE.format(left))
    kept: list[str] = []
    for piece in whole:
        if len(piece.drawn) > room:
            part = piece.drawn[: max(room, 0)] if piece.plain else ""
            kept.append(part)
            left -= len(part)
            break
        kept.append(piece.drawn)
        room -= len(piece.drawn)
        left -= piece.length
    return "".join([*kept, _CUT_NOTE.format(left)]), left


def _notes(text: str, flags: set[str]) -> tuple[str, ...]:
    notes: list[str] = []
    if "\n" in text:
        notes.append(f"{text.count(chr(10)) + 1} lines")
    if len(text) >= LENGTH_NAMED_FROM:
        notes.append(f"{len(text)} characters")
    if TOO_LONG in flags:
        notes.append(f"sha256:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}")
    return (*notes, *(_FLAG_NOTES[flag] for flag in sorted(flags & _FLAG_NOTES.keys())))


def _mixes_directions(text: str) -> bool:
    """Whether right-to-left letters stand beside Latin letters or digits, which reorders them."""
    if text.isascii():
        return False
    kinds = {unicodedata.bidirectional(letter) for letter in set(text)}
    return bool(kinds & _RIGHT_TO_LEFT) and bool(kinds & {"L", "EN"})
