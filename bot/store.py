"""Which store: one of the operator's (REDIS_URL), or the embedded one in the data directory."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.redis.connection import Connections, connect, examine
from adapters.redis.embedded import EmbeddedServer
from adapters.redis.sealing import Keyring
from core.errors import SetupRefused

URL = "REDIS_URL"
URL_FILE = "REDIS_URL_FILE"
KEY_FILE = "key"
_MAX_URL = 4096


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A store that can be trusted, and the keys that its contents are sealed with."""

    connections: Connections
    keyring: Keyring
    warnings: tuple[str, ...]


@asynccontextmanager
async def open_store(data: Path, environment: Mapping[str, str]) -> AsyncGenerator[OpenStore]:
    """Connect, look whether the store can be trusted, and let go at the end.

    The last process to leave an embedded store shuts it down.

    Raises:
        SetupRefused: there is no server, or one that would lose what people decided.
        StoreUnavailable: it does not answer.
    """
    await asyncio.to_thread(data.mkdir, 0o700, True, True)
    url = store_url(environment)
    if url is not None:
        # Others may share that store, so a missing key can't be told from a lost one.
        async with _connected(url, Keyring.read_or_create(data / KEY_FILE, may_create=True)) as it:
            yield it
        return
    server = EmbeddedServer(data)
    with _Residents(data) as residents:
        keyring = Keyring.read_or_create(data / KEY_FILE, may_create=not server.holds_data)
        await asyncio.to_thread(server.start)
        try:
            with server.kept_running():
                async with _connected(server.url, keyring) as store:
                    yield store
        finally:
            if residents.am_last():
                await asyncio.to_thread(server.stop)


@asynccontextmanager
async def _connected(url: str, keyring: Keyring) -> AsyncGenerator[OpenStore]:
    connections = connect(url)
    try:
        warnings = await examine(connections)
        yield OpenStore(connections, keyring, tuple(warnings))
    finally:
        await connections.close()


def store_url(environment: Mapping[str, str]) -> str | None:
    """The address of the operator's own store, which may hold a password; None: embedded.

    Raises:
        SetupRefused: the file that should hold it can't be read.
    """
    if file := environment.get(URL_FILE):
        try:
            with Path(file).open("rb") as stream:
                return stream.read(_MAX_URL).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SetupRefused(f"{URL_FILE}: {file} can't be read.") from error
    return environment.get(URL) or None


def forget_store(data: Path) -> None:
    """Stop an embedded store that a killed process left behind, so that its files can be removed.

    Raises:
        SetupRefused: somebody uses it.
    """
    if not data.exists():
        return
    with _Residents(data) as residents:
        if not residents.am_last():
            raise SetupRefused(f"Another Keyturn is at work in {data}. End it first.")
        EmbeddedServer(data).stop()


class _Residents:
    """Everybody who uses a data directory, as a shared lock that dies with its process.

    Whoever can turn the shared lock into an exclusive one is the last; newcomers wait meanwhile.
    """

    def __init__(self, data: Path) -> None:
        self._descriptor = os.open(data / "residents.lock", os.O_CREAT | os.O_RDWR, 0o600)

    def __enter__(self) -> "_Residents":
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)
        return self

    def am_last(self) -> bool:
        """Whether nobody else is here; from then on nobody gets in before we leave."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
