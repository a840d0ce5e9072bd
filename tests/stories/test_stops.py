"""A person stops a reply, at whatever it is."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf

import pytest

from adapters.models.scripted import Call, Say, Wait
from core.calls import CallState
from core.ledger.answers import Begun
from core.messages import ReplyFinishedReason, user_msg
from core.requests import Request
from tests.stories.office import ANA, BO, REQUESTER, OpenOffice
from tests.stories.test_runs import crash_while_pressing
from tests.stories.tools import PRESS, Press


async def test_a_reply_that_is_stopped_before_it_began_just_ends(open_office: OpenOffice) -> None:
    """No worker had come yet: the model is not asked, and the next message is answered."""
    office = open_office([[PRESS]], [Press()])
    await office.ledger.publish_policy(office.bench.policy)
    request = Request("ops", "thread-1", REQUESTER, "chat:ops")
    accepted = await office.gateway.ask(request, user_msg("go"), "m1")
    assert isinstance(accepted, Begun)
    await office.gateway.stop(accepted.reply_id, REQUESTER, "stop")

    await office.settle()

    assert (await office.reply(accepted.reply_id)).outcome is ReplyFinishedReason.INTERRUPTED
    assert office.model.turns_taken == 0
    await office.ask("again")
    assert office.model.turns_taken == 1


async def test_a_stop_reaches_a_model_that_is_still_writing(open_office: OpenOffice) -> None:
    """The turn is cut off; nothing of it is asked."""
    office = open_office([[Say("I think "), Wait(inf), PRESS]], [Press()])

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        asking = group.create_task(office.ask())
        await office.heard.text.wait()
        session = await office.ledger.session("ops@thread-1")
        assert session is not None
        reply_id = session.active or ""
        answered = await office.gateway.stop(reply_id, REQUESTER, "stop")
        await office.turn_clock(11)
        await asking

    assert answered.ok
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.INTERRUPTED
    assert office.board.cards == {}


async def test_a_stop_while_a_call_is_unknown_does_not_say_that_it_did_not_run(
    open_office: OpenOffice,
) -> None:
    """The call is given up, and the model is told that its outcome is unknown."""
    press = Press()
    office = open_office([[PRESS]], [press])
    reply_id = await crash_while_pressing(office, press)

    await office.gateway.stop(reply_id, REQUESTER, "stop")
    await office.settle()

    assert await office.states(reply_id) == [CallState.ABANDONED]
    assert "unknown" in await office.told("c1")


async def test_a_stop_while_another_call_is_unknown_tells_of_both_what_is_true(
    open_office: OpenOffice,
) -> None:
    """One run is lost, another is under way when the stop comes."""
    lost, busy = Press("press"), Press("other")
    office = open_office([[PRESS, Call("other", "{}", "c2")]], [lost, busy])
    reply_id = await office.ask()
    first, second = await office.gateway.pending()
    await office.gateway.approve(first.key, 0, ANA, "yes")
    lost.holding = busy.holding = True
    async with asyncio.TaskGroup() as group:
        task = group.create_task(office.worker.take_up(reply_id))
        await lost.held.wait()
        task.cancel()
    await office.pass_time(31)
    await office.gateway.approve(second.key, 0, BO, "yes too")

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        working = group.create_task(office.settle())
        await busy.held.wait()
        await office.gateway.stop(reply_id, REQUESTER, "stop")
        await office.turn_clock(11)
        await working

    assert await office.states(reply_id) == [CallState.ABANDONED, CallState.DONE]
    assert "unknown" in await office.told("c1")
    assert "while it ran" in await office.told("c2")


@pytest.mark.parametrize("stop_comes_first", [True, False])
async def test_stop_and_approval_at_once(open_office: OpenOffice, stop_comes_first: bool) -> None:
    """Whichever comes first, nothing of a stopped reply starts."""
    press = Press()
    office = open_office([[PRESS]], [press])
    reply_id = await office.ask()
    call = await office.asked()
    acts: list[Callable[[], Awaitable[object]]] = [
        lambda: office.gateway.stop(reply_id, REQUESTER, "stop"),
        lambda: office.gateway.approve(call.key, 0, ANA, "yes"),
    ]

    for act in acts if stop_comes_first else reversed(acts):
        await act()
    await office.settle()

    assert press.runs == []
    assert await office.states(reply_id) == [CallState.CANCELLED]


async def test_a_stop_of_a_closed_reply_leaves_the_next_one_alone(open_office: OpenOffice) -> None:
    """A stop names its reply."""
    press = Press()
    office = open_office([[Say("One.")], [PRESS]], [press])
    first = await office.ask("one")
    second = await office.ask("two")

    answered = await office.gateway.stop(first, REQUESTER, "stop")
    await office.settle()

    assert not answered.ok
    assert await office.states(second) == [CallState.OPEN]
