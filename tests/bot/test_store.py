"""The store that a process opens, and what becomes of it while the process is at work."""

import asyncio
import os
import signal
from pathlib import Path

from redis.exceptions import RedisError

from adapters.redis.connection import Client
from adapters.redis.embedded import EmbeddedServer
from bot.store import open_store


async def test_an_embedded_store_that_was_killed_comes_back_while_people_work(
    tmp_path: Path,
) -> None:
    """Nobody has to start Keyturn again: what is at work finds the same data a moment later."""
    data = tmp_path / "data"
    async with open_store(data, os.environ) as opened:
        redis = opened.connections.commands
        for number in range(2):
            await redis.set("kept", number)
            pid = EmbeddedServer(data).pid()
            assert pid
            os.kill(pid, signal.SIGKILL)

            async with asyncio.timeout(20):
                found = await _ask_again(opened.connections.commands)

            assert found == str(number).encode()
            assert EmbeddedServer(data).pid() != pid
    assert EmbeddedServer(data).pid() is None, "whoever leaves last stops it for good"


async def _ask_again(redis: Client) -> bytes | None:
    while True:
        try:
            found: bytes | None = await redis.get("kept")
        except RedisError:
            await asyncio.sleep(0.05)
        else:
            return found
