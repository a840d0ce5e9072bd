"""Sealed records: only what was sealed here, for this place, is ever used."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.redis.connection import Connections
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import SEALED_LIMIT, Keyring, Place, Sealer
from core.calls import CallState
from core.errors import SetupRefused, StoreDamaged, StoreError
from tests.contracts.ledgers import Driver, SeededIds, new_call

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
SEALER = Sealer(Keyring("k1", {"k1": OLD}))
PLACE = Place("T1", "00ab", ("input", "c1", "tag"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_is_sealed_comes_back(value: object) -> None:
    """Any JSON, half surrogates in a model's raw input included."""
    assert SEALER.open(SEALER.seal(value, PLACE), PLACE) == value
    assert SEALER.open(SEALER.seal("\ud800", PLACE), PLACE) == "\ud800"


@given(st.data())
def test_one_flipped_bit_is_damage(data: st.DataObject) -> None:
    """Anywhere in the record, header included; and any cut."""
    blob = SEALER.seal({"amount": 5}, PLACE)
    place = data.draw(st.integers(0, len(blob) * 8 - 1))
    flipped = bytearray(blob)
    flipped[place // 8] ^= 1 << place % 8

    with pytest.raises(StoreDamaged):
        SEALER.open(bytes(flipped), PLACE)
    with pytest.raises(StoreDamaged):
        SEALER.open(blob[: place // 8], PLACE)


@pytest.mark.parametrize(
    "other",
    [
        Place("T2", "00ab", PLACE.parts),
        Place("T1", "00ac", PLACE.parts),
        Place("T1", "00ab", ("content", "c1", "tag")),
        Place("T1", "00ab", ("input", "c2", "tag")),
        Place("T1", "00ab", ("input", "c1", "another")),
    ],
)
def test_a_record_of_another_place_is_damage(other: Place) -> None:
    """Another tenant, reply, kind, call or write."""
    with pytest.raises(StoreDamaged):
        SEALER.open(SEALER.seal("x", PLACE), other)


def test_a_keyring_turns() -> None:
    """New records use the new key, old ones still open; without the old key they don't."""
    old = SEALER.seal("x", PLACE)
    both = Sealer(Keyring.parse(f"k2 {NEW.hex()}\nk1 {OLD.hex()}\n"))

    assert both.open(old, PLACE) == "x"
    with pytest.raises(StoreDamaged):
        SEALER.open(both.seal("x", PLACE), PLACE)
    with pytest.raises(StoreDamaged):
        Sealer(Keyring("k2", {"k2": NEW})).open(old, PLACE)


def test_a_record_has_a_limit() -> None:
    """Refused when it is written, not when it is read."""
    with pytest.raises(StoreError, match="over the limit"):
        SEALER.seal(os.urandom(SEALED_LIMIT).hex(), PLACE)


def test_a_key_file_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    """The next start reads the same key; a lost one is never replaced over sealed data."""
    file = tmp_path / "store.key"

    made = Keyring.read_or_create(file, may_create=True)

    assert file.stat().st_mode & 0o777 == 0o600
    assert Keyring.read_or_create(file, may_create=True) == made
    file.chmod(0o640)
    with pytest.raises(SetupRefused, match="chmod 600"):
        Keyring.read_or_create(file, may_create=True)
    with pytest.raises(SetupRefused, match="missing"):
        Keyring.read_or_create(tmp_path / "lost.key", may_create=False)


@pytest.mark.parametrize("text", ["", "k1", "k1 zz", "k1 00", f"{'k' * 300} {OLD.hex()}"])
def test_a_bad_key_is_refused(text: str) -> None:
    """At the start, with what is expected."""
    with pytest.raises(SetupRefused):
        Keyring.parse(text)


async def test_tampering_in_the_store_is_noticed(connections: Connections) -> None:
    """Swapped inputs, an older agent state, a flipped byte: damage, never another call."""
    ledger = RedisLedger(connections, SEALER, SeededIds())
    driver = await Driver(ledger).begin(new_call("a"), new_call("b", input='{"amount": 9}'))
    redis, keys = connections.commands, Keys(0)
    name = keys.reply(driver.reply_id)

    first, second = await redis.hmget(name, "input:a", "input:b")
    await redis.hset(name, "input:a", second)
    with pytest.raises(StoreDamaged):
        await driver.reply()
    await redis.hset(name, "input:a", first)
    await driver.modify("a")
    await redis.hset(name, "input:a", first)
    with pytest.raises(StoreDamaged):
        await driver.call("a")


async def test_an_older_agent_state_is_noticed(connections: Connections) -> None:
    """Put back whole, with its number: the reply knows which turn it has written."""
    driver = await Driver(RedisLedger(connections, SEALER, SeededIds())).begin(
        new_call("a", CallState.DENIED)
    )
    session = Keys(0).session("s1")
    older = await connections.commands.hgetall(session)
    await driver.turn()
    await driver.hand_back()
    await connections.commands.hset(session, mapping=older)

    with pytest.raises(StoreDamaged):
        await driver.claim()


async def test_nothing_of_the_contents_is_stored_in_the_clear(connections: Connections) -> None:
    """Messages, inputs, contents, reasons, results and agent states are sealed."""
    driver = Driver(RedisLedger(connections, SEALER, SeededIds()))
    marked = new_call("a", input='{"iban": "PRIVATE"}', content={"title": "PRIVATE"})
    await driver.accept("PRIVATE")
    session = await driver.ledger.session("s1")
    assert session
    assert session.active
    driver.reply_id = session.active
    await driver.claim()
    await driver.turn(marked)
    await driver.modify(input="PRIVATE", reason="PRIVATE")
    await driver.start()
    await driver.finish(text="PRIVATE")

    redis = connections.commands
    async for name in redis.scan_iter():
        assert b"PRIVATE" not in (await redis.dump(name))
    stored = await redis.hgetall(Keys(0).reply(driver.reply_id))
    assert not any(b"PRIVATE" in value for value in stored.values())
