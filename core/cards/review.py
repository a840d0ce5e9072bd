"""The private, paged, complete view of a call: every byte, nothing summed up or cut."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.cards.model import CallView
from core.text import one_line, value_text
from core.text.marks import Piece, find_marks, pieces

PAGE_CHARACTERS = 2500
"""Characters of a page: fits a text object of Slack and a message of Discord, headings included."""

_SMALLEST_PAGE = 100


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `number` counts from 1; Approve sits on the last one only."""

    number: int
    of: int
    text: str

    @property
    def last(self) -> bool:
        """Whether everything has been seen after this page."""
        return self.number == self.of


def review_pages(
    view: CallView, *, characters: int = PAGE_CHARACTERS, reveal: bool = False
) -> tuple[Page, ...]:
    """Every argument and every line of context in full, in pages of at most `characters`.

    With `reveal`, secrets are shown: only for people who may decide, and only with an audit
    record. Each line of a value starts with its number or stands alone, so a value can't
    imitate a heading.

    Raises:
        ValueError: `characters` is too few to hold any token.
    """
    if characters < _SMALLEST_PAGE:
        raise ValueError(f"a page needs at least {_SMALLEST_PAGE} characters")
    texts = list(_paged(_all_pieces(view, reveal), characters)) or [""]
    return tuple(Page(number, len(texts), text) for number, text in enumerate(texts, start=1))


def _all_pieces(view: CallView, reveal: bool) -> Iterator[Piece]:
    yield Piece(f"Tool: {one_line(view.tool, limit=60)}\n", 0, False)
    for name, value in view.input.items():
        written = value_text((name,), value, view.schema, pepper=view.pepper)
        secrets = () if reveal else written.secrets
        yield from _heading(name, written.text)
        yield from pieces(written.text, find_marks(written.text, secrets, summed=False))
    for name, value in view.context.items():
        yield from _heading(name, value)
        yield from pieces(value, find_marks(value, summed=False))
    yield Piece(f"\n\nInput: {len(view.raw_input)} characters · digest {view.digest}", 0, False)


def _heading(name: str, text: str) -> Iterator[Piece]:
    yield Piece("\n\n▸ ", 0, False)
    yield from pieces(name, find_marks(name, summed=False))
    yield Piece(f" ({len(text)} characters)\n", 0, False)


def _paged(parts: Iterator[Piece], characters: int) -> Iterator[str]:
    page = ""
    for piece in parts:
        drawn = piece.drawn
        while len(page) + len(drawn) > characters:
            room = characters - len(page)
            if piece.plain:
                page, drawn = page + drawn[:room], drawn[room:]
            if page:
                yield page
            page = ""
        page += drawn
    if page:
        yield page
