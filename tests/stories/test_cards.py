"""What becomes of cards when the chat or a poster fails in between."""

from dataclasses import dataclass, replace

from core.cards import Card, CardState
from core.errors import SurfaceUnavailable
from core.ledger import CardKey
from tests.stories.office import Board, OpenOffice
from tests.stories.tools import Shop, refund_call


@dataclass
class LosingBoard(Board):
    """The first post arrives, but whoever sent it never hears of it."""

    losing: bool = True

    async def post(self, card: CardKey, view: Card) -> str:
        message = await super().post(card, view)
        if self.losing:
            self.losing = False
            raise SurfaceUnavailable("no answer")
        return message


async def test_a_card_that_is_found_again_shows_what_holds_now(open_office: OpenOffice) -> None:
    """A post whose answer was lost is found by its mark when it is repeated; the call was settled
    meanwhile, and the card says so at once."""
    shop = Shop()
    office = open_office([[refund_call()]], [shop.refund])
    office.board = LosingBoard()
    office.reopen()
    await office.ask()
    await office.reject(await office.asked())
    assert office.card().state is CardState.PENDING

    await replace(office.poster, again_after_ms=0).carry_out()

    assert office.card().state is CardState.REJECTED
    assert len(office.board.cards) == 1
