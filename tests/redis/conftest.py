"""Connections to the session's Valkey, emptied; always closed."""

from collections.abc import AsyncIterator

import pytest

from adapters.redis.connection import Connections, connect
from adapters.redis.embedded import EmbeddedServer


@pytest.fixture
async def connections(valkey: EmbeddedServer) -> AsyncIterator[Connections]:
    """An empty store."""
    connections = connect(valkey.url)
    await connections.commands.flushall()
    yield connections
    await connections.close()
