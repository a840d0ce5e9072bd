"""Complete exploration of a model: every state once, shortest paths first."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from tests.sim.model import steps
from tests.sim.model.cards import Cards, card_steps, settled, wrong_cards
from tests.sim.model.invariants import asks_people, idle, wrong_step, wrong_world
from tests.sim.model.rules import CARD_RULES
from tests.sim.model.scenarios import CARDS, SCENARIOS
from tests.sim.model.world import Scenario, World, sorted_workers


class StepLike(Protocol):
    """What an exploration asks of a step."""

    @property
    def kind(self) -> str: ...
    @property
    def after(self) -> Any: ...
    @property
    def wrong(self) -> str | None: ...


class Goal(NamedTuple):
    """What must be reachable from everywhere, by what happens by itself (and, if `timers`, by
    deadlines), without people and without luck."""

    otherwise: str
    reached: Callable[[Any], bool]
    timers: bool


@dataclass(frozen=True, slots=True)
class Model:
    """A model with all that must hold of it."""

    scenario: Scenario
    first: Any
    steps: Callable[[Scenario, Any, str], Iterator[Any]]
    wrong_step: Callable[[Any, Any], str | None]
    wrong_state: Callable[[Scenario, Any, str], str | None]
    same: Callable[[Any], Any]
    goals: Sequence[Goal]


@dataclass(frozen=True, slots=True)
class Explored:
    """How far it went."""

    states: int
    steps: int
    depth: int


class Wrong(Exception):
    """Something must not be possible and is: by this path, one of the shortest."""

    def __init__(self, what: str, path: Sequence[str]) -> None:
        super().__init__(what)
        self.what, self.path = what, path


@dataclass(slots=True)
class Exploration:
    """One exploration under way. `back`: for each state, who leads here by itself: twice its
    number, and one more if by a deadline."""

    model: Model
    without: str = ""
    numbers: dict[Any, int] = field(default_factory=dict[Any, int])
    order: list[Any] = field(default_factory=list[Any])
    parents: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    depth: "array[int]" = field(default_factory=lambda: array("i"))
    back: list[list[int]] = field(default_factory=list[list[int]])

    def run(self) -> Explored:
        """Go everywhere.

        Raises:
            Wrong: an invariant does not hold, or a goal is out of reach.
        """
        model, count = self.model, 0
        self._add(model.first, -1, None)
        for at, state in enumerate(self.order):
            for step in model.steps(model.scenario, state, self.without):
                count += 1
                self._take(at, state, step)
        for goal in model.goals:
            self._require_reachable(goal)
        return Explored(len(self.order), count, self.depth[-1])

    def _take(self, at: int, state: Any, step: Any) -> None:
        model = self.model
        after = model.same(step.after)
        wrong = step.wrong
        number = self.numbers.get(after)
        if number is None:
            number = self._add(after, at, step)
            wrong = wrong or model.wrong_state(model.scenario, after, self.without)
        wrong = wrong or model.wrong_step(state, step)
        if wrong:
            raise Wrong(wrong, [*self._path(at), str(step)])
        if step.kind in ("auto", "timer"):
            self.back[number].append(at * 2 + (step.kind == "timer"))

    def _add(self, state: Any, parent: int, step: Any) -> int:
        number = self.numbers[state] = len(self.order)
        self.order.append(state)
        self.parents.append((parent, step))
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.back.append([])
        return number

    def _path(self, at: int) -> list[str]:
        path: list[str] = []
        while at > 0:
            at, step = self.parents[at]
            path.append(str(step))
        return path[::-1]

    def _require_reachable(self, goal: Goal) -> None:
        good = bytearray(map(goal.reached, self.order))
        todo = [number for number, reached in enumerate(good) if reached]
        while todo:
            for edge in self.back[todo.pop()]:
                if (goal.timers or not edge & 1) and not good[edge >> 1]:
                    good[edge >> 1] = 1
                    todo.append(edge >> 1)
        if not all(good):
            raise Wrong(goal.otherwise, self._path(good.index(0)))


GOALS = (
    Goal(
        "waits for ever: nobody is asked and nobody works",
        lambda world: idle(world) or asks_people(world),
        timers=False,
    ),
    Goal("waits for ever unless a person acts", idle, timers=True),
)


def ledger_model(scenario: Scenario) -> Model:
    """The ledger in this scenario."""
    first = World(spare=(scenario.lapses, scenario.edits))
    return Model(scenario, first, steps, wrong_step, wrong_world, sorted_workers, GOALS)


def card_model() -> Model:
    """The card."""
    goals = (Goal("the card never settles", settled, timers=True),)
    nothing: Callable[[Any, Any], None] = lambda _before, _step: None  # noqa: E731
    return Model(CARDS, Cards(), card_steps, nothing, wrong_cards, lambda cards: cards, goals)


def models() -> list[Model]:
    """Everything there is to explore."""
    return [*map(ledger_model, SCENARIOS), card_model()]


def counterexample(rule: str) -> tuple[Wrong, str] | None:
    """The shortest run that goes wrong without this rule, and its scenario."""
    chosen = [card_model()] if rule in CARD_RULES else list(map(ledger_model, SCENARIOS))
    best: tuple[Wrong, str] | None = None
    for model in chosen:
        try:
            Exploration(model, rule).run()
        except Wrong as wrong:
            if best is None or len(wrong.path) < len(best[0].path):
                best = wrong, model.scenario.name
    return best
