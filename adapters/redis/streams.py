"""The streams: the outbox, from which posters take orders, and the hints of replies to take up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from redis.exceptions import ResponseError

from adapters.redis.connection import BLOCK_MS, Connections, store_errors
from adapters.redis.keys import POSTERS, WORKERS, Keys, keys_of
from adapters.redis.records import MISFITS
from core.calls import CallKey
from core.errors import StoreDamaged
from core.ledger import requests as r


@dataclass(frozen=True, slots=True)
class Streams:
    """Reads the streams of all partitions, in consumer groups."""

    connections: Connections
    partitions: int

    async def orders(
        self, poster: str, limit: int, wait_ms: int, again_after_ms: int
    ) -> tuple[r.Order, ...]:
        """Take outbox entries: first those that were taken and never acknowledged."""
        found: list[r.Order] = []
        for keys in self._all():
            found += await self._again(keys, poster, limit - len(found), again_after_ms)
        if len(found) < limit:
            found += await self._new_orders(poster, limit - len(found), 0 if found else wait_ms)
        return tuple(found)

    async def drop(self, reply_id: str, order: str) -> None:
        """Acknowledge an order that has nothing to show."""
        keys = keys_of(reply_id)
        if keys is None:
            return
        async with store_errors(), self.connections.commands.pipeline(transaction=True) as pipe:
            pipe.xack(keys.outbox, POSTERS, order)
            pipe.xdel(keys.outbox, order)
            await pipe.execute()

    async def wait_for_work(self, wait_ms: int) -> tuple[str, ...]:
        """Ids of replies that became ready; each is heard by one waiter, if by any."""
        rows = await self._read_group(WORKERS, "any", 100, wait_ms)
        return tuple(dict.fromkeys(fields[b"rid"].decode() for _, _, fields in rows))

    def _all(self) -> list[Keys]:
        return [Keys(number) for number in range(self.partitions)]

    async def _again(self, keys: Keys, poster: str, limit: int, after_ms: int) -> list[r.Order]:
        if limit <= 0:
            return []

        async def claim() -> Any:
            return await self.connections.commands.xautoclaim(
                keys.outbox, POSTERS, poster, after_ms, "0-0", count=limit
            )

        claimed = await self._in_group(POSTERS, [keys.outbox], claim)
        return [_order(name, fields, repeated=True) for name, fields in claimed[1] if fields]

    async def _new_orders(self, poster: str, limit: int, wait_ms: int) -> list[r.Order]:
        rows = await self._read_group(POSTERS, poster, limit, wait_ms)
        return [_order(name, fields, repeated=False) for _, name, fields in rows]

    async def _read_group(
        self, group: str, consumer: str, count: int, wait_ms: int
    ) -> list[tuple[bytes, bytes, dict[bytes, bytes]]]:
        hints = group == WORKERS
        streams = [keys.wake if hints else keys.outbox for keys in self._all()]
        while True:
            block = min(wait_ms, BLOCK_MS) or None

            async def take(block: int | None = block) -> Any:
                wanted = dict.fromkeys(streams, ">")
                return await self.connections.blocking.xreadgroup(
                    group, consumer, wanted, count, block, noack=hints
                )

            found = await self._in_group(group, streams, take)
            wait_ms -= block or 0
            if found or wait_ms <= 0:
                return _rows(found)

    async def _in_group(self, group: str, streams: list[str], act: Callable[[], Any]) -> Any:
        async with store_errors():
            try:
                return await act()
            except ResponseError as wrong:
                if not str(wrong).startswith("NOGROUP"):
                    raise
            for stream in streams:
                try:
                    await self.connections.commands.xgroup_create(stream, group, "0", mkstream=True)
                except ResponseError as wrong:
                    if not str(wrong).startswith("BUSYGROUP"):
                        raise
            return await act()


def _rows(found: Any) -> list[tuple[bytes, bytes, dict[bytes, bytes]]]:
    """Entries of a group read, whichever protocol the answer came in."""
    rows: list[tuple[bytes, bytes, dict[bytes, bytes]]] = []
    for stream, batches in (found or {}).items() if isinstance(found, dict) else found or ():
        entries = batches[0] if batches and isinstance(batches[0], list) else batches
        rows += [(stream, name, fields) for name, fields in entries]
    return rows


def _order(name: bytes, fields: dict[bytes, bytes], *, repeated: bool) -> r.Order:
    try:
        text = {key.decode(): value.decode() for key, value in fields.items()}
        card = r.CardKey(CallKey(text["rid"], text["call"], int(text["turn"])), text["channel"])
        kind = cast(Any, text["kind"])
        return r.Order(name.decode(), kind, card, text["name"], repeated)
    except MISFITS as wrong:
        raise StoreDamaged("A stored order can't be read.") from wrong
