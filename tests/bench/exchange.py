"""A real agentscope 2.0 takes what Keyturn writes, and the other way round.

`python -m tests.bench.exchange` in an environment that has both (`make bench` makes one). Checked:
every event comes back from agentscope's own models as the same JSON; its reducer rebuilds from our
stream the message that we keep; a reply parked here goes on there with our answer, and one parked
there goes on here.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from agentscope.agent import Agent as TheirAgent
from agentscope.event import AgentEvent as TheirEvent
from agentscope.message import AssistantMsg, UserMsg
from agentscope.state import AgentState as TheirState
from agentscope.tool import FunctionTool, Toolkit
from pydantic import TypeAdapter

from adapters.models.scripted import Call, Fail, Say, ScriptedModel, Think, Turn
from core.agent import Agent, answer, approve, context_judge, reject
from core.events import (
    AGENT_EVENT,
    AgentEvent,
    ExternalExecutionResultEvent,
    UserInterruptEvent,
)
from core.functions import tool
from core.messages import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolResultState,
    user_msg,
)
from core.policy import Gate, Gates, Policy
from core.state import AgentState
from core.toolbox import Toolbox
from tests.bench.reference import Scripted

THEIRS: TypeAdapter[Any] = TypeAdapter(TheirEvent)
POLICY = Policy(Gates(Gate("default", "everyone")))


@tool(read_only=True)
async def look(x: str = "") -> AsyncIterator[Any]:
    """Look.

    Args:
        x: at what.
    """
    yield f"saw {x}"
    yield DataBlock(source=Base64Source(data="QQ==", media_type="image/png"))


@tool
def touch(x: str = "") -> str:
    """Touch."""
    return f"touched {x}"


@tool(external=True)
def badge() -> str:
    """People do it."""
    raise AssertionError("people do it")


SCRIPT: Sequence[Turn] = (
    (
        Think("what is there?"),
        Say("I look."),
        Call("look", '{"x": "a"}', "1"),
        Call("touch", '{"x": "b"}', "2"),
        Call("touch", "{oops", "3"),
        Call("gone", "{}", "4"),
    ),
    (Call("touch", '{"x": "c"}', "5"), Call("badge", "{}", "6")),
    (Say("Done."),),
)


async def our_stream() -> tuple[list[AgentEvent], AgentState]:
    """A reply with everything in it, and its state at the end."""
    agent = _ours(SCRIPT)
    events = await _taken(agent, user_msg("go"))
    while agent.awaiting:
        call = agent.awaiting[0]
        reply_id = agent.state.reply_context.reply_id
        inputs: Any = answer(
            reply_id, reject(call, reason="no") if call.id == "5" else approve(call, actor="ana")
        )
        if call.state == "submitted":
            done = ToolResultBlock(
                id=call.id, name=call.name, output="badge 7", state=ToolResultState.SUCCESS
            )
            inputs = ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[done])
        events += [inputs, *await _taken(agent, inputs)]
    return events, agent.state


async def other_events() -> list[AgentEvent]:
    """A stopped reply, one at its limit, one that failed."""
    stopped = _ours([(Call("touch", "{}", "1"),)])
    events = await _taken(stopped, user_msg("go"))
    stop = UserInterruptEvent(reply_id=stopped.state.reply_context.reply_id)
    events += [stop, *await _taken(stopped, stop)]
    limited = _ours([(Call("look", "{}", "1"),)])
    limited.max_iters = 1
    events += await _taken(limited, user_msg("go"))
    return events + await _taken(_ours([(Fail(),)]), user_msg("go"))


def _ours(script: Sequence[Turn], state: AgentState | None = None) -> Agent:
    return Agent(
        "Friday",
        ScriptedModel(script),
        Toolbox([look, touch, badge]),
        context_judge(POLICY),
        state or AgentState(),
    )


async def _taken(agent: Agent, inputs: Any) -> list[AgentEvent]:
    stream = agent.reply_stream(inputs)
    return [event async for event in stream if not isinstance(event, Msg)]


async def every_event_comes_back_as_it_went() -> str:
    """Field by field, in the same order, through both models."""
    events = [*(await our_stream())[0], *await other_events()]
    for event in events:
        ours = event.model_dump_json()
        theirs = THEIRS.validate_json(ours).model_dump_json()
        assert json.loads(theirs) == json.loads(ours), (ours, theirs)
        assert list(json.loads(theirs)) == list(json.loads(ours)), (ours, theirs)
        assert AGENT_EVENT.validate_json(theirs) == event
    return f"{len(events)} events of {len({event.type for event in events})} types"


async def their_reducer_rebuilds_our_message() -> str:
    """Texts, calls with their states, and results."""
    events, state = await our_stream()
    reply_id = state.reply_context.reply_id
    built = AssistantMsg(id=reply_id, name="Friday", content=[])
    for event in events:
        built.append_event(THEIRS.validate_json(event.model_dump_json()))
    ours = {_key(block): _said(block) for block in state.context[-1].content}
    theirs = {_key(block): _said(block) for block in built.content}
    assert ours == theirs, (ours, theirs)
    assert built.finished_reason == state.context[-1].finished_reason
    return f"{len(theirs)} blocks"


def _key(block: Any) -> tuple[str, str]:
    return block.type, block.id


def _said(block: Any) -> Any:
    if block.type == "text":
        return block.text
    if block.type == "thinking":
        return block.thinking
    if block.type == "tool_call":
        return block.name, block.input, str(block.state)
    output = block.output
    parts = [output] if isinstance(output, str) else [_part(part) for part in output]
    return block.name, parts, str(block.state)


def _part(part: Any) -> str:
    return str(part.text if part.type == "text" else part.source.data)


async def a_reply_parked_here_goes_on_there() -> str:
    """Their agent takes our state and our answer, and runs the call once."""
    agent = _ours([(Say("May I?"), Call("touch", '{"x": "z"}', "1"))])
    await _taken(agent, user_msg("go"))
    ran: list[str] = []

    async def touched(x: str = "") -> str:
        """Touch."""
        ran.append(x)
        return "ok"

    state = TheirState.model_validate_json(agent.state.model_dump_json())
    theirs = _theirs(FunctionTool(touched, name="touch"), state, [])
    event = answer(agent.state.reply_context.reply_id, approve(agent.awaiting[0], actor="ana"))
    given = THEIRS.validate_json(event.model_dump_json())
    types = [each.type async for each in theirs.reply_stream(given)]
    assert ran == ["z"], ran
    assert types[-1] == "REPLY_END", types
    return f"ran {ran}, {len(types)} events"


async def a_reply_parked_there_goes_on_here() -> str:
    """Our agent takes their state, and the question that they put."""

    async def touched(x: str = "") -> str:
        """Touch."""
        raise AssertionError("it runs here")

    theirs = _theirs(
        FunctionTool(touched, name="touch"), TheirState(), [[("1", "touch", '{"x": "y"}')]]
    )
    events = [each async for each in theirs.reply_stream(UserMsg("user", "go"))]
    ours = [AGENT_EVENT.validate_json(each.model_dump_json()) for each in events]
    agent = _ours(
        [(Say("Thank you."),)], AgentState.model_validate_json(theirs.state.model_dump_json())
    )
    ended = await _taken(agent, answer(ours[-1].reply_id, approve(agent.awaiting[0])))  # type: ignore[union-attr]
    results = [b for b in agent.state.context[-1].content if isinstance(b, ToolResultBlock)]
    assert [_said(each)[1] for each in results] == [["touched y"]]
    assert ended[-1].type == "REPLY_END"
    assert isinstance(agent.state.context[-1].content[-1], TextBlock)
    return f"{len(ours)} of their events read, {len(ended)} of ours follow"


def _theirs(
    made: FunctionTool, state: TheirState, turns: list[list[tuple[str, str, str]]]
) -> TheirAgent:
    return TheirAgent(
        name="Friday",
        system_prompt="",
        model=Scripted(turns),
        toolkit=Toolkit(tools=[made]),
        state=state,
    )


CHECKS: Sequence[Callable[[], Any]] = (
    every_event_comes_back_as_it_went,
    their_reducer_rebuilds_our_message,
    a_reply_parked_here_goes_on_there,
    a_reply_parked_there_goes_on_here,
)


def main() -> int:
    """Run the checks; non-zero if one fails."""
    failed = 0
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            print(f"ok    {name}: {asyncio.run(check())}")
        except Exception as error:  # noqa: BLE001 - each check is told of by itself
            failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
