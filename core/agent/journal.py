"""The journal: what the loop writes down before it acts, so that a gateway can make it durable."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.agent.judging import JudgedCall
from core.messages import ToolCallBlock, ToolResultBlock
from core.state import AgentState


@dataclass(frozen=True, slots=True)
class Started:
    """The call may run, and this is the number of its run."""

    run: int = 1


@dataclass(frozen=True, slots=True)
class Refused:
    """The call may not run now; it stays with the people who were asked."""

    why: str


class Journal(Protocol):
    """Where a reply is written down. Whatever a method raises leaves the loop, and nothing that it
    was asked to write is taken as written: no tool runs, no question is put."""

    @property
    def resumes(self) -> bool:
        """Whether `start` knows by itself what ran before: then a call that a loaded state calls
        allowed may be started on its word. Without that, it is asked about again."""
        ...

    async def turn(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """A model turn that asked for calls, whole, before anything of it runs or is asked. Calls
        that stand behind others are in it as waiting. `state` is the live one: dump it now."""
        ...

    async def check(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Calls that were waiting have been judged, or granted ones are refused by now; nothing of
        them has run or been asked yet."""
        ...

    async def start(self, call: ToolCallBlock) -> Started | Refused:
        """Before a tool runs, or a task is handed out."""
        ...

    async def finish(self, call: ToolCallBlock, run: int, result: ToolResultBlock) -> None:
        """After a tool has run, whatever came of it. Not if a run's end can't be told: then a
        journal that resumes is told nothing, and the call stays as it was started."""
        ...


class NoJournal:
    """For an agent that stands alone: whoever drives it keeps its state."""

    @property
    def resumes(self) -> bool:
        """It knows of nothing that ran before."""
        return False

    async def turn(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Nothing is written."""

    async def check(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Nothing is written."""

    async def start(self, call: ToolCallBlock) -> Started | Refused:
        """The first run, as far as anybody knows."""
        return Started()

    async def finish(self, call: ToolCallBlock, run: int, result: ToolResultBlock) -> None:
        """Nothing is written."""
