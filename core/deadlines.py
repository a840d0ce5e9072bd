"""Deadlines: lets every timer of the ledger act when it is due.

The ledger compares deadlines in every transition anyway; this only makes silence end in time.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import StoreError
from core.ledger import Fire, Ledger, Timer
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
                failed = await self._fire(await self.ledger.due())
                pause = LONGEST_SLEEP_S if failed else await self._pause()
            except StoreError as error:
                _log.warning("timers wait for the store", extra={"error": type(error).__name__})
                pause = LONGEST_SLEEP_S
            await self.clock.sleep(pause)

    async def fire_due(self) -> int:
        """Fire everything that is due now; how many acted."""
        due = await self.ledger.due()
        return len(due) - await self._fire(due)

    async def _fire(self, due: Sequence[Timer]) -> int:
        """Fire these timers; how many could not act. One that can't keeps none of the others."""
        failed = 0
        for timer in due:
            try:
                await self.ledger.fire(Fire(self.ids.new(), timer))
            except StoreError as error:
                failed += 1
                extra = {"reply_id": timer.reply_id, "error": type(error).__name__}
                _log.warning("a timer could not act", extra=extra)
        return failed

    async def _pause(self) -> float:
        due = await self.ledger.next_due()
        if due is None:
            return LONGEST_SLEEP_S
        left = (due - await self.ledger.now()) / 1000
        return min(max(left, 0.01), LONGEST_SLEEP_S)
