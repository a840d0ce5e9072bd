"""The worker: takes up replies that have work, one after the other.

Any number of workers may run, in any number of processes. What keeps them apart is the ledger: a
reply is held under a fence, every write carries it, and a lost lease ends the work here.
"""

import asyncio
import logging

from core.bench import LEASE_MS, Bench
from core.calls import Actor
from core.errors import StoreError
from core.faults import outline
from core.insistence import RETRY_S, insist
from core.ledger import Claim, Claimed, HandBack
from core.ledger_journal import LeaseLost, PolicyMoved
from core.shift import RunUnproven, Shift

__all__ = ["LEASE_MS", "WAIT_MS", "Bench", "Worker"]

WAIT_MS = 1_000
"""How long one look for work waits."""

_log = logging.getLogger(__name__)


class Worker:
    """Takes up one reply after the other."""

    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._me = Actor("worker", name)
        self._behind = False

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; a reply in hand is finished or handed back first."""
        while not stop.is_set():
            try:
                ready = await self._bench.ledger.wait_for_work(WAIT_MS)
            except StoreError as error:
                _log.warning("work waits for the store", extra={"error": type(error).__name__})
                await self._bench.clock.sleep(RETRY_S)
                continue
            for reply_id in ready:
                if stop.is_set():
                    return
                await self.take_up(reply_id)

    async def take_up(self, reply_id: str) -> bool:
        """Claim a reply and drive it as far as it goes now. False: it was not to be had."""
        try:
            claimed = await self._claim(reply_id)
        except StoreError as failed:
            _log.warning("not claimed", extra={"reply_id": reply_id, "why": outline(failed)})
            return False
        if claimed is None:
            return False
        shift = Shift(self._bench, self._me, claimed)
        try:
            await shift.work()
        except* (LeaseLost, RunUnproven) as lost:
            _log.info("reply let go", extra={"reply_id": reply_id, "why": outline(lost)})
        except* PolicyMoved:
            await self._hand_back(reply_id, claimed.fence)
        except* StoreError as failed:
            # The lease ends by itself, and the reply is taken up again from what is recorded.
            _log.warning("store failed", extra={"reply_id": reply_id, "why": outline(failed)})
        except* Exception as wrong:  # noqa: BLE001 - one reply must not end the worker
            _log.error("reply went wrong", extra={"reply_id": reply_id, "why": outline(wrong)})
        await shift.deliver_proofs()
        return True

    async def _claim(self, reply_id: str) -> Claimed | None:
        bench = self._bench
        if self._behind and await bench.ledger.policy() != bench.policy:
            return None  # the ledger announces it again, to somebody with the policy in force
        self._behind = False
        request = Claim(bench.ids.new(), self._me, reply_id, bench.lease_ms)
        said = await insist(lambda: bench.ledger.claim(request), bench.clock, bench.lease_ms / 1000)
        return said if isinstance(said, Claimed) else None

    async def _hand_back(self, reply_id: str, fence: int) -> None:
        """Leave a reply to a process that has the policy in force."""
        self._behind = True
        _log.warning("policy moved; reply handed back", extra={"reply_id": reply_id})
        request = HandBack(self._bench.ids.new(), self._me, reply_id, fence)
        try:
            await self._bench.ledger.hand_back(request)
        except StoreError as failed:
            _log.warning("not handed back", extra={"reply_id": reply_id, "why": outline(failed)})
