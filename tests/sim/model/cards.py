"""One card, two posters, and a ledger that moves on: how what is shown follows what is true."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.sim.model.world import Kind

COPIES = 3
"""Messages of one card in an exploration, at most."""
REVISIONS = 2


class Poster(NamedTuple):
    """A poster: idle, or it has read an order and what to show, or it has shown it.

    `on`: messages that it edits; none: it posts a new one.
    """

    at: str = "idle"
    order: str = ""
    revision: int = 0
    on: tuple[int, ...] = ()


class Cards(NamedTuple):
    """The card.

    `post`: the order to post: new, again (its poster crashed), look (for copies, later), or none.
    `copies`: messages that the store knows. `chat`: what each message in the chat shows.
    `misses`: how often a look into the chat may still miss a message.
    """

    revision: int = 0
    post: str = "new"
    edits: int = 0
    copies: tuple[int, ...] = ()
    chat: tuple[int, ...] = ()
    posters: tuple[Poster, Poster] = (Poster(), Poster())
    misses: int = 1


class CardStep(NamedTuple):
    """One thing that can happen next to the card."""

    act: str
    kind: Kind
    after: Cards
    wrong: str | None = None

    def __str__(self) -> str:
        """For people."""
        return self.act


def card_steps(_scenario: Any, cards: Cards, without: str = "") -> Iterator[CardStep]:
    """Every step that can happen next."""
    if cards.revision < REVISIONS:
        revision = cards.revision + 1
        moved = cards._replace(revision=revision, edits=cards.edits + 1)
        yield CardStep(f"ledger moves to revision {revision}", "environment", moved)
    for place, poster in enumerate(cards.posters):
        if place and poster == cards.posters[0]:
            continue
        if poster.at == "idle":
            yield from _takes(cards, place, without)
        else:
            yield _crashes(cards, place, without)
            yield from _shows(cards, place, without)


def _with(cards: Cards, place: int, poster: Poster, **more: Any) -> Cards:
    other = cards.posters[1 - place]
    posters = (poster, other) if poster <= other else (other, poster)
    return cards._replace(posters=posters, **more)


def _takes(cards: Cards, place: int, without: str) -> Iterator[CardStep]:
    everything = tuple(range(len(cards.chat)))
    if cards.post:
        found = () if cards.post == "new" else everything
        mine = Poster("read", cards.post, cards.revision, found)
        taken = _with(cards, place, mine, post="")
        yield CardStep(f"poster takes the post, revision {cards.revision}", "auto", taken)
        if cards.post == "again" and everything and cards.misses:
            blind = _with(cards, place, mine._replace(on=()), post="", misses=0)
            yield CardStep("poster takes the post, misses the first message", "fault", blind)
    if cards.edits and (cards.copies or without == "card-one-order-posts"):
        mine = Poster("read", "edit", cards.revision, cards.copies)
        taken = _with(cards, place, mine, edits=cards.edits - 1)
        yield CardStep(f"poster takes an edit, revision {cards.revision}", "auto", taken)
    elif cards.edits:
        dropped = cards._replace(edits=cards.edits - 1)
        yield CardStep("edit finds no message, dropped", "auto", dropped)


def _crashes(cards: Cards, place: int, without: str) -> CardStep:
    poster = cards.posters[place]
    back: dict[str, Any] = {"post": "look" if poster.order == "look" else "again"}
    if without == "card-ack-last":
        back = {}
    elif poster.order == "edit":
        back = {"edits": cards.edits + 1}
    return CardStep(f"poster crashes ({poster.at})", "fault", _with(cards, place, Poster(), **back))


def _shows(cards: Cards, place: int, without: str) -> Iterator[CardStep]:
    poster = cards.posters[place]
    revision, on = poster.revision, poster.on
    if poster.at == "sent":
        yield _recorded(cards, place, without)
    elif on:
        chat = tuple(revision if m in on else shown for m, shown in enumerate(cards.chat))
        sent = _with(cards, place, poster._replace(at="sent"), chat=chat)
        yield CardStep(f"edit shows revision {revision}", "auto", sent)
    elif len(cards.chat) < COPIES:
        mine = poster._replace(at="sent", on=(len(cards.chat),))
        sent = _with(cards, place, mine, chat=(*cards.chat, revision))
        yield CardStep(f"post shows revision {revision}", "auto", sent)


def _recorded(cards: Cards, place: int, without: str) -> CardStep:
    poster = cards.posters[place]
    copies = tuple(sorted({*cards.copies, *poster.on}))
    if without == "card-every-copy":
        copies = cards.copies or poster.on
    behind = poster.revision < cards.revision and without != "card-recheck"
    looks = poster.order == "again" and without != "card-look-again"
    after = _with(
        cards,
        place,
        Poster(),
        copies=copies,
        edits=cards.edits + behind,
        post="look" if looks else cards.post,
    )
    return CardStep(f"revision {poster.revision} recorded", "auto", after)


def settled(cards: Cards) -> bool:
    """Whether no order is left."""
    return not cards.post and not cards.edits and cards.posters == (Poster(), Poster())


def wrong_cards(_scenario: Any, cards: Cards, _without: str) -> str | None:
    """What must hold of the card whenever no order is left."""
    if not settled(cards):
        return None
    if not cards.chat:
        return "a call without a card"
    if any(shown != cards.revision for shown in cards.chat):
        return "a card stays behind the ledger"
    return None
