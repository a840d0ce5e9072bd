"""One Valkey for the whole test run: embedded, on a Unix socket, without a port."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from adapters.redis.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A running server; tests that use it flush it first."""
    server = EmbeddedServer(Path(tmp_path_factory.mktemp("valkey")))
    server.start()
    with Redis.from_url(server.url) as client:
        client.config_set("appendfsync", "no")  # nobody pulls the plug while tests run
    yield server
    server.stop(even_if_used=True)
