"""What is special to the Lua store: the start check, scripts after a restart, expiry of keys."""

import pytest

from adapters.redis.connection import Connections, require_trustworthy
from adapters.redis.keys import Keys, keys_of
from adapters.redis.ledger import RedisLedger
from adapters.redis.scripts import NAMES, source
from adapters.redis.sealing import Keyring, Sealer
from core.calls import CallState, partition_of
from core.errors import SetupRefused, StoreUnavailable
from core.ledger import Begun, Queued
from tests.contracts.ledgers import Driver, SeededIds, new_call

SEALER = Sealer(Keyring("k1", {"k1": bytes(32)}))
GOOD = {
    "redis_version": "7.2.4",
    "valkey_version": "9.1.2",
    "maxmemory_policy": "noeviction",
    "aof_enabled": 1,
    "role": "master",
}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"maxmemory_policy": "allkeys-lru"}, "maxmemory-policy noeviction"),
        ({"aof_enabled": 0}, "appendonly yes"),
        ({"valkey_version": "7.0.1"}, "Valkey 7.0.1"),
        ({"role": "slave"}, "primary"),
    ],
)
def test_a_store_that_would_lose_decisions_is_refused(wrong: dict[str, object], says: str) -> None:
    """With the command that mends it."""
    with pytest.raises(SetupRefused, match=says):
        require_trustworthy(GOOD | wrong)


def test_an_old_redis_is_refused_and_a_good_store_passes() -> None:
    """Redis counts from 7.0, Valkey from 7.2."""
    redis = {key: value for key, value in GOOD.items() if key != "valkey_version"}

    assert require_trustworthy(GOOD) == []
    assert require_trustworthy(redis | {"redis_version": "7.0.15"}) == []
    with pytest.raises(SetupRefused, match=r"Redis 6\.2\.14"):
        require_trustworthy(redis | {"redis_version": "6.2.14"})
    assert require_trustworthy(GOOD | {"aof_last_write_status": "err"})


@pytest.mark.parametrize("name", NAMES)
def test_only_what_grows_the_store_is_refused_when_it_is_full(name: str) -> None:
    """Decisions, ends and timers go on, so that it can empty."""
    header = source(name).splitlines()[0]

    assert header == ("#!lua" if name in {"accept", "turn"} else "#!lua flags=allow-oom")


async def test_scripts_that_the_server_forgot_are_sent_again(connections: Connections) -> None:
    """A restart or SCRIPT FLUSH is not noticed."""
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(new_call())

    await connections.commands.script_flush()

    assert isinstance(await driver.accept(), Queued)


async def test_a_full_store_refuses_new_work_and_finishes_the_old(connections: Connections) -> None:
    """At the memory limit messages are refused, decisions are not."""
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(new_call())
    try:
        await connections.commands.config_set("maxmemory", "1")

        with pytest.raises(StoreUnavailable):
            await driver.accept()
        await driver.approve()
        await driver.start()
        await driver.finish()
    finally:
        await connections.commands.config_set("maxmemory", "0")

    assert await driver.state() is CallState.DONE


async def test_only_what_is_closed_expires(connections: Connections) -> None:
    """Nothing open carries a time to live; a closed reply goes after seven days, all of it."""
    redis, keys = connections.commands, Keys(0)
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(new_call())
    await driver.reject()
    own = [keys.reply(driver.reply_id), keys.history(driver.reply_id)]
    open_before = [await redis.ttl(name) for name in own]
    await driver.complete()

    assert open_before == [-1, -1]
    assert all([604_700 < await redis.ttl(name) <= 604_800 for name in own])
    await driver.reject()
    assert all([0 < await redis.ttl(name) <= 604_800 for name in own])
    assert await redis.ttl(keys.session("s1")) == -1


async def test_replies_inherit_their_sessions_partition(connections: Connections) -> None:
    """All keys of a session and its replies share one hash tag; every partition works."""
    ledger = RedisLedger(connections, SEALER, SeededIds(), partitions=4)
    await ledger.prepare()
    partitions = set()

    for number in range(16):
        driver = await Driver(ledger, session_id=f"s{number}").begin(new_call())
        keys = keys_of(driver.reply_id)
        assert keys
        assert keys.partition == partition_of(driver.session_id, 4)
        partitions.add(keys.partition)
        await driver.release()
        await driver.approve()

    assert partitions == {0, 1, 2, 3}
    assert len(await ledger.wait_for_work(100)) == 16
    assert len(await ledger.orders("p", 100)) == 32
    with pytest.raises(SetupRefused, match="4 partitions"):
        await RedisLedger(connections, SEALER, SeededIds(), partitions=2).prepare()


async def test_a_clock_that_a_test_has_set_is_refused_at_start(connections: Connections) -> None:
    """The standing clock of tests can't reach production."""
    await connections.commands.hset(Keys(0).clock, "fixed", 1)

    with pytest.raises(SetupRefused, match="clock"):
        await RedisLedger(connections, SEALER, SeededIds()).prepare()


async def test_the_clock_never_goes_back(connections: Connections) -> None:
    """After a step of the system's clock, or on a replica that lags, time stands."""
    ledger = RedisLedger(connections, SEALER, SeededIds())
    ahead = await ledger.now() + 60_000
    await connections.commands.hset(Keys(0).clock, "last", ahead)

    driver = await Driver(ledger).begin()

    assert (await driver.reply()).accepted_at == ahead


async def test_a_thousand_waiting_hints_cost_no_truth(connections: Connections) -> None:
    """The stream of hints may vanish: the timer announces the reply again."""
    driver = Driver(RedisLedger(connections, SEALER, SeededIds()))
    begun = await driver.accept()
    assert isinstance(begun, Begun)
    await connections.commands.delete(Keys(0).wake)

    timers = await driver.ledger.next_due()

    assert timers
    assert await driver.ledger.wait_for_work(20) == ()
