"""Every story is told twice: on the store in memory, and on a real Valkey."""

from collections.abc import AsyncIterator

import pytest

from adapters.memory.ledger import MemoryLedger
from adapters.redis.connection import connect
from adapters.redis.embedded import EmbeddedServer
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from tests.stories.office import CountedIds, OpenOffice, PatientClock


@pytest.fixture(params=["memory", "redis"])
async def open_office(request: pytest.FixtureRequest) -> AsyncIterator[OpenOffice]:
    """Opens offices on one empty store."""
    clock, ids = PatientClock(), CountedIds()
    if request.param == "memory":
        yield OpenOffice(MemoryLedger(clock, ids), clock, ids)
        return
    server: EmbeddedServer = request.getfixturevalue("valkey")
    connections = connect(server.url)
    await connections.commands.flushall()

    async def follow() -> None:
        at = int(clock.at.timestamp() * 1000)
        await connections.commands.hset(Keys(0).clock, "fixed", at)

    await follow()
    sealer = Sealer(Keyring("k1", {"k1": bytes(32)}))
    yield OpenOffice(RedisLedger(connections, sealer, ids), clock, ids, follow)
    await connections.close()
