"""The network swallows answers: the client sends again, and nothing happens twice.

Also what replicas have to do with an answer.
"""

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import RedisError

from adapters.memory.ledger import MemoryLedger
from adapters.redis.connection import Connections, connect
from adapters.redis.embedded import EmbeddedServer, find_server
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from core.errors import StoreUnavailable
from core.ledger import Granted, Ledger
from tests.contracts.ledgers import Driver, HandClock, SeededIds, new_call
from tests.sim.walk import SESSIONS, Walk, send

SEALER = Sealer(Keyring("k1", {"k1": bytes(32)}))


@dataclass
class Swallower:
    """Stands between client and server; after `every` answers it eats one and hangs up."""

    server: Path
    every: int
    answers: int = 0
    eaten: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection."""
        inner, outer = await asyncio.open_unix_connection(self.server)
        with suppress(ConnectionError, ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._forward(reader, outer))
                group.create_task(self._answer(inner, writer, outer))
        for line in (outer, writer):
            line.close()
            with suppress(ConnectionError):
                await line.wait_closed()

    async def _forward(self, reader: asyncio.StreamReader, outer: asyncio.StreamWriter) -> None:
        while sent := await reader.read(65536):
            outer.write(sent)
        outer.close()

    async def _answer(
        self, inner: asyncio.StreamReader, writer: asyncio.StreamWriter, outer: asyncio.StreamWriter
    ) -> None:
        while answer := await inner.read(1 << 20):
            self.answers += 1
            if self.answers % self.every == 0:
                self.eaten += 1
                break
            writer.write(answer)
        writer.close()
        outer.close()


@asynccontextmanager
async def swallowing(server: EmbeddedServer, folder: Path, every: int) -> AsyncIterator[Swallower]:
    """A swallower that listens in `folder`."""
    swallower = Swallower(server.socket, every)
    listener = await asyncio.start_unix_server(swallower.serve, folder / "s.sock")
    try:
        yield swallower
    finally:
        listener.close()


async def insist(ledger: Ledger, request: Any) -> Any:
    """Send the same request until it is answered, as every caller must."""
    for _ in range(10):
        with suppress(StoreUnavailable):
            return await send(ledger, request)
    raise AssertionError(f"never answered: {request}")


async def test_answers_are_lost_and_nothing_happens_twice(
    valkey: EmbeddedServer, connections: Connections, tmp_path: Path
) -> None:
    """A walk over a swallowing line leaves the same records as one over none."""
    async with swallowing(valkey, tmp_path, every=9) as swallower:
        lossy = connect(f"unix://{tmp_path / 's.sock'}")
        clock = HandClock()
        memory = MemoryLedger(clock, SeededIds(7))
        partly = Connections(lossy.commands, connections.blocking)
        lua = RedisLedger(partly, SEALER, SeededIds(7))
        walk = Walk(7, memory)
        await memory.publish_policy("p1")
        await lua.publish_policy("p1")
        for _ in range(250):
            clock.turn(walk.dice.choice((0, 0, 1_000, 6_000)))
            walk.now = clock.ms
            await connections.commands.hset(Keys(0).clock, "fixed", clock.ms)
            request = await walk.next()

            here, there = await send(memory, request), await insist(lua, request)

            assert type(here) is type(there), request
            if reply_id := getattr(here, "reply_id", None):
                walk.known.append(reply_id)
        for name in SESSIONS:
            assert await memory.session(name) == await lua.session(name)
        for reply_id in walk.known:
            assert await memory.reply(reply_id) == await lua.reply(reply_id)
            assert await memory.audit(reply_id) == await lua.audit(reply_id)
        await partly.line.close()
        await lossy.close()

    assert swallower.eaten > 50


async def test_without_its_replica_a_decision_is_not_confirmed(connections: Connections) -> None:
    """It stands, but the caller is told that it is not safe; so is whoever repeats it."""
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(new_call())
    driver.ledger = RedisLedger(connections, SEALER, SeededIds(), replicas=1)

    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="replica"):
            await driver.approve(op="click")

    assert (await driver.call()).votes


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[str]:
    """A primary on a Unix socket and a loopback port, and its replica."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    common = ["--appendonly", "no", "--save", "", "--bind", "127.0.0.1"]
    here = f"{tmp_path}/p.sock"
    roles = (
        ["--port", str(port), "--unixsocket", here, "--repl-diskless-sync-delay", "0"],
        [
            "--port",
            "0",
            "--unixsocket",
            f"{tmp_path}/r.sock",
            "--replicaof",
            "127.0.0.1",
            str(port),
        ],
    )
    servers = [
        subprocess.Popen(
            [find_server(), *common, "--dir", str(tmp_path), *role], stdout=subprocess.DEVNULL
        )
        for role in roles
    ]
    yield f"unix://{here}"
    for server in servers:
        server.terminate()
        server.wait(10)


async def test_with_its_replica_a_decision_is_confirmed(pair: str) -> None:
    """The replica has it before the person is told."""
    connections = connect(pair)
    await _until_it_has_a_replica(connections)
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds(), replicas=1)).begin(
        new_call()
    )

    first = await driver.approve(op="click")
    again = await driver.approve(op="click")
    await connections.commands.script_flush()

    assert isinstance(first, Granted)
    assert again == first
    assert await driver.accept()
    await connections.close()


async def _until_it_has_a_replica(connections: Connections) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(RedisError):
                info = await connections.commands.info("replication")
                if info.get("slave0", {}).get("state") == "online":
                    return
            await asyncio.sleep(0.05)
