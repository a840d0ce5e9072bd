"""Connections to the store, and what must be true of the store before we trust it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ClusterDownError,
    MasterDownError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from adapters.redis.line import Line
from core.errors import SetupRefused, StoreDamaged, StoreError, StoreUnavailable
from core.ports import Clock

Client = Any
"""A `redis.asyncio.Redis` that answers in bytes; its own types leave that open."""
BLOCK_MS = 2_000
"""Longest single wait on the server; longer waits are made of these."""
CLOCKS_APART_SECONDS = 2
_FOR_NOW = (OutOfMemoryError, ReadOnlyError, MasterDownError, TryAgainError, ClusterDownError)
_FOR_NOW_CODES = ("MISCONF", "BUSY", "NOREPLICAS", "UNBLOCKED", "LOADING")
"""Refusals that the library has no class for."""


@dataclass(frozen=True, slots=True)
class Connections:
    """`commands`: replay-safe scripts and reads, sent again after a lost answer. `blocking`:
    waits on streams, never sent again by the library: their answer may hold entries. `line`: the
    scripts and reads of every reply, over one connection made like those of `commands`."""

    commands: Client
    blocking: Client
    line: Line = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", Line(self.commands.connection_pool))

    async def close(self) -> None:
        """Let all connections go."""
        await self.line.close()
        await self.commands.aclose()
        await self.blocking.aclose()


def connect(url: str, *, connections: int = 32) -> Connections:
    """Pools for a `redis://`, `rediss://` or `unix://` address; nothing is sent yet."""
    commands = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=5,
        socket_timeout=5,
        socket_connect_timeout=2,
        health_check_interval=15,
        protocol=3,
        retry=Retry(ExponentialWithJitterBackoff(cap=1, base=0.05), 3),
    )
    blocking = BlockingConnectionPool.from_url(
        url,
        max_connections=8,
        timeout=5,
        socket_timeout=BLOCK_MS / 1000 + 5,
        socket_connect_timeout=2,
        protocol=3,
        retry=Retry(NoBackoff(), 0),
    )
    return Connections(Redis.from_pool(commands), Redis.from_pool(blocking))


@asynccontextmanager
async def store_errors() -> AsyncIterator[None]:
    """Turn the library's errors into the ledger's.

    Raises:
        StoreUnavailable: no connection, no answer in time, or the server can't take it now.
        StoreDamaged: a script could not read what is stored.
        StoreError: the store does not know us.
    """
    try:
        yield
    except FAULTS as wrong:
        raise fault(wrong) from wrong


FAULTS = (RedisError, OSError)
"""What the library raises."""


def fault(wrong: Exception) -> Exception:
    """The ledger's error for one of the library's; see `store_errors`."""
    if isinstance(wrong, ResponseError):
        return _refusal(wrong)
    if isinstance(wrong, AuthenticationError):
        return StoreError("The store refuses our user or password.")
    if isinstance(wrong, RedisError):
        return StoreUnavailable("The store gave no answer in time.")
    return StoreUnavailable("The store can't be reached.")


def _refusal(wrong: ResponseError) -> Exception:
    text = str(wrong)
    if text.startswith("TENANT"):
        return ValueError("the session belongs to another tenant")
    if isinstance(wrong, _FOR_NOW) or text.startswith(_FOR_NOW_CODES):
        return StoreUnavailable("The store can't take this now.")
    if isinstance(wrong, NoPermissionError):
        return StoreError("The store does not let our user do this.")
    return StoreDamaged("The store holds something that a transition can't read.")


def require_trustworthy(info: Mapping[str, Any]) -> list[str]:
    """Judge a server by its INFO: what is worth a warning, in words for the operator.

    Raises:
        SetupRefused: it would lose or drop what people decided; says how to mend it.
    """
    _require_version(info)
    policy = str(info.get("maxmemory_policy", ""))
    if policy != "noeviction":
        raise SetupRefused(
            f"The store drops keys when memory is full (maxmemory-policy {policy}): decisions "
            "would vanish. Run: CONFIG SET maxmemory-policy noeviction, and put it into its "
            "configuration file."
        )
    if not int(info.get("aof_enabled", 0)):
        raise SetupRefused(
            "The store keeps no journal (appendonly no): decisions would not survive a crash. "
            "Run: CONFIG SET appendonly yes, and put it into its configuration file."
        )
    if info.get("role") not in {"master", None}:
        raise SetupRefused("REDIS_URL points at a replica. Point it at the primary.")
    warnings: list[str] = []
    if info.get("aof_last_write_status", "ok") != "ok":
        warnings.append("The store could not write its journal last time: look at its disk.")
    return warnings


def _require_version(info: Mapping[str, Any]) -> None:
    engine, least = ("redis_version", (7, 0))
    if "valkey_version" in info:
        engine, least = ("valkey_version", (7, 2))
    version = str(info.get(engine, "0"))
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if found < least:
        name = engine.partition("_")[0].capitalize()
        wanted = ".".join(map(str, least))
        raise SetupRefused(f"The store is {name} {version}; Keyturn needs {wanted} or newer.")


async def examine(connections: Connections, clock: Clock | None = None) -> list[str]:
    """Look at the server before it is used; the warnings.

    `clock` is this machine's; given, it is compared with the server's.

    Raises:
        SetupRefused: see `require_trustworthy`.
        StoreUnavailable: it does not answer.
    """
    async with store_errors():
        info = await connections.commands.info()
        warnings = require_trustworthy(info)
        if clock:
            warnings += await _compare_clocks(connections, clock)
        try:
            found = await connections.commands.config_get("appendfsync")
        except ResponseError:
            return warnings
    if found.get("appendfsync") != "always" and not int(info.get("connected_slaves", 0)):
        warnings.append(
            "The store writes its journal once a second (appendfsync everysec): a power cut may "
            "lose the last second. CONFIG SET appendfsync always keeps it."
        )
    return warnings


async def _compare_clocks(connections: Connections, clock: Clock) -> list[str]:
    seconds, micros = await connections.commands.time()
    apart = abs(clock.now().timestamp() - seconds - micros / 1e6)
    if apart <= CLOCKS_APART_SECONDS:
        return []
    return [
        (
            f"The store's clock and this machine's are {apart:.0f} s apart: decisions are refused "
            "when they differ by more than 15 s. Run a time service on both."
        )
    ]
