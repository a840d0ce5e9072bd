"""The state alone is enough to go on elsewhere, and nothing is ever done twice."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.models.scripted import Call, Say, Turn
from core.agent import Agent, approve, expire, reject
from core.errors import NotWaiting, ReplyOpen
from core.events import AgentEvent, ExternalExecutionResultEvent, UserInterruptEvent
from core.messages import (
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    user_msg,
)
from core.state import AgentState
from tests.core.agent.samples import (
    SampleTool,
    agent,
    ask,
    calls,
    decide,
    dumped,
    last_msg,
    loaded,
    of,
    ok,
    results,
    send,
    start,
    types,
)

BOUNDARIES = {"MODEL_CALL_END", "TOOL_RESULT_END"}


def tools(ran: list[tuple[str, dict[str, Any]]]) -> list[SampleTool]:
    """One of each kind."""
    given = [
        ask(),
        ask("alone", concurrency_safe=False),
        ok(),
        ok("task", external=True),
        ok("step", concurrency_safe=False),
    ]
    for each in given:
        each.ran = ran
    return given


turns = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "alone", "ok", "task", "step", "gone"]),
            st.sampled_from(["{}", '{"a": 1}', "{bad"]),
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=3,
)


def script(given: Sequence[Sequence[tuple[str, str]]]) -> list[Turn]:
    """Turns with ids of their own."""
    return [
        [Call(name, text, f"{number}.{place}") for place, (name, text) in enumerate(turn)]
        for number, turn in enumerate(given)
    ]


def answer_for(friday: Agent) -> Any:
    """Approve every second question, reject the others, do the tasks; one at a time."""
    call = friday.awaiting[0]
    if call.state is ToolCallState.SUBMITTED:
        done = ToolResultBlock(
            id=call.id, name=call.name, output="o", state=ToolResultState.SUCCESS
        )
        reply_id = friday.state.reply_context.reply_id
        return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[done])
    from core.agent import answer

    yes = len(call.id) % 2 or int(call.id[-1]) % 2 == 0
    decision = approve(call) if yes else reject(call, reason="no")
    return answer(friday.state.reply_context.reply_id, decision)


def shape(state: AgentState) -> Any:
    """A state without ids of its own and times."""
    free = {"created_at", "finished_at", "session_id", "reply_id"}

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(each) for each in value]
        if not isinstance(value, dict):
            return value
        kept = {k: without(v) for k, v in value.items() if k not in free and k != "keyturn"}
        if value.get("type") not in ("tool_call", "tool_result"):
            kept.pop("id", None)
        return kept

    return without(json.loads(state.model_dump_json()))


async def to_the_end(friday: Agent, events: list[AgentEvent | Msg]) -> list[str]:
    """Answer until the reply ends; the types of all events."""
    seen = types(events)
    while friday.awaiting:
        seen += types(await send(friday, answer_for(friday)))
    return [each for each in seen if each != "MSG"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns)
async def test_loaded_at_every_parked_point_it_goes_on_in_the_same_way(
    given: list[list[tuple[str, str]]],
) -> None:
    """Another process, with the state and the same tools, ends in the same conversation."""
    whole_ran: list[tuple[str, dict[str, Any]]] = []
    whole = agent(script(given), *tools(whole_ran))
    whole_types = await to_the_end(whole, await start(whole))

    ran: list[tuple[str, dict[str, Any]]] = []
    friday = agent(script(given), *tools(ran))
    seen = types(await start(friday))
    taken = 0
    while friday.awaiting:
        taken += friday.model.turns_taken  # type: ignore[attr-defined]
        friday = loaded(friday, script(given)[taken:])
        seen += types(await send(friday, answer_for(friday)))

    assert [each for each in seen if each != "MSG"] == whole_types
    assert ran == whole_ran
    assert shape(friday.state) == shape(whole.state)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns, st.data())
async def test_loaded_at_a_boundary_it_goes_on_in_the_same_way(
    given: list[list[tuple[str, str]]], data: st.DataObject
) -> None:
    """At the end of a model turn, and between calls that run one after the other."""
    for turn in given:
        turn[:] = [("step", text) for _, text in turn]
    whole_ran: list[tuple[str, dict[str, Any]]] = []
    whole = agent(script(given), *tools(whole_ran))
    dumps: list[tuple[str, int, int]] = []
    async for event in whole.reply_stream(user_msg("go")):
        if not isinstance(event, Msg) and event.type in BOUNDARIES:
            taken = whole.model.turns_taken  # type: ignore[attr-defined]
            dumps.append((dumped(whole), taken, len(whole_ran)))
    dump, taken, before = data.draw(st.sampled_from(dumps))

    ran = whole_ran[:before]
    state = AgentState.model_validate_json(dump)
    other = agent(script(given)[taken:], *tools(ran), state=state)
    await send(other, None)

    assert ran == whole_ran
    assert shape(other.state) == shape(whole.state)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns, st.data())
async def test_loaded_at_any_event_nothing_runs_twice(
    given: list[list[tuple[str, str]]], data: st.DataObject
) -> None:
    """Wherever a process died after storing that event, no call that had started starts again by
    itself, every call ends with exactly one result, and what is finished stays as it is."""
    first_ran: list[tuple[str, dict[str, Any]]] = []
    tagged = [[(name, json.dumps({"t": i})) for name, _ in turn] for i, turn in enumerate(given)]
    friday = agent(numbered(tagged), *tools(first_ran))
    stored: list[str] = []

    async def watch(inputs: Any) -> None:
        async for event in friday.reply_stream(inputs):
            assert not isinstance(event, Msg)
            stored.append(dumped(friday))

    await watch(user_msg("go"))
    while friday.awaiting:
        await watch(answer_for(friday))
    dump = data.draw(st.sampled_from(stored))
    begun = started_in(dump)
    finished = finished_in(dump)

    ran: list[tuple[str, dict[str, Any]]] = []
    other = agent([], *tools(ran), state=AgentState.model_validate_json(dump))
    with suppress(ReplyOpen):  # where it waits for people
        await send(other, None)
    while other.awaiting:
        await decide_all(other)

    assert not begun & {json.dumps(value, sort_keys=True) for _, value in ran}
    assert finished.items() <= finished_in(dumped(other)).items()
    calls_now = [b.id for b in blocks(dumped(other)) if isinstance(b, ToolCallBlock)]
    results_now = [b.id for b in blocks(dumped(other)) if isinstance(b, ToolResultBlock)]
    assert sorted(calls_now) == sorted(results_now)


def numbered(given: list[list[tuple[str, str]]]) -> list[Turn]:
    """Every call has its own id as its input, so that runs can be told apart."""
    return [
        [Call(name, json.dumps({"id": f"{i}.{n}"}), f"{i}.{n}") for n, (name, _) in enumerate(turn)]
        for i, turn in enumerate(given)
    ]


def blocks(dump: str) -> list[Any]:
    """Everything the agent wrote."""
    state = AgentState.model_validate_json(dump)
    return [block for msg in state.context if msg.role == "assistant" for block in msg.content]


def started_in(dump: str) -> set[str]:
    """Inputs of the calls that a state says have started."""
    ids = {block.id for block in blocks(dump) if isinstance(block, ToolResultBlock)}
    return {json.dumps({"id": each}, sort_keys=True) for each in ids}


def finished_in(dump: str) -> dict[str, str]:
    """What finished calls ended in."""
    return {
        block.id: block.model_dump_json()
        for block in blocks(dump)
        if isinstance(block, ToolResultBlock) and block.state is not ToolResultState.RUNNING
    }


async def decide_all(friday: Agent) -> None:
    """Answer whatever waits first."""
    await send(friday, answer_for(friday))


async def left_behind(state: ToolCallState, *, begun: bool, tool: SampleTool) -> Agent:
    """An agent loaded from a state in which a process died at a call."""
    friday = agent([calls(tool.name, "1")], ask("asked"), tool)
    friday.judge = _asks
    await start(friday)
    call = friday.awaiting[0]
    if begun:
        friday._transcript().begin(call, "2026-01-01T00:00:00.000000")
    call.state = state
    friday.judge = agent([], tool).judge
    return loaded(friday)


def _asks(*args: Any) -> Any:
    from core.permissions.engine import Verdict
    from core.permissions.rules import PermissionBehavior

    return Verdict(PermissionBehavior.ASK, "", "", "mode")


@pytest.mark.parametrize("make", [ask, ok], ids=["people had approved it", "policy had allowed it"])
async def test_a_call_that_was_about_to_run_is_asked_about_again(make: Any) -> None:
    """Nobody knows whether it ran: people decide, and the question says that it is put again."""
    tool = make("t")
    friday = await left_behind(ToolCallState.ALLOWED, begun=False, tool=tool)

    events = await send(friday, None)
    asked = list(tool.ran)
    await decide(friday, approve(friday.awaiting[0]))

    (question,) = of(events, "REQUIRE_USER_CONFIRM")
    assert question.metadata["keyturn"]["1"]["again"] is True
    assert asked == []
    assert len(tool.ran) == 1


async def test_a_call_that_had_begun_ends_as_unknown() -> None:
    """It is not repeated, and the model is told that nobody knows."""
    tool = ok("t")
    friday = await left_behind(ToolCallState.ALLOWED, begun=True, tool=tool)

    events = await send(friday, None)

    assert tool.ran == []
    assert results(friday)["1"].metadata["keyturn"]["outcome"] == "unknown"
    assert types(events)[-1] == "MSG"


@pytest.mark.parametrize("traits", [{"idempotent": True}, {"read_only": True}])
async def test_what_changes_nothing_when_done_twice_simply_goes_on(traits: dict[str, bool]) -> None:
    """There is nothing for people to decide."""
    tool = ok("t", **traits)
    friday = await left_behind(ToolCallState.ALLOWED, begun=True, tool=tool)

    await send(friday, None)

    assert len(tool.ran) == 1
    assert results(friday)["1"].state is ToolResultState.SUCCESS


async def test_an_approval_is_not_taken_twice_after_a_crash() -> None:
    """The stored state says allowed: the same approval again is refused."""
    friday = await left_behind(ToolCallState.ALLOWED, begun=False, tool=ask("t"))
    call = friday._transcript().calls["1"]

    with pytest.raises(NotWaiting):
        await decide(friday, approve(call))


async def test_a_reply_that_was_cut_off_takes_no_message_but_can_be_stopped() -> None:
    """A message would stand between a call and its result."""
    friday = await left_behind(ToolCallState.ALLOWED, begun=False, tool=ask("t"))

    with pytest.raises(ReplyOpen):
        await start(friday, "hello?")
    stop = UserInterruptEvent(reply_id=friday.state.reply_context.reply_id)
    await send(friday, stop)

    assert last_msg(await start(friday, "hello?")).text() == "done"


async def test_a_state_of_the_reference_goes_on_here() -> None:
    """A parked dump of agentscope 2.0, word for word as it wrote it."""
    state = AgentState.model_validate_json(REFERENCE_PARKED)
    tool = ask("Bash")
    friday = agent([[Say("pushed")]], tool, state=state)

    await decide(friday, approve(friday.awaiting[0]))

    assert tool.ran == [("Bash", {"command": "git push"})]
    assert friday.state.context[-1].text().endswith("pushed")


REFERENCE_PARKED = json.dumps(
    {
        "session_id": "sess",
        "summary": "",
        "context": [
            {
                "name": "user",
                "content": [{"type": "text", "text": "hi", "id": "a", "created_at": "x"}],
                "role": "user",
                "id": "b",
                "metadata": {},
                "created_at": "x",
                "usage": None,
                "finished_at": "x",
                "finished_reason": None,
                "structured_output": None,
                "error": None,
            },
            {
                "name": "Friday",
                "content": [
                    {
                        "type": "tool_call",
                        "id": "call_1",
                        "name": "Bash",
                        "input": '{"command": "git push"}',
                        "state": "asking",
                        "suggested_rules": [],
                        "created_at": "x",
                        "finished_at": None,
                    }
                ],
                "role": "assistant",
                "id": "r1",
                "metadata": {},
                "created_at": "x",
                "usage": None,
                "finished_at": None,
                "finished_reason": None,
                "structured_output": None,
                "error": None,
            },
        ],
        "reply_context": {
            "reply_id": "r1",
            "cur_iter": 0,
            "structured_schema": None,
            "structured_output": None,
        },
        "middle_context": {},
    }
)


async def test_a_rejection_is_remembered_across_processes() -> None:
    """What people said no to is in the state, so another process does not ask again either."""
    friday = agent([calls("ask", "1"), calls("ask2", "2"), calls("ask", "3")], ask(), ask("ask2"))
    await start(friday)
    await decide(friday, reject(friday.awaiting[0]))

    other = loaded(friday, [calls("ask", "3")])
    events = await decide(other, expire(other.awaiting[0]))

    assert "REQUIRE_USER_CONFIRM" not in types(events)
    assert results(other)["3"].state is ToolResultState.DENIED


async def test_structured_output_survives_the_park() -> None:
    """The schema is in the state."""
    friday = agent([calls("ask", "1")], ask())
    async for _ in friday.reply_stream(user_msg("go"), {"type": "object"}):
        pass

    other = loaded(friday, [[Call("GenerateStructuredOutput", '{"a": 1}', "2")]])
    events = await decide(other, approve(other.awaiting[0]))

    assert last_msg(events).structured_output == {"a": 1}
