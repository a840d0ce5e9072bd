"""Agents, tools and models that the loop tests and the loop conformance speak about."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.models.scripted import Call, ScriptedModel, Turn
from core.agent import Agent, Decision, Judge, answer, context_judge
from core.events import AgentEvent, UserConfirmResultEvent
from core.messages import Msg, TextBlock, user_msg
from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import NO_OPINION
from core.permissions.rules import PermissionBehavior
from core.policy import Gate, Gates, Policy
from core.state import AgentState
from core.toolbox import Toolbox
from core.tools import Chunk, Input, PermissionDecision, Run, Tool, ToolPermissions, Traits

POLICY = Policy(Gates(Gate("default", "everyone")))
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
ALLOWED = PermissionDecision(PermissionBehavior.ALLOW, "it may run")


@dataclass
class SampleTool:
    """A tool that tells what it was given, and remembers every run.

    Attributes:
        ran: name and input of every run, in order; may be shared between tools.
        gate: a run waits here, if given.
        entered: set when a run is under way.
    """

    name: str
    own: PermissionDecision = NO_OPINION
    traits: Traits = field(default_factory=Traits)
    input_schema: Mapping[str, Any] = field(default_factory=lambda: dict(ANY_OBJECT))
    permissions: ToolPermissions = field(init=False)
    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    runs: list[Run] = field(default_factory=list[Run])
    gate: asyncio.Event | None = None
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    description: str = "A sample."

    def __post_init__(self) -> None:
        self.permissions = FunctionPermissions(self.name, self.traits.read_only, self.own)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Say what came in."""
        self.ran.append((self.name, dict(value)))
        self.runs.append(run)
        self.entered.set()
        if self.gate is not None:
            await self.gate.wait()
        yield Chunk((TextBlock(text=f"{self.name} ran {json.dumps(dict(value))}"),))


def ask(name: str = "ask", **traits: Any) -> SampleTool:
    """A tool that people must decide about."""
    return SampleTool(name, traits=Traits(**traits))


def ok(name: str = "ok", **traits: Any) -> SampleTool:
    """A tool that may run."""
    return SampleTool(name, ALLOWED, Traits(**traits))


def agent(
    turns: Sequence[Turn],
    *tools: Tool,
    state: AgentState | None = None,
    judge: Judge | None = None,
    **more: Any,
) -> Agent:
    """An agent called Friday."""
    return Agent(
        "Friday",
        ScriptedModel(turns, piece=0),
        Toolbox(tools),
        judge or context_judge(POLICY),
        state or AgentState(),
        **more,
    )


def calls(tool: str, *ids: str, input: str = "{}") -> list[Call]:  # noqa: A002 - the wire's word
    """Calls of one tool."""
    return [Call(tool, input, each) for each in ids]


async def start(given: Agent, text: str = "go") -> list[AgentEvent | Msg]:
    """Send a message; everything that came."""
    return [each async for each in given.reply_stream(user_msg(text), yield_final_msg=True)]


async def send(given: Agent, inputs: Any) -> list[AgentEvent | Msg]:
    """Send an input; everything that came."""
    return [each async for each in given.reply_stream(inputs, yield_final_msg=True)]


async def decide(given: Agent, *decisions: Decision) -> list[AgentEvent | Msg]:
    """Answer; everything that came."""
    return await send(given, decision_event(given, *decisions))


def decision_event(given: Agent, *decisions: Decision) -> UserConfirmResultEvent:
    """The answer as an event for the present reply."""
    return answer(given.state.reply_context.reply_id, *decisions)


def types(events: Sequence[AgentEvent | Msg]) -> list[str]:
    """What came, by type."""
    return ["MSG" if isinstance(each, Msg) else each.type for each in events]


def of(events: Sequence[AgentEvent | Msg], kind: str) -> list[Any]:
    """The events of one type."""
    return [each for each in events if not isinstance(each, Msg) and each.type == kind]


def last_msg(events: Sequence[AgentEvent | Msg]) -> Msg:
    """The message at the end."""
    last = events[-1]
    assert isinstance(last, Msg)
    return last


def dumped(given: Agent) -> str:
    """The state as JSON."""
    return given.state.model_dump_json()


def loaded(given: Agent, turns: Sequence[Turn] = (), **more: Any) -> Agent:
    """The same agent in another process, its model at the beginning of `turns`."""
    state = AgentState.model_validate_json(dumped(given))
    return agent(turns, *given.tools, state=state, judge=given.judge, **more)


def results(given: Agent) -> dict[str, Any]:
    """Results of the present reply, by call."""
    from core.messages import ToolResultBlock

    blocks = given.state.context[-1].content
    return {each.id: each for each in blocks if isinstance(each, ToolResultBlock)}
