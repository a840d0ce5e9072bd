"""Two implementations, one answer: random walks over the store in memory (the plain transitions)
and over the Lua store, compared after every step."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from adapters.memory.ledger import MemoryLedger
from adapters.redis.connection import connect
from adapters.redis.embedded import EmbeddedServer
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from core.calls import MOVES, Reply, ReplyState, work
from core.ledger import Asked, Ledger
from tests.contracts.ledgers import HandClock, SeededIds
from tests.sim.walk import SESSIONS, Walk, send

SEEDS = range(24)
STEPS = 200
COMPARED = 4
"""Answers are compared at every step, all records at every fourth."""


async def test_both_stores_give_one_answer_at_every_step(valkey: EmbeddedServer) -> None:
    """Answers, records, timers, orders and audit are the same, and the invariants hold."""
    connections = connect(valkey.url)
    kinds: Counter[str] = Counter()
    try:
        for seed in SEEDS:
            await connections.commands.flushall()
            clock = HandClock()
            memory = MemoryLedger(clock, SeededIds(seed))
            sealer = Sealer(Keyring("k1", {"k1": bytes(32)}))
            lua = RedisLedger(connections, sealer, SeededIds(seed))
            await _walk(seed, clock, memory, lua, kinds)
    finally:
        await connections.close()

    moves = {f"{here} to {there}" for here, others in MOVES.items() for there in others}
    missing = (_EXPECTED | moves) - set(kinds)
    assert not missing, f"the walks never met {missing}: {kinds}"


_EXPECTED = {
    "Begun",
    "Queued",
    "Full",
    "Stopping",
    "AlreadyStopping",
    "NothingToStop",
    "Settled",
    "Claimed",
    "NotReady",
    "Renewed",
    "Lost",
    "TurnWritten",
    "ReplyStopped",
    "OpenCalls",
    "IdTaken",
    "OutOfTurn",
    "Checked",
    "Go",
    "TaskOffered",
    "Parked",
    "WorkLeft",
    "HandedBack",
    "Completed",
    "Counted",
    "Granted",
    "Yours",
    "Returned",
    "Fired",
    "Recorded",
    "Refused not_asked",
    "Refused changed",
    "Refused expired",
    "Refused not_checked",
    "Refused voted",
    "Refused taken",
    "Refused policy_moved",
    "Refused lapsed",
    "Refused not_yet",
    "Refused too_late",
    "Refused no_such_call",
    "Fired expire",
    "Fired lapse",
    "Fired lease",
    "Fired wake",
    "Fired remind",
    "Fired escalate",
    "Fired look",
}


async def _walk(
    seed: int, clock: HandClock, memory: MemoryLedger, lua: RedisLedger, kinds: Counter[str]
) -> None:
    walk = Walk(seed, memory)
    trail: list[Any] = []
    before: dict[str, Reply] = {}
    for store in (memory, lua):
        await store.publish_policy("p1")
    for step in range(1, STEPS + 1):
        if walk.dice.random() < 0.25:
            clock.at += timedelta(milliseconds=walk.dice.choice((100, 1_000, 6_000, 31_000)))
        walk.now = clock.ms
        await lua.connections.commands.hset(Keys(0).clock, "fixed", clock.ms)
        request = await walk.next()
        trail.append(request)
        here, there = await send(memory, request), await send(lua, request)
        name = type(here).__name__
        kinds[name] += 1
        kinds[f"{name} {getattr(here, 'why', getattr(here, 'kind', ''))}"] += 1
        assert here == there, _story(seed, trail)
        if reply_id := getattr(here, "reply_id", None):
            walk.known.append(reply_id)
        if step % COMPARED == 0:
            here, there = await _all(memory, walk.known), await _all(lua, walk.known)
            assert here == there, _story(seed, trail)
        for reply_id in walk.known[-8:]:
            reply = await memory.reply(reply_id)
            assert reply is not None
            _require_invariants(before.get(reply_id), reply, _story(seed, trail))
            kinds.update(_moves(before.get(reply_id), reply))
            before[reply_id] = reply


def _require_invariants(old: Reply | None, new: Reply, story: str) -> None:
    if new.state is ReplyState.PARKED:
        assert not work(new.stop is not None, (c.state for c in new.present)), story
    for call in new.calls:
        assert call.key.turn == new.turn or call.final, story
        was = old.call(call.key.call_id) if old else None
        if was and was.state is not call.state:
            assert call.state in MOVES[was.state], f"{was.state} to {call.state}\n{story}"
        if was and was.final:
            assert (was.state, was.result) == (call.state, call.result), story
    if old and old.state is ReplyState.CLOSED:
        assert new.state is ReplyState.CLOSED, story


def _moves(old: Reply | None, new: Reply) -> list[str]:
    """The moves of calls in one step, "open to approved"."""
    pairs = [(old.call(call.key.call_id) if old else None, call) for call in new.calls]
    return [f"{was.state} to {call.state}" for was, call in pairs if was and was != call]


async def _all(ledger: Ledger, known: list[str]) -> dict[str, Any]:
    """Everything that can be read, of the latest replies."""
    timers = list(await ledger.due(10_000))
    timers.sort(key=lambda t: (t.at, t.kind, t.reply_id, t.call_id, t.step, t.channel))
    orders = await ledger.orders("p", 1_000, again_after_ms=10**9)
    seen: dict[str, Any] = {
        "due": timers,
        "next": await ledger.next_due(),
        "open": await ledger.open_calls(Asked("T1")),
        "hints": await ledger.wait_for_work(0),
        "orders": [replace(order, id="") for order in orders],
    }
    for name in SESSIONS:
        seen[name] = await ledger.session(name)
    for reply_id in known[-3:]:
        seen[reply_id] = await ledger.reply(reply_id)
        seen["audit " + reply_id] = await ledger.audit(reply_id)
    return seen


def _story(seed: int, trail: list[Any]) -> str:
    return f"seed {seed}, step {len(trail)}:\n" + "\n".join(map(repr, trail[-6:]))


pytestmark = pytest.mark.timeout(240)
