"""The same life again and again, with a fault at every step of it: whatever happens, what was
promised holds. One life has seven calls of every kind in three turns, and a message that waits."""

import logging
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import get_args

import pytest

from tests.sim.promises import asked_about, broken, leaked
from tests.sim.rough import SECRET, Fault, Moment, Storm, Strike, Unknown, World, at_once

READS = frozenset({"reply", "call", "session", "find"})
"""Steps that change nothing: a fault after them is like one before."""


def outcome(world: World, *, smooth: bool = False) -> tuple[World, list[str]]:
    """The world after its whole life, and the promises that were broken in it; one more of a
    `smooth` life: nobody was asked about a lost run."""

    async def life() -> list[str]:
        try:
            await world.live()
        except TimeoutError:
            return ["it never ended"]
        return await broken(world) + (await asked_about(world) if smooth else [])

    return world, at_once(life())


@lru_cache
def steps() -> tuple[str, ...]:
    """The steps that a process takes in a life without faults."""
    world, found = outcome(World())
    assert found == []
    assert world.first is not None
    return tuple(world.first.steps)


def all_broken(worlds: Iterable[tuple[str, World]], *, smooth: bool = False) -> list[str]:
    """What was broken in any of these worlds, and where."""
    return [
        f"{where}: {words}" for where, world in worlds for words in outcome(world, smooth=smooth)[1]
    ]


def at_every_step(moment: Moment, kind: Strike = "silence", length: int = 1) -> Iterator[Fault]:
    """One fault of this kind at every step, one after the other."""
    for at, name in enumerate(steps()):
        if moment == "before" or name not in READS:
            yield Fault(at, moment, kind, length)


def test_the_store_gives_no_answer_and_has_not_done_it(caplog: pytest.LogCaptureFixture) -> None:
    """Asked again, it does it; and nothing of any input is logged."""
    caplog.set_level(logging.DEBUG)

    faults = at_every_step("before")
    found = all_broken(((str(fault), World(fault)) for fault in faults), smooth=True)

    assert found == []
    assert leaked(caplog.records, SECRET) == []


def test_the_store_gives_no_answer_and_has_done_it() -> None:
    """Asked again, it has been done once."""
    faults = at_every_step("after")

    assert all_broken(((str(fault), World(fault)) for fault in faults), smooth=True) == []


def test_the_process_dies_after_any_step() -> None:
    """The next one goes on; a run that had begun is asked about and not repeated."""
    faults = at_every_step("after", "death")

    assert all_broken((str(fault), World(fault)) for fault in faults) == []


def test_the_process_dies_before_any_step() -> None:
    """In the middle of a run, the effect has not come yet; nobody but people can know."""
    faults = at_every_step("before", "death")

    assert all_broken((str(fault), World(fault, unknown="done")) for fault in faults) == []


def test_a_store_that_is_away_for_long_while_another_process_still_has_it() -> None:
    """The other process takes over once the lease has ended; the first one's proof comes late."""
    faults = at_every_step("after", length=200)

    assert all_broken((str(fault), World(fault, healthy=1)) for fault in faults) == []


def test_a_person_stops_the_reply_at_any_step() -> None:
    """What had begun ends or is given up, nothing else starts, and the next message is answered."""
    faults = at_every_step("after", "stop")

    assert all_broken((str(fault), World(fault)) for fault in faults) == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_people_get_no_answer_at_any_step_of_theirs(moment: Moment) -> None:
    """They press again; no vote counts twice and none is lost."""
    world, _ = outcome(World())
    assert world.people is not None
    faults = [Fault(at, moment) for at in range(len(world.people.steps))]

    assert all_broken((str(fault), World(peoples_trouble=fault)) for fault in faults) == []


@pytest.mark.parametrize("unknown", get_args(Unknown))
def test_storms(unknown: Unknown) -> None:
    """Silence and death at random steps, in two processes, whatever people do about lost runs."""
    worlds = ((str(seed), World(Storm(seed), unknown=unknown, healthy=1)) for seed in range(12))

    assert all_broken(worlds) == []
