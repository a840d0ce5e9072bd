"""The ledger's protocol as a finite model.

One step is one transition of the store, or one thing that happens outside it: a crash, a click, a
timer, a lost wake-up. Time is not counted: a deadline may pass, and a lease may end, at any moment
at which it is set, also while its owner is alive and busy. So every late or doubled request of a
worker or of a person is in here as well.

`without` names a rule that is taken away, to see what it is good for; empty: all rules hold.
"""

from collections.abc import Iterator

from tests.sim.model.outside import messages, people, timers
from tests.sim.model.workers import workers
from tests.sim.model.world import Scenario, Step, World


def steps(scenario: Scenario, world: World, without: str = "") -> Iterator[Step]:
    """Every step that can happen next."""
    reply = world.reply
    in_turn = reply is not None and reply.number == 1 and 0 < reply.turn <= len(scenario.turns)
    specs = scenario.turns[reply.turn - 1] if reply is not None and in_turn else ()
    yield from messages(scenario, world, without)
    yield from timers(scenario, world, specs, without)
    yield from people(scenario, world, specs, without)
    yield from workers(scenario, world, specs, without)
