"""Both stores, empty, under a clock that tests turn by hand."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from adapters.memory.ledger import MemoryLedger
from adapters.redis.connection import Connections, connect
from adapters.redis.embedded import EmbeddedServer
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from core.ledger import Ledger
from tests.contracts.ledgers import Driver, HandClock, SeededIds


@dataclass
class StandingClock(HandClock):
    """A clock by hand that the Redis store follows: see `Keys.clock`, `fixed`."""

    connections: Connections | None = None
    partitions: int = 1

    async def set_store(self) -> None:
        if self.connections:
            for number in range(self.partitions):
                await self.connections.commands.hset(Keys(number).clock, "fixed", self.ms)

    async def forward(self, ms: int) -> None:
        self.turn(ms)
        await self.set_store()


@pytest.fixture(params=["memory", "redis"])
async def stores(
    request: pytest.FixtureRequest,
) -> AsyncIterator[tuple[Ledger, StandingClock]]:
    """A ledger and its clock."""
    if request.param == "memory":
        clock = StandingClock()
        yield MemoryLedger(clock, SeededIds()), clock
        return
    server: EmbeddedServer = request.getfixturevalue("valkey")
    connections = connect(server.url)
    await connections.commands.flushall()
    clock = StandingClock(connections=connections)
    await clock.set_store()
    yield RedisLedger(connections, Sealer(Keyring("k1", {"k1": bytes(32)})), SeededIds()), clock
    await connections.close()


@pytest.fixture
def ledger(stores: tuple[Ledger, StandingClock]) -> Ledger:
    """The ledger alone."""
    return stores[0]


@pytest.fixture
def clock(stores: tuple[Ledger, StandingClock]) -> StandingClock:
    """Its clock."""
    return stores[1]


@pytest.fixture
def driver(ledger: Ledger) -> Driver:
    """A session's worker and people."""
    return Driver(ledger)
