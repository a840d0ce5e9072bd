"""What in a text is not drawn as itself.

Rules of the drawing, in one place:

* a control, format, unassigned or private character, a blank other than the plain one, a filler,
  or a variation selector is drawn as ``<U+202E>``; so is a letter of another script inside an
  ASCII word, and a combining mark that has nothing to combine with;
* more than 4 combining marks in a row are counted: ``<60 combining marks>``;
* 8 or more blanks in a row, and blanks at either end of a text or the end of a line, are counted:
  ``<12 blanks>``;
* a line break is drawn as ``\\n``, and lines are numbered as soon as there are two;
* a secret is drawn as its mask (`core.text.masking`);
* a ``<`` that would make one of these tokens out of the writer's own text is drawn as
  ``<U+003C>``.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.text.masking import Span, mask_label
from core.text.scripts import foreign_letters

HIDDEN = "hidden_characters"
MIXED_SCRIPT = "mixed_script"
COMBINING = "combining"
COMBINING_FLOOD = "combining_flood"
BLANKS = "blank_run"
MASKED = "masked"

FAR_BLANKS = 64
"""Blanks in a row that no honest text has: they push what follows out of view."""

MARKS_IN_A_ROW = 4

# Characters that no category gives away: fillers, variation selectors and other characters that
# are drawn as nothing. Source: Unicode, property Default_Ignorable_Code_Point; besides it the
# blank Braille pattern, the null note head, the Khitan filler and the object replacement character.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\ufffc"
    "\U0001d159\U00016fe4\U000e0000-\U000e0fff]"
)
_ODD = re.compile(r"[^\x20-\x7e\n]")
_BLANKS = re.compile(r" {8,}|\A +| +(?=\n|\Z)")
_POSING = re.compile(
    r"<(?=U\+[0-9A-Fa-f]|[0-9]+ (?:blank|combining mark|more character)|empty>|secret:)"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text that is drawn as something else. `flag` is empty if that hides nothing."""

    start: int
    end: int
    drawn: str
    flag: str = ""


class Piece(NamedTuple):
    """A part of a drawing. `length` counts the original; only plain pieces may be cut apart."""

    drawn: str
    length: int
    plain: bool


def token(characters: str) -> str:
    """`characters` as visible tokens: ``<U+202E>``."""
    return "".join(f"<U+{ord(character):04X}>" for character in characters)


def is_hidden(character: str) -> bool:
    """Whether a character is invisible, or is drawn as a blank or as nothing."""
    if unicodedata.category(character)[0] in "CZ":
        return character != " "
    return _INVISIBLE.match(character) is not None


def find_marks(text: str, secrets: Sequence[Span] = (), *, summed: bool = True) -> list[Mark]:
    """Everything in `text` that is not drawn as itself, in order, without overlaps.

    Unless `summed`, every combining mark of a flood is a token of its own: nothing is left out.
    """
    foreign = list(foreign_letters(text))
    bare = {i + 1 for i in foreign} | {span.end for span in secrets}
    found = [Mark(span.start, span.end, mask_label(span), MASKED) for span in secrets]
    found += [Mark(i, i + 1, token(text[i]), MIXED_SCRIPT) for i in foreign]
    found += [Mark(match.start(), match.end(), token("<")) for match in _POSING.finditer(text)]
    found += _blank_marks(text)
    found += _hidden_marks(text)
    for start, end in _combining_rows(text):
        found += _combining_marks(text, start, end, base=start not in bare, summed=summed)
    found += _line_marks(text)
    found.sort(key=lambda mark: (mark.start, -mark.end))
    return list(_without_overlaps(found))


def pieces(text: str, marks: Iterable[Mark]) -> Iterator[Piece]:
    """The whole drawing of `text`, in pieces."""
    if "\n" in text:
        yield Piece("1│ ", 0, False)
    at = 0
    for mark in marks:
        if at < mark.start:
            yield Piece(text[at : mark.start], mark.start - at, True)
        yield Piece(mark.drawn, mark.end - mark.start, False)
        at = mark.end
    if at < len(text):
        yield Piece(text[at:], len(text) - at, True)


def _blank_marks(text: str) -> Iterator[Mark]:
    for match in _BLANKS.finditer(text):
        count = len(match[0])
        drawn = f"<{count} blank{'s' if count > 1 else ''}>"
        yield Mark(match.start(), match.end(), drawn, BLANKS if count >= FAR_BLANKS else "")


def _line_marks(text: str) -> Iterator[Mark]:
    for number, match in enumerate(re.finditer(r"\n", text), start=2):
        yield Mark(match.start(), match.end(), f"\\n\n{number}│ ")


def _hidden_marks(text: str) -> Iterator[Mark]:
    for match in _ODD.finditer(text):
        if is_hidden(match[0]):
            yield Mark(match.start(), match.end(), token(match[0]), HIDDEN)


def _combining_rows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of combining marks that are visible."""
    start = end = -1
    for match in _ODD.finditer(text):
        if unicodedata.category(match[0]) not in ("Mn", "Me") or is_hidden(match[0]):
            continue
        if match.start() != end and end > 0:
            yield start, end
        if match.start() != end:
            start = match.start()
        end = match.end()
    if end > 0:
        yield start, end


def _combining_marks(
    text: str, start: int, end: int, *, base: bool, summed: bool
) -> Iterator[Mark]:
    before = text[start - 1] if start else "\n"
    if not base or before in "\n <" or is_hidden(before):
        yield from (Mark(at, at + 1, token(text[at]), HIDDEN) for at in range(start, end))
    elif end - start <= MARKS_IN_A_ROW:
        yield Mark(start, end, text[start:end], COMBINING)
    elif summed:
        kept = start + MARKS_IN_A_ROW
        drawn = f"{text[start:kept]}<{end - kept} combining marks>"
        yield Mark(start, end, drawn, COMBINING_FLOOD)
    else:
        for at in range(start, end):
            yield Mark(at, at + 1, token(text[at]), COMBINING_FLOOD)


def _without_overlaps(marks: Iterable[Mark]) -> Iterator[Mark]:
    end = 0
    for mark in marks:
        if mark.start >= end:
            yield mark
            end = mark.end
