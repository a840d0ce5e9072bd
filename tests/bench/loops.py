"""The loop: what an allowed call costs, in the first turn and in the two hundredth."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from adapters.models.scripted import Call, ScriptedModel
from core.calls import ReplyState
from core.messages import Msg, user_msg
from core.ports import ModelEvent, ToolChoice, ToolSpec
from tests.bench.figures import Figure, below, times_less
from tests.bench.reference import loop_times
from tests.bench.workshop import Workshop, agent_alone

TURNS = 200
RUNS = 7
ENDS = 50
"""So many turns at each end are compared."""

STEEPEST = 1.25


@dataclass(slots=True)
class WatchedModel:
    """Plays a script and notes when it was asked."""

    played: ScriptedModel
    name: str = "scripted"
    asked_at: list[float] = field(default_factory=list[float])

    def stream(
        self, messages: Sequence[Msg], tools: Sequence[ToolSpec], choice: ToolChoice = "auto"
    ) -> AsyncIterator[ModelEvent]:
        """The next turn."""
        self.asked_at.append(time.perf_counter())
        return self.played.stream(messages, tools, choice)

    @property
    def between(self) -> list[float]:
        """Seconds from each turn to the next."""
        pairs = zip(self.asked_at, self.asked_at[1:], strict=False)
        return [after - before for before, after in pairs]


async def our_loop_times() -> list[float]:
    """Seconds from one model turn to the next, each with one allowed call."""
    model = _watched()
    message = await agent_alone(model, TURNS + 1).reply(user_msg("go"))
    assert message.finished_reason == "completed"
    return model.between


async def our_worker_times() -> list[float]:
    """The same in a worker that writes each step to a ledger in memory."""
    model = _watched()
    reply = await Workshop(model, TURNS + 1).work()
    assert reply.state is ReplyState.CLOSED
    return model.between


def _watched() -> WatchedModel:
    script = [[Call("look", '{"x": "a"}', f"c{n}")] for n in range(TURNS)]
    return WatchedModel(ScriptedModel(script, piece=0))


async def loop_figures() -> list[Figure]:
    """Replies of two hundred turns, ours and theirs taking turns.

    For each turn the median of all replies; the figure is the median of the turns. How much it
    grows is told by the fastest of each turn, which a busy machine disturbs least: the median of
    the last fifty turns over that of the first fifty.
    """
    ours: list[list[float]] = []
    theirs: list[list[float]] = []
    for _ in range(RUNS):
        theirs.append(await loop_times(TURNS))
        ours.append(await our_loop_times())
    worker = [await our_worker_times() for _ in range(2)]
    return [
        Figure("loop, one allowed call", "ms", _typical(ours), _typical(theirs), times_less(3)),
        Figure(
            f"loop, last {ENDS} turns of {TURNS} over the first {ENDS}",
            "times",
            _growth(ours),
            _growth(theirs),
            below(STEEPEST, f"≤ {STEEPEST:g}"),
        ),
        Figure("loop in a worker, ledger in memory", "ms", _typical(worker)),
    ]


def _typical(runs: Sequence[Sequence[float]]) -> float:
    return float(median(map(median, zip(*runs, strict=True))))


def _growth(runs: Sequence[Sequence[float]]) -> float:
    fastest = [min(turn) for turn in zip(*runs, strict=True)]
    return float(median(fastest[-ENDS:]) / median(fastest[:ENDS]))
