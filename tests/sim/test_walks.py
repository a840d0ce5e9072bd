"""Random walks of the model, replayed against both stores: at every step they stand where the model
stands, and give one answer."""

import asyncio
from collections import Counter

import pytest
from redis import Redis

import adapters.memory.ledger
from adapters.redis.embedded import EmbeddedServer
from core.calls import MOVES
from tests.sim.playback import Playback
from tests.sim.trail import EXPECTED, Trail, new_trail

WALKS = 10_000
LENGTH = 14
"""Steps of one walk; each is asked twice, and mostly an old request comes again as well."""
PART = 1_000
AT_ONCE = 25
"""Walks that are sent to the Lua store in one go."""


@pytest.fixture(autouse=True)
def without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store in memory hands out copies so that nobody changes its records; a walk changes
    nothing, and would spend half of its time on them."""
    monkeypatch.setattr(adapters.memory.ledger, "deepcopy", lambda value: value)


PARTS = [range(first, first + PART) for first in range(0, WALKS, PART)]


@pytest.mark.parametrize("seeds", PARTS, ids=lambda seeds: f"from {seeds.start}")
async def test_both_stores_walk_with_the_model(valkey: EmbeddedServer, seeds: range) -> None:
    """Every request is sent twice, and old ones once more: nothing changes and the answer stays.
    Memory is compared with the model, Lua with memory: answers, states, timers, audit, orders."""
    with Redis.from_url(valkey.url) as client:
        playback = Playback(client)
        met: Counter[str] = Counter()
        batches = [seeds[at : at + AT_ONCE] for at in range(0, PART, AT_ONCE)]
        trails: list[Trail] = []
        for batch in [*batches, range(0)]:
            async with asyncio.TaskGroup() as group:
                playing = group.create_task(playback.play(trails))
                await asyncio.sleep(0)
                trails = [await new_trail(seed).walk(LENGTH) for seed in batch]
            playing.result()()
            met.update(str(leg.step.act) for trail in trails for leg in trail.legs)

    assert playback.played == PART
    missing = set(EXPECTED) - set(met) - {"finishes too late", "late copy of release"}
    assert not missing, f"the walks never met {missing}: {met}"


async def test_the_walks_take_every_move_of_a_call() -> None:
    """What is compared is worth it: no move of the table is left out."""
    missing = {(here.value, to.value) for here, others in MOVES.items() for to in others}
    for seed in range(WALKS):
        trail = await new_trail(seed).walk(LENGTH)
        for record in (record for records in trail.ledger._audit.values() for record in records):
            missing -= {(was, now) for _, was, now, _, _ in record.changes}
        if not missing:
            break

    assert not missing, f"never met: {missing}"


pytestmark = pytest.mark.timeout(300)
