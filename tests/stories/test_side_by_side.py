"""Calls that are granted while another call of the same reply runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.models.scripted import Call, Say
from core.calls import CallState
from core.errors import OutcomeUnknown
from core.messages import ReplyFinishedReason
from core.permissions.rules import PermissionBehavior
from tests.stories.office import ANA, BO, REQUESTER, Office, OpenOffice, press_policy
from tests.stories.tools import Press

HEARTBEAT = 11
"""Seconds until a worker hears what was granted meanwhile."""


def two_presses(open_office: OpenOffice) -> tuple[Office, Press, Press]:
    """The first press is allowed and held in the middle of its work; the second is asked about."""
    first, second = Press(holding=True), Press("other")
    office = open_office(
        [[Call("press", "{}", "c1"), Call("other", "{}", "c2")], [Say("Done.")]],
        [first, second],
        press_policy(PermissionBehavior.ALLOW, 1),
    )
    return office, first, second


@asynccontextmanager
async def at_work(office: Office, first: Press) -> AsyncIterator[str]:
    """A worker is busy with the first press."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        asking = group.create_task(office.ask())
        await first.held.wait()
        (call,) = await office.gateway.pending()
        yield call.key.reply_id
        first.let_go.set()
        await asking


async def turns_of_the_loop() -> None:
    """Give what must not happen the time to happen."""
    for _ in range(50):
        await asyncio.sleep(0.001)


async def test_a_granted_call_runs_beside_the_one_that_runs(open_office: OpenOffice) -> None:
    """It does not wait for its sibling."""
    office, first, second = two_presses(open_office)

    async with at_work(office, first) as reply_id:
        call = await office.asked()
        await office.gateway.approve(call.key, call.revision, ANA, "yes")
        await office.turn_clock(HEARTBEAT)
        await second.begun.wait()
        assert first.let_go.is_set() is False

    assert await office.states(reply_id) == [CallState.DONE, CallState.DONE]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_a_stop_ends_what_runs_beside_and_the_model_is_told_so(
    open_office: OpenOffice,
) -> None:
    """Both runs are interrupted and recorded; nobody says that a call which ran did not run."""
    office, first, second = two_presses(open_office)

    async with at_work(office, first) as reply_id:
        call = await office.asked()
        await office.gateway.approve(call.key, call.revision, ANA, "yes")
        second.holding = True
        await office.turn_clock(HEARTBEAT)
        await second.held.wait()
        await office.gateway.stop(reply_id, REQUESTER, "stop")
        await office.turn_clock(HEARTBEAT)

    assert await office.states(reply_id) == [CallState.DONE, CallState.DONE]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.INTERRUPTED
    told = await office.told("c2")
    assert "while it ran" in told
    assert "did not run" not in told


async def test_what_fails_beside_does_not_end_what_runs(open_office: OpenOffice) -> None:
    """The policy moves: the second call is not started, and the first one's work is not lost."""
    office, first, second = two_presses(open_office)

    async with at_work(office, first) as reply_id:
        call = await office.asked()
        await office.gateway.approve(call.key, call.revision, ANA, "yes")
        await office.ledger.publish_policy("2")
        await office.turn_clock(HEARTBEAT)
        await turns_of_the_loop()

    assert await office.states(reply_id) == [CallState.DONE, CallState.APPROVED]
    assert second.runs == []


async def test_a_run_beside_whose_end_is_unknown_is_asked_about(open_office: OpenOffice) -> None:
    """The first one's result is kept, the second is a question for people."""
    office, first, second = two_presses(open_office)
    second.failure = OutcomeUnknown("The line broke.")

    async with at_work(office, first) as reply_id:
        call = await office.asked()
        await office.gateway.approve(call.key, call.revision, ANA, "yes")
        await office.turn_clock(HEARTBEAT)
        await second.begun.wait()
    await office.pass_time(31)

    assert await office.states(reply_id) == [CallState.DONE, CallState.UNKNOWN]
    second.failure = None
    await office.approve(await office.asked(), BO)
    assert len(second.runs) == 2
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED
