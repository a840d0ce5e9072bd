"""Every request twice, at once and later: one effect, the same answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from core.calls import CallState, Terms
from core.ledger import (
    Approve,
    CancelCall,
    CardKey,
    Check,
    Claim,
    ClaimTask,
    Complete,
    Finish,
    Fire,
    Fulfil,
    HandBack,
    Modify,
    Refuse,
    Reject,
    Release,
    ReturnTask,
    Seen,
    Shown,
    Start,
    StopReply,
    WriteTurn,
)
from core.messages import ReplyFinishedReason
from tests.contracts.conftest import StandingClock
from tests.contracts.ledgers import ANA, WORKER, Driver, a_result, new_call
from tests.sim.walk import send

S = CallState
TASK = new_call("a", S.TASK, terms=Terms("desk", external=True))


@dataclass(frozen=True)
class Case:
    """A request, the calls that must be there, and what was done before."""

    name: str
    request: Callable[[Driver], Any]
    call: Any = None
    before: Callable[[Driver], Awaitable[Any]] | None = None


def question(driver: Driver) -> dict[str, Any]:
    """What every decision carries."""
    return {"actor": ANA, "key": driver.key(), "revision": 0, "checked_at": driver.ms}


CASES = (
    Case("stop", lambda d: StopReply("q", ANA, d.reply_id), new_call()),
    Case("cancel", lambda d: CancelCall("q", ANA, d.key()), new_call()),
    Case("claim", lambda d: Claim("q", WORKER, d.reply_id, 600_000), None, Driver.hand_back),
    Case(
        "turn",
        lambda d: WriteTurn("q", WORKER, d.reply_id, d.fence, 1, {"turn": 1}, (new_call(),)),
    ),
    Case(
        "check",
        lambda d: Check("q", WORKER, d.key(), d.fence, "", S.OPEN),
        new_call("a", S.WAITING),
    ),
    Case(
        "start",
        lambda d: Start("q", WORKER, d.key(), d.fence, 0, "digest-a", ""),
        new_call("a", S.ALLOWED),
    ),
    Case(
        "refuse",
        lambda d: Refuse("q", WORKER, d.key(), d.fence, "", "no"),
        new_call("a", S.ALLOWED),
    ),
    Case(
        "finish",
        lambda d: Finish("q", WORKER, d.key(), 1, a_result()),
        new_call("a", S.ALLOWED),
        Driver.start,
    ),
    Case("release", lambda d: Release("q", WORKER, d.reply_id, d.fence), new_call()),
    Case("hand back", lambda d: HandBack("q", WORKER, d.reply_id, d.fence), new_call()),
    Case(
        "complete",
        lambda d: Complete(
            "q", WORKER, d.reply_id, d.fence, 0, ReplyFinishedReason.COMPLETED, {"end": 1}
        ),
    ),
    Case("approve", lambda d: Approve("q", **question(d)), new_call()),
    Case("count", lambda d: Approve("q", **question(d)), new_call(terms=Terms("sre", quorum=2))),
    Case("reject", lambda d: Reject("q", **question(d)), new_call()),
    Case("modify", lambda d: Modify("q", **question(d), input="{}", digest="e"), new_call()),
    Case("late click", lambda d: Reject("q", **question(d)), new_call(), Driver.approve),
    Case("fulfil", lambda d: Fulfil("q", ANA, d.key(), d.ms, a_result()), TASK),
    Case("claim task", lambda d: ClaimTask("q", ANA, d.key()), TASK),
    Case("return task", lambda d: ReturnTask("q", ANA, d.key()), TASK, Driver.claim_task),
    Case(
        "shown",
        lambda d: Shown(CardKey(d.key(), "slack:C1"), ("m1",), 0),
        new_call(),
    ),
    Case("seen again", lambda d: Seen(CardKey(d.key(), "slack:C1"), "m1"), new_call(), Driver.see),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_repeated_request_gets_the_same_answer(
    driver: Driver, clock: StandingClock, case: Case
) -> None:
    """Eight times at once, then once more after a while: one record in the audit."""
    driver.ms = clock.ms
    await driver.begin(*([case.call] if case.call else []))
    if case.before:
        await case.before(driver)
    earlier = len(await driver.ledger.audit(driver.reply_id))
    request = case.request(driver)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(send(driver.ledger, request)) for _ in range(8)]
    await clock.forward(20_000)
    later = await send(driver.ledger, request)

    assert [task.result() for task in tasks] == [later] * 8
    assert len(await driver.ledger.audit(driver.reply_id)) - earlier <= 1


async def test_a_timer_fires_once(driver: Driver, clock: StandingClock) -> None:
    """Eight pollers, one expiry; each poller's own repetition is answered as before."""
    await driver.begin(new_call())
    await driver.release()
    await clock.forward(3_600_000)
    (timer,) = await driver.ledger.due()
    requests = [Fire(f"f{n}", timer) for n in range(8)]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(driver.ledger.fire(request)) for request in requests]
    answers = [task.result() for task in tasks]

    assert sorted(type(answer).__name__ for answer in answers) == ["Fired"] + ["NotDue"] * 7
    assert [await driver.ledger.fire(request) for request in requests] == answers
    assert [r.what for r in await driver.ledger.audit(driver.reply_id)].count("expire") == 1
