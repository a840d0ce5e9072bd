"""The poster: shows on every surface what the ledger's outbox orders.

A card is posted at least once and recognised by its mark; every edit draws the ledger as it is
when the edit is made, so a repeated or late one does no harm.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from core.calls import Call
from core.errors import StoreError, StoreUnavailable, SurfaceUnavailable
from core.faults import outline
from core.ledger import Ledger, Order, Shown
from core.ports import Clock, Surface
from core.views import Gallery

WAIT_MS = 1_000
RETRY_S = 1.0
AGAIN_MS = 60_000
"""How long an order may take before it is handed out again; surfaces give up earlier."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Poster:
    """Carries out orders. Any number may run; `name` tells them apart in the outbox."""

    ledger: Ledger
    gallery: Gallery
    surfaces: Mapping[str, Surface]
    clock: Clock
    name: str
    again_after_ms: int = AGAIN_MS

    async def run(self, stop: asyncio.Event) -> None:
        """Carry out orders until `stop` is set."""
        while not stop.is_set():
            try:
                await self.carry_out(WAIT_MS)
            except StoreError as error:
                _log.warning("cards wait for the store", extra={"error": type(error).__name__})
                await self.clock.sleep(RETRY_S)

    async def carry_out(self, wait_ms: int = 0) -> int:
        """Carry out what is ordered now; how many orders."""
        orders = await self.ledger.orders(
            self.name, wait_ms=wait_ms, again_after_ms=self.again_after_ms
        )
        for order in orders:
            try:
                await self._one(order)
            except StoreUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - one card must not keep the others
                # Not acknowledged, so it is handed out again.
                why = str(error) if isinstance(error, SurfaceUnavailable) else outline(error)
                _log.warning("card not shown", extra={"order": order.id, "error": why})
        return len(orders)

    async def _one(self, order: Order) -> None:
        surface = self.surfaces.get(order.card.channel.partition(":")[0])
        call = await self.ledger.call(order.card.call)
        if surface is None or call is None:
            await self.ledger.drop(order.card.call.reply_id, order.id)
            return
        if order.kind == "post":
            await self._post(order, call, surface)
        elif order.kind in ("remind", "escalate"):
            await self._notice(order, call, surface)
        else:
            await self._repaint(order, call, surface)

    async def _post(self, order: Order, call: Call, surface: Surface) -> None:
        found = await surface.find(order.card) if order.repeated else ()
        card = await self.gallery.card(call)
        if card is None:
            await self.ledger.drop(call.key.reply_id, order.id)
            return
        for message in found:  # it may have been posted long ago
            await surface.edit(order.card, message, card)
        messages = found or (await surface.post(order.card, card),)
        await self._record(order, call, messages)

    async def _repaint(self, order: Order, call: Call, surface: Surface) -> None:
        known = next((c.messages for c in call.cards if c.channel == order.card.channel), ())
        if order.kind == "look":
            known = tuple(sorted({*known, *await surface.find(order.card)}))
        card = await self.gallery.card(call)
        if card is None or not known:
            await self.ledger.drop(call.key.reply_id, order.id)
            return
        for message in known:
            await surface.edit(order.card, message, card)
        await self._record(order, call, known)

    async def _notice(self, order: Order, call: Call, surface: Surface) -> None:
        card = await self.gallery.card(call)
        if card is not None:
            await surface.notice(order.card, order.kind, card)
        await self.ledger.drop(call.key.reply_id, order.id)

    async def _record(self, order: Order, call: Call, messages: tuple[str, ...]) -> None:
        await self.ledger.shown(
            Shown(order.card, messages, call.version, order.id, repeated=order.repeated)
        )
