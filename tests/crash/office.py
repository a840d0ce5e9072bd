"""The agent of the campaign: its tools, its model, its policy, and the people around it.

What the tools do is counted outside the store, in a file that every run adds a line to.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from core.authority import ApproverSet, Membership, People, Person
from core.calls import Actor
from core.external import ExternalTool
from core.functions import FunctionTool, tool
from core.messages import Msg, ToolResultBlock, Usage
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import OPERATOR, Gate, Gates, OperatorRule, Policy
from core.ports import CallDelta, ModelDone, ModelEvent, TextDelta, ToolChoice, ToolSpec
from core.roster import AgentSpec, TaskTerms
from core.tools import Run, Tool, Traits
from tests.crash.fate import append

CHANNEL = "board:wall"
RITA = Actor("person", "board:rita", "Rita", "board")
DECIDERS = ("ana", "bo", "cy")
TENANT = "local"
TOOLS = ("log", "pay", "tip", "wire", "stamp", "badge")
Plan = Sequence[Sequence[tuple[str, int]]]
"""Turns of calls of (tool, value), as the message spells them out."""


def person(name: str) -> Actor:
    """Somebody at the board."""
    return Actor("person", f"board:{name}", name.capitalize(), "board")


def people() -> People:
    """Three who decide; Rita, who asks, is in their set but never decides her own."""
    names = ("rita", *DECIDERS)
    return People(
        persons={name: Person(name, frozenset({f"board:{name}"})) for name in names},
        sets={"sre": ApproverSet("sre", people=frozenset(names))},
    )


def policy() -> Policy:
    """`log` runs without asking, `wire` needs two, `tip` is not asked about for long."""
    rule = PermissionRule(
        tool_name="log",
        rule_content=None,
        behavior=PermissionBehavior.ALLOW,
        source=OPERATOR,
    )
    life = timedelta(seconds=4)
    gates = Gates(
        Gate("default", "sre", grant_lifetime=life),
        (
            Gate("two", "sre", ("wire",), quorum=2, grant_lifetime=life),
            Gate("brief", "sre", ("tip",), timeout=timedelta(seconds=3), grant_lifetime=life),
        ),
    )
    return Policy(gates, (OperatorRule(rule),), revision=1)


@dataclass(frozen=True, slots=True)
class Clerk:
    """A model that reads its plan from the message and takes the next turn of it; it keeps nothing
    in memory, so it goes on in any process."""

    name: str = "scripted:clerk"

    async def stream(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSpec],
        choice: ToolChoice = "auto",
    ) -> AsyncIterator[ModelEvent]:
        """The first turn of the plan whose calls have no results yet; else the last word."""
        start = max(i for i, message in enumerate(messages) if message.role == "user")
        plan: Plan = json.loads(messages[start].text())
        done = {
            block.id
            for message in messages[start:]
            for block in message.content
            if isinstance(block, ToolResultBlock)
        }
        for number, calls in enumerate(plan):
            if not all(f"t{number}c{i}" in done for i in range(len(calls))):
                for i, (name, value) in enumerate(calls):
                    yield CallDelta(i, f"t{number}c{i}", name, json.dumps({"value": value}))
                break
        else:
            yield TextDelta("That is all.")
        yield ModelDone(Usage())


@dataclass(frozen=True, slots=True)
class Tools:
    """Makes the tools; `reach` is told before and after each effect."""

    folder: Path
    reach: Callable[[str], None]

    def make(self) -> tuple[Tool, ...]:
        """One of each kind."""
        return (
            self._tool("log"),
            self._tool("pay", title="Pay {value}"),
            self._tool("tip", title="Tip {value}"),
            self._tool("wire", title="Wire {value}", concurrency_safe=False),
            self._tool("stamp", title="Stamp {value}", idempotent=True),
            ExternalTool("badge", "People do this.", _SCHEMA, Traits(external=True)),
        )

    def _tool(self, name: str, **traits: Any) -> FunctionTool:
        async def act(value: int, run: Run) -> str:
            """Do it.

            Args:
                value: how much.
            """
            self.reach("before:effect")
            line = [run.reply_id, run.call_id, run.number, name, value, run.key]
            append(self.folder / "effects", json.dumps(line) + "\n")
            await asyncio.sleep(value % 4 * 0.1)
            self.reach("after:effect")
            return f"{name} {value}"

        made = tool(name=name, **traits)(act)
        assert isinstance(made, FunctionTool)
        return made


_SCHEMA = {
    "type": "object",
    "properties": {"value": {"type": "integer"}},
    "required": ["value"],
    "additionalProperties": False,
}


def roster(tools: tuple[Tool, ...]) -> Mapping[str, AgentSpec]:
    """One agent."""
    tasks = {"badge": TaskTerms("sre")}
    return {"clerk": AgentSpec("clerk", Clerk(), tools, tasks=tasks, channels=(CHANNEL,))}


@dataclass(frozen=True, slots=True)
class NoGroups:
    """A directory that knows nobody."""

    async def memberships(self, identity: str, groups: frozenset[str]) -> Mapping[str, Membership]:
        """Nothing is known."""
        return {}
