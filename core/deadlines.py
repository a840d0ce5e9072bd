"""Deadlines: lets every timer of the ledger act when it is due.

The ledger compares deadlines in every transition anyway; this only makes silence end in time.
"""

import asyncio
import logging
from dataclasses import dataclass

from core.errors import StoreError
from core.ledger import Fire, Ledger
from core.ports import Clock, Ids

LONGEST_SLEEP_S = 1.0
"""How long the poller sleeps at most: a timer may be armed meanwhile by anybody."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Fires due timers. Any number may run: a timer acts once."""

    ledger: Ledger
    clock: Clock
    ids: Ids

    async def run(self, stop: asyncio.Event) -> None:
        """Fire until `stop` is set."""
        while not stop.is_set():
            try:
                await self.fire_due()
                pause = await self._pause()
            except StoreError as error:
                _log.warning("timers wait for the store", extra={"error": type(error).__name__})
                pause = LONGEST_SLEEP_S
            await self.clock.sleep(pause)

    async def fire_due(self) -> int:
        """Fire everything that is due now; how many."""
        due = await self.ledger.due()
        for timer in due:
            await self.ledger.fire(Fire(self.ids.new(), timer))
        return len(due)

    async def _pause(self) -> float:
        due = await self.ledger.next_due()
        if due is None:
            return LONGEST_SLEEP_S
        left = (due - await self.ledger.now()) / 1000
        return min(max(left, 0.01), LONGEST_SLEEP_S)
