"""Inputs that no call should have: each ends in a clear result, and the reply goes on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.models.scripted import Call, Say
from core.agent import approve
from core.messages import ReplyFinishedReason, ToolCallBlock, ToolResultState
from core.state import AgentState
from tests.core.agent.samples import agent, ask, decide, dumped, last_msg, ok, results, start

HALF = "\ud800"
BAD = {
    "no JSON": "{oops",
    "no object": "[1]",
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice, escaped": '{"a": 1, "\\u0061": 2}',
    "NaN": '{"a": NaN}',
    "Infinity": '{"a": -Infinity}',
    "a huge number": '{"a": 1e999}',
    "a huge integer": '{"a": 9007199254740993}',
    "half a pair, escaped": '{"a": "\\ud800"}',
    "half a pair": f'{{"a": "{HALF}"}}',
    "10,000 levels": '{"a":' + "[" * 10_000 + "]" * 10_000 + "}",
    "more than 1 MiB": json.dumps({"a": "x" * (1024 * 1024)}),
    "two objects": "{}{}",
    "a byte order mark": "\ufeff{}",
}


@pytest.mark.parametrize("case", BAD)
async def test_an_input_that_could_be_read_in_two_ways_is_refused(case: str) -> None:
    """Before anybody is asked; the model is told what is wrong, and the state can be stored."""
    tool = ask()
    friday = agent([[Call("ask", BAD[case], "1")], [Say("sorry")]], tool)

    events = await start(friday)

    assert tool.ran == []
    assert results(friday)["1"].state is ToolResultState.ERROR
    assert last_msg(events).text() == "sorry"
    assert AgentState.model_validate_json(dumped(friday)) == friday.state


async def test_a_large_input_within_the_limit_is_taken() -> None:
    """Cards refuse far earlier; the loop does not."""
    tool = ok()
    friday = agent([[Call("ok", json.dumps({"a": "x" * 1_000_000}), "1")]], tool)

    await start(friday)

    assert len(tool.ran) == 1


async def test_halves_of_a_pair_that_meet_are_a_character() -> None:
    """A provider may cut a character in two."""
    tool = ok()
    friday = agent([[Call("ok", '{"a": "\ud83d\ude00"}', "1")]], tool)
    friday.model.piece = 8  # type: ignore[attr-defined]

    await start(friday)

    assert tool.ran == [("ok", {"a": "😀"})]


async def test_names_ids_and_words_with_halves_of_pairs_can_be_stored() -> None:
    """They are drawn as the replacement character; nothing is lost but the half."""
    friday = agent([[Say(f"a{HALF}b"), Call(f"no{HALF}", "{}", f"i{HALF}d")]])

    await start(friday)

    assert "a\ufffdb" in dumped(friday)
    assert AgentState.model_validate_json(dumped(friday)) == friday.state


async def test_a_call_without_an_id_gets_one() -> None:
    """So its result can be told apart."""
    from core.messages import Usage
    from core.ports import CallDelta, ModelDone

    class NoIds:
        name = "no ids"
        asked = False

        async def stream(self, *args: object) -> object:
            if not self.asked:
                self.asked = True
                yield CallDelta(0, "", "ok", "{}")
                yield CallDelta(1, "", "ok", '{"n": 1}')
            yield ModelDone(Usage())

    tool = ok()
    friday = agent([], tool)
    friday.model = NoIds()  # type: ignore[assignment]

    await start(friday)

    ids = [
        block.id for block in friday.state.context[-1].content if isinstance(block, ToolCallBlock)
    ]
    assert len(set(ids)) == 2
    assert all(ids)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=40), min_size=1, max_size=4), st.text(max_size=12))
async def test_whatever_a_model_writes_the_reply_comes_to_an_end(
    inputs: list[str], name: str
) -> None:
    """Every call has exactly one result, and the state survives JSON."""
    calls = [Call(name, text, str(number % 2)) for number, text in enumerate(inputs)]
    friday = agent([calls], ok("ok"))

    events = await start(friday)

    assert last_msg(events).finished_reason is ReplyFinishedReason.COMPLETED
    blocks = friday.state.context[-1].content
    ids = [block.id for block in blocks if isinstance(block, ToolCallBlock)]
    assert sorted(ids) == sorted(results(friday))
    assert len(ids) == len(inputs)
    assert AgentState.model_validate_json(dumped(friday)) == friday.state


async def test_a_tool_that_is_gone_when_its_call_is_approved_is_an_error() -> None:
    """The approval is not lost in silence: the model is told."""
    from core.toolbox import Toolbox
    from tests.core.agent.samples import loaded

    friday = agent([[Call("ask", "{}", "1")]], ask())
    await start(friday)
    other = loaded(friday)
    other.tools = Toolbox()

    await decide(other, approve(other.awaiting[0]))

    assert results(other)["1"].state is ToolResultState.ERROR
