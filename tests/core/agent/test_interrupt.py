"""Stopping a reply: while it waits, while a tool runs, while the model speaks."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from adapters.models.scripted import Say, Wait
from core.agent import Agent, approve
from core.errors import ForeignReply, NotWaiting
from core.events import UserInterruptEvent
from core.functions import tool
from core.messages import (
    Msg,
    ReplyFinishedReason,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    user_msg,
)
from tests.core.agent.samples import (
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

FOREVER = Wait(float("inf"))


def stop(given: Agent) -> UserInterruptEvent:
    """A stop for the present reply."""
    return UserInterruptEvent(reply_id=given.state.reply_context.reply_id)


async def test_a_parked_reply_is_closed() -> None:
    """Every open call gets a result, and the conversation can go on."""
    friday = agent([[*calls("ask", "1"), *calls("task", "2")]], ask(), ok("task", external=True))
    await start(friday)

    events = await send(friday, stop(friday))
    again = await start(friday, "and now?")

    assert {each.state for each in results_of_first(friday)} == {ToolResultState.INTERRUPTED}
    assert [each.tool_call_id for each in of(events, "TOOL_RESULT_START")] == ["1"]
    assert last_msg(events).finished_reason is ReplyFinishedReason.INTERRUPTED
    assert last_msg(again).finished_reason is ReplyFinishedReason.COMPLETED


def results_of_first(given: Agent) -> list[ToolResultBlock]:
    """Results of the first reply."""
    return [each for each in given.state.context[1].content if isinstance(each, ToolResultBlock)]


async def test_nothing_to_stop_is_nothing() -> None:
    """No event, no change; `reply` says so."""
    friday = agent([])
    before = dumped(friday)

    assert await send(friday, stop(friday)) == []
    assert dumped(friday) == before
    with pytest.raises(NotWaiting):
        await friday.reply(stop(friday))


async def test_a_stop_of_another_reply_is_refused() -> None:
    """It may have been sent before this reply began."""
    friday = agent([calls("ask", "1")], ask())
    await start(friday)
    before = dumped(friday)

    with pytest.raises(ForeignReply):
        await send(friday, UserInterruptEvent(reply_id="the one before"))

    assert dumped(friday) == before


async def test_a_stop_from_another_task_cancels_the_tool_that_runs() -> None:
    """The reply closes in its own stream; what ran says that it may have taken effect in part."""
    slow = ok("slow")
    slow.gate = asyncio.Event()
    friday = agent([[*calls("slow", "1"), *calls("ask", "2")]], slow, ask())

    async with asyncio.TaskGroup() as group:
        running = group.create_task(start(friday))
        await slow.entered.wait()
        assert await send(friday, stop(friday)) == []

    events = running.result()
    assert last_msg(events).finished_reason is ReplyFinishedReason.INTERRUPTED
    assert {each.state for each in results(friday).values()} == {ToolResultState.INTERRUPTED}
    assert "may have taken effect" in results(friday)["1"].output[0].text
    assert "did not run" in results(friday)["2"].output
    assert types(events).count("REPLY_END") == 1


async def test_a_stop_while_the_model_speaks_keeps_what_it_said() -> None:
    """The turn is over as interrupted; no call of it runs."""
    friday = agent([[Say("I will now"), *calls("ok", "1"), FOREVER]], ok())
    said = asyncio.Event()

    async def run() -> list[object]:
        events: list[object] = []
        async for event in friday.reply_stream(user_msg("go"), yield_final_msg=True):
            events.append(event)
            if not isinstance(event, Msg) and event.type == "TOOL_CALL_DELTA":
                said.set()
        return events

    async with asyncio.TaskGroup() as group:
        running = group.create_task(run())
        await said.wait()
        await send(friday, stop(friday))

    (end,) = of(running.result(), "MODEL_CALL_END")  # type: ignore[arg-type]
    assert end.finished_reason == "interrupted"
    assert friday.state.context[-1].text() == "I will now"
    assert results(friday)["1"].state is ToolResultState.INTERRUPTED
    assert friday.state.context[-1].finished_reason is ReplyFinishedReason.INTERRUPTED


async def test_a_cancelled_task_closes_the_reply_and_stays_cancelled() -> None:
    """The events that close it come out before the cancellation goes on."""
    slow = ok("slow")
    slow.gate = asyncio.Event()
    friday = agent([calls("slow", "1")], slow)
    events: list[object] = []

    async def run() -> None:
        async for event in friday.reply_stream(user_msg("go"), yield_final_msg=True):
            events.append(event)  # noqa: PERF401 - kept although the loop is cancelled

    task = asyncio.get_running_loop().create_task(run())
    await slow.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert types(events)[-2:] == ["REPLY_END", "MSG"]  # type: ignore[arg-type]
    assert results(friday)["1"].state is ToolResultState.INTERRUPTED
    assert last_msg(await start(friday, "go on")).text() == "done"


async def test_a_timeout_around_a_reply_works_as_everywhere() -> None:
    """It is a cancellation, and it is raised as a timeout."""
    friday = agent([[FOREVER]])

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await friday.reply(user_msg("go"))

    assert last_msg(await start(friday, "again")).text() == "done"


async def test_a_reader_that_leaves_loses_nothing_that_people_decided_on() -> None:
    """It reads the first question and goes away: what was asked is still open, what had not
    begun is judged again when the answer comes, and runs once."""
    run = ok()
    friday = agent([[*calls("ask", "1"), *calls("ok", "2")]], run, ask())

    async with aclosing(friday.reply_stream(user_msg("go"))) as stream:
        async for event in stream:
            if not isinstance(event, Msg) and event.type == "REQUIRE_USER_CONFIRM":
                break
    states = {call.id: call.state for call in friday._transcript().open.values()}
    other = loaded(friday)
    await decide(other, approve(other.awaiting[0]))

    assert states["1"] is ToolCallState.ASKING
    assert sorted(results(other)) == ["1", "2"]


async def test_closing_the_stream_cancels_the_tool() -> None:
    """A tool does not run on for nobody, and its call says how it ended."""
    slow = ok("slow")
    slow.gate = asyncio.Event()
    friday = agent([calls("slow", "1")], slow)
    stream = friday.reply_stream(user_msg("go"))

    async for event in stream:
        if not isinstance(event, Msg) and event.type == "TOOL_RESULT_START":
            break
    await stream.aclose()

    assert results(friday)["1"].state is ToolResultState.INTERRUPTED
    assert slow.ran == []


async def test_a_cancelled_generator_of_a_tool_is_closed() -> None:
    """Its own clean-up runs."""
    cleaned = asyncio.Event()
    entered = asyncio.Event()

    @tool(read_only=True)
    async def watch() -> AsyncIterator[str]:
        """Watch."""
        try:
            yield "first"
            entered.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    friday = agent([calls("watch", "1")], watch)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(start(friday))
        await entered.wait()
        await send(friday, stop(friday))

    assert cleaned.is_set()
    assert "first" in results(friday)["1"].output[0].text
    assert last_msg(running.result()).finished_reason is ReplyFinishedReason.INTERRUPTED


async def test_a_tool_that_leaks_a_cancellation_has_failed() -> None:
    """Nobody stopped the reply, so it goes on."""

    @tool(read_only=True)
    async def leaks() -> str:
        """Leak."""
        raise asyncio.CancelledError

    friday = agent([calls("leaks", "1")], leaks)

    events = await start(friday)

    assert results(friday)["1"].state is ToolResultState.ERROR
    assert last_msg(events).finished_reason is ReplyFinishedReason.COMPLETED


async def test_a_function_in_a_thread_does_not_hold_up_a_stop() -> None:
    """Python can't end a thread; the result says that it may have taken effect."""
    entered, leave = threading.Event(), threading.Event()

    @tool(read_only=True)
    def blocks() -> str:
        """Block."""
        entered.set()
        leave.wait(5)
        return "too late"

    friday = agent([calls("blocks", "1")], blocks)
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(start(friday))
            await asyncio.to_thread(entered.wait, 5)
            await send(friday, stop(friday))
    finally:
        leave.set()

    assert "may have taken effect" in results(friday)["1"].output[0].text
    assert last_msg(running.result()).finished_reason is ReplyFinishedReason.INTERRUPTED


async def test_a_reply_that_was_cut_off_between_turns_can_be_stopped() -> None:
    """Nothing waits in it, and yet it has not ended."""
    friday = agent([calls("ok", "1"), [Say("never read")]], ok())
    async with aclosing(friday.reply_stream(user_msg("go"))) as stream:
        async for event in stream:
            if not isinstance(event, Msg) and event.type == "TOOL_RESULT_END":
                break
    other = loaded(friday)

    events = await send(other, stop(other))

    assert types(events) == ["REPLY_END", "MSG"]
    assert await send(other, stop(other)) == []
