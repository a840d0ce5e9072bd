"""What every store of preferences promises."""

from collections.abc import AsyncIterator

import pytest

from adapters.memory.preferences import MemoryPreferences
from adapters.redis.connection import Connections, connect
from adapters.redis.embedded import EmbeddedServer
from adapters.redis.preferences import RedisPreferences
from adapters.redis.sealing import Keyring, Sealer
from core.permissions.rules import AutoRunMode, PermissionBehavior, PermissionRule
from core.ports import Allowed, Preferences
from tests.contracts.ledgers import HandClock

SEALER = Sealer(Keyring("k1", {"k1": bytes(32)}))


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def connections(valkey: EmbeddedServer) -> AsyncIterator[Connections]:
    opened = connect(valkey.url)
    await opened.commands.flushall()
    yield opened
    await opened.close()


@pytest.fixture(params=["memory", "redis"])
def preferences(request: pytest.FixtureRequest, clock: HandClock) -> Preferences:
    if request.param == "memory":
        return MemoryPreferences(clock)
    connections: Connections = request.getfixturevalue("connections")
    return RedisPreferences(connections, SEALER, clock, "local")


def entry(content: str, added_at: int = 1, expires_at: int | None = None) -> Allowed:
    rule = PermissionRule(
        tool_name="Bash",
        rule_content=content,
        behavior=PermissionBehavior.ALLOW,
        source="suggested",
    )
    return Allowed(rule, "ana", "often", added_at, expires_at)


async def test_a_person_who_chose_nothing_uses_the_allowlist(preferences: Preferences) -> None:
    """The mode in the middle, and an empty list."""
    assert await preferences.mode("rita") is AutoRunMode.USE_ALLOWLIST
    assert await preferences.allowlist("rita") == ()


async def test_a_chosen_mode_stays(preferences: Preferences) -> None:
    """For that person, and for nobody else."""
    await preferences.set_mode("rita", AutoRunMode.RUN_EVERYTHING)

    assert await preferences.mode("rita") is AutoRunMode.RUN_EVERYTHING
    assert await preferences.mode("ana") is AutoRunMode.USE_ALLOWLIST


async def test_an_entry_is_unique_per_tool_and_pattern(preferences: Preferences) -> None:
    """Adding it again renews it."""
    assert await preferences.allow("rita", entry("ls:*", 1))
    assert not await preferences.allow("rita", entry("ls:*", 2))
    assert await preferences.allow("rita", entry("pwd", 3))

    assert await preferences.allowlist("rita") == (entry("ls:*", 2), entry("pwd", 3))
    assert await preferences.allowlist("ana") == ()


async def test_an_expired_entry_holds_no_more(preferences: Preferences, clock: HandClock) -> None:
    """From its time on it is not in the list."""
    now = int(clock.at.timestamp() * 1000)
    await preferences.allow("rita", entry("ls:*", 1, now + 1000))
    assert len(await preferences.allowlist("rita")) == 1

    clock.turn(1000)

    assert await preferences.allowlist("rita") == ()


async def test_a_removed_entry_is_gone(preferences: Preferences) -> None:
    """And removing it once more says that there was none."""
    await preferences.allow("rita", entry("ls:*"))

    assert await preferences.disallow("rita", "Bash", "ls:*")
    assert not await preferences.disallow("rita", "Bash", "ls:*")
    assert await preferences.allowlist("rita") == ()


async def test_patterns_are_not_in_the_clear(connections: Connections) -> None:
    """Nor who they belong to: what a person allows may name customers and hosts."""
    preferences = RedisPreferences(connections, SEALER, HandClock(), "local")
    await preferences.allow("rita", entry("curl https://billing.internal"))

    (key,) = await connections.commands.keys("*")
    dump = await connections.commands.hgetall(key)

    assert b"billing" not in repr((key, dump)).encode()
    assert b"rita" not in key
