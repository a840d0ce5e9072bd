"""What a reply weighs while it waits for people."""

import json
from dataclasses import asdict

from adapters.models.scripted import Call, ScriptedModel
from core.calls import ReplyState
from core.messages import ToolCallBlock, ToolCallState, user_msg
from tests.bench.figures import Figure, times_less
from tests.bench.reference import parked_bytes
from tests.bench.workshop import Workshop, agent_alone

TWO_CALLS = (Call("act", '{"x": "a"}', "c1"), Call("act", '{"x": "b"}', "c2"))


async def parking_figures() -> list[Figure]:
    """The state of an agent that waits with two calls, and what the ledger keeps beside it.

    The second waits behind the first, there as here: the rule offered beside the first covers it.
    """
    agent = agent_alone(_model())
    await agent.reply(user_msg("go"))
    calls = [b for b in agent.state.context[-1].content if isinstance(b, ToolCallBlock)]
    assert [call.state for call in calls] == [ToolCallState.ASKING, ToolCallState.PENDING]
    reply = await Workshop(_model()).work()
    assert reply.state is ReplyState.PARKED
    records = [_size(json.dumps(asdict(call), separators=(",", ":"))) for call in reply.calls]
    return [
        Figure(
            "parked state, two calls",
            "bytes",
            _size(agent.state.model_dump_json()),
            await parked_bytes(),
            times_less(1),
        ),
        Figure("ledger record beside it, each call", "bytes", sum(records) / len(records)),
    ]


def _model() -> ScriptedModel:
    return ScriptedModel([TWO_CALLS], piece=0)


def _size(text: str) -> int:
    return len(text.encode())
