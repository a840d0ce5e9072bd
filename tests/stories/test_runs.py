"""What happens to a run: crash, unknown end, late proof, lapse, changed ground, retry."""

import asyncio
from dataclasses import dataclass

import pytest

from adapters.memory.ledger import MemoryLedger
from adapters.models.scripted import Call, Say
from core.calls import CallState, ReplyState
from core.errors import OutcomeUnknown, StoreError
from core.ledger import Finish, Go, Lost, Refused, Start, TaskOffered
from core.messages import ReplyFinishedReason, ToolResultBlock, ToolResultState
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import Policy
from core.tasks import TaskAnswer
from core.tools import Tool
from tests.stories.office import (
    ANA,
    BO,
    CountedIds,
    Office,
    OpenOffice,
    PatientClock,
    press_policy,
    standard_policy,
)
from tests.stories.tools import PRESS, Press, Shop, refund_call


async def crash_while_pressing(office: Office, press: Press) -> str:
    """The process dies in the middle of the run that Ana approved."""
    reply_id = await office.ask()
    press.holding = True
    call = await office.asked()
    await office.gateway.approve(call.key, call.revision, ANA, office.ids.new())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(office.worker.take_up(reply_id))
        await press.held.wait()
        task.cancel()
    press.holding = False
    await office.pass_time(31)
    return reply_id


async def test_a_run_whose_end_is_not_proven_is_asked_about_and_not_repeated(
    open_office: OpenOffice,
) -> None:
    """After the lease of the dead worker has ended, the call is unknown and people are asked."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])

    reply_id = await crash_while_pressing(office, press)

    assert await office.states(reply_id) == [CallState.UNKNOWN]
    assert len(press.runs) == 1
    assert any("unknown" in line for line in office.card().outcome)


async def test_people_can_run_it_again(open_office: OpenOffice) -> None:
    """Run again is a new approval, and a second run."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await crash_while_pressing(office, press)

    await office.approve(await office.asked(), BO)

    assert [run.number for run in press.runs] == [1, 2]
    assert await office.states(reply_id) == [CallState.DONE]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_people_can_say_that_it_was_done(open_office: OpenOffice) -> None:
    """Mark done: what the person says is the result, and nothing runs."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await crash_while_pressing(office, press)
    call = await office.asked()

    await office.gateway.fulfil(call.key, BO, office.ids.new(), TaskAnswer("I saw it pressed."))
    await office.settle()

    assert len(press.runs) == 1
    assert await office.states(reply_id) == [CallState.DONE]


async def test_people_can_give_it_up(open_office: OpenOffice) -> None:
    """Abandon: the model is told that the outcome is unknown."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await crash_while_pressing(office, press)

    await office.reject(await office.asked(), "leave it", BO)

    assert await office.states(reply_id) == [CallState.ABANDONED]
    assert len(press.runs) == 1
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_an_idempotent_tool_is_tried_again_with_the_same_key(open_office: OpenOffice) -> None:
    """Doing it twice is doing it once, so nobody has to be asked."""
    press = Press(idempotent=True)
    office = open_office([[PRESS], [Say("Well.")]], [press])

    reply_id = await crash_while_pressing(office, press)

    assert [run.number for run in press.runs] == [1, 2]
    assert len({run.key for run in press.runs}) == 1
    assert await office.states(reply_id) == [CallState.DONE]


async def test_an_approval_that_nobody_used_in_time_is_asked_again(open_office: OpenOffice) -> None:
    """The grant lapses after 60 s without a start; the old card's press does not count."""
    press = Press()
    office = open_office([[PRESS]], [press])
    reply_id = await office.ask()
    call = await office.asked()
    await office.gateway.approve(call.key, call.revision, ANA, office.ids.new())

    await office.ledger.wait_for_work(0)
    await office.turn_clock(61)
    while await office.deadlines.fire_due():
        pass

    again = await office.asked()
    assert again.revision == call.revision + 1
    assert press.runs == []
    assert (await office.reply(reply_id)).calls[0].votes == ()
    said = await office.approve(call)
    assert "changed" in said


async def test_a_call_does_not_run_on_changed_ground(open_office: OpenOffice) -> None:
    """What was bound beside the input (a directory, a program) is compared when the run starts."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await office.ask()
    call = await office.asked()

    press.ground = "hall 2"
    await office.approve(call)

    assert press.runs == []
    assert await office.states(reply_id) == [CallState.DENIED]


@dataclass(slots=True)
class LedgerThatFailsOnce(MemoryLedger):
    """The first start goes wrong, as when the process dies there, and has not happened."""

    failed: bool = False

    async def start(self, request: Start) -> Go | TaskOffered | Lost | Refused:
        if not self.failed:
            self.failed = True
            raise StoreError("gone")
        return await MemoryLedger.start(self, request)


async def test_what_an_older_policy_allowed_is_judged_again_before_it_starts() -> None:
    """Allowed, then a crash, then a stricter policy: the call does not run unasked. When the model
    wants it again, people are asked."""
    press = Press()
    clock, ids = PatientClock(), CountedIds()
    ledger = LedgerThatFailsOnce(clock, ids)
    lenient = press_policy(PermissionBehavior.ALLOW, 1)
    open_office = OpenOffice(ledger, clock, ids)
    before = open_office([[PRESS]], [press], lenient)
    reply_id = await before.ask()
    assert await before.states(reply_id) == [CallState.ALLOWED]

    strict = Policy(standard_policy().gates, revision=2)
    after = open_office([[PRESS]], [press], strict)
    await ledger.publish_policy("2")
    await after.pass_time(31)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.DENIED, CallState.OPEN]


@pytest.mark.parametrize("behavior", [PermissionBehavior.DENY, PermissionBehavior.ASK])
async def test_what_an_older_policy_allowed_does_not_wait_for_what_people_are_asked(
    behavior: PermissionBehavior,
) -> None:
    """A call of the same turn is open meanwhile: the reply parks and waits for its answer."""
    press, shop = Press(), Shop()
    clock, ids = PatientClock(), CountedIds()
    ledger = LedgerThatFailsOnce(clock, ids)
    open_office = OpenOffice(ledger, clock, ids)
    tools: list[Tool] = [press, shop.refund]
    turn = [PRESS, refund_call(call_id="c2")]
    before = open_office([turn], tools, press_policy(PermissionBehavior.ALLOW, 1))
    reply_id = await before.ask()
    assert await before.states(reply_id) == [CallState.ALLOWED, CallState.OPEN]

    after = open_office([[Say("Well.")]], tools, press_policy(behavior, 2))
    await ledger.publish_policy("2")
    await after.pass_time(31)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.DENIED, CallState.OPEN]
    assert (await after.reply(reply_id)).state is ReplyState.PARKED


async def test_what_an_older_policy_allowed_is_denied_by_a_newer_one() -> None:
    """The refusal is written, so the reply goes on at once instead of tripping over the call."""
    press = Press()
    clock, ids = PatientClock(), CountedIds()
    ledger = LedgerThatFailsOnce(clock, ids)
    open_office = OpenOffice(ledger, clock, ids)
    before = open_office([[PRESS]], [press], press_policy(PermissionBehavior.ALLOW, 1))
    reply_id = await before.ask()
    assert await before.states(reply_id) == [CallState.ALLOWED]

    deny = press_policy(PermissionBehavior.DENY, 2)
    after = open_office([[Say("Then not.")]], [press], deny)
    await ledger.publish_policy("2")
    await after.pass_time(31)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.DENIED]
    assert (await after.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_an_allowed_call_survives_a_start_that_went_wrong() -> None:
    """Under the same policy it simply runs, once, after the lease has ended."""
    press = Press()
    clock, ids = PatientClock(), CountedIds()
    ledger = LedgerThatFailsOnce(clock, ids)
    office = OpenOffice(ledger, clock, ids)([[PRESS], [Say("Well.")]], [press])
    reply_id = await office.ask()
    await office.approve(await office.asked())
    assert press.runs == []

    await office.pass_time(31)

    assert len(press.runs) == 1
    assert await office.states(reply_id) == [CallState.DONE]


async def test_a_tool_that_can_not_tell_how_it_ended_leaves_the_call_unknown(
    open_office: OpenOffice,
) -> None:
    """As when an MCP server goes away in the middle: no error for the model, people are asked."""
    press = Press(failure=OutcomeUnknown("The line broke."))
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await office.ask()
    await office.approve(await office.asked())

    await office.pass_time(31)

    assert await office.states(reply_id) == [CallState.UNKNOWN]
    assert len(press.runs) == 1
    await office.reject(await office.asked(), "leave it", BO)
    assert await office.states(reply_id) == [CallState.ABANDONED]
    assert "unknown" in await office.told("c1")


async def test_a_tool_that_may_be_repeated_is_tried_again_when_its_end_is_unknown(
    open_office: OpenOffice,
) -> None:
    """Three runs at most; then people are asked."""
    press = Press(idempotent=True, failure=OutcomeUnknown("The line broke."))
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await office.ask()
    await office.approve(await office.asked())

    for _ in range(4):
        await office.pass_time(31)

    assert [run.number for run in press.runs] == [1, 2, 3]
    assert await office.states(reply_id) == [CallState.UNKNOWN]


async def test_proof_that_comes_late_settles_an_unknown_run(open_office: OpenOffice) -> None:
    """The worker lost its lease while the tool worked; what it reports afterwards is the result."""
    press = Press()
    office = open_office([[PRESS], [Say("Well.")]], [press])
    reply_id = await crash_while_pressing(office, press)
    (call,) = (await office.reply(reply_id)).calls
    result = ToolResultBlock(
        id="c1", name="press", output="pressed after all", state=ToolResultState.SUCCESS
    )

    await office.ledger.finish(Finish("late", call.by, call.key, 1, result.model_dump(mode="json")))
    await office.settle()

    assert await office.states(reply_id) == [CallState.DONE]
    assert await office.told("c1") == "pressed after all"
    assert office.card().buttons == ()


async def test_a_rule_that_was_ticked_holds_when_the_run_ended_elsewhere(
    open_office: OpenOffice,
) -> None:
    """The process dies after the run was recorded: the rule is not lost with it."""
    press = Press()
    again = Call("press", "{}", "c2")
    office = open_office([[PRESS], [again], [Say("Well.")]], [press])
    reply_id = await office.ask()
    call = await office.asked()
    offered = [PermissionRule.model_validate(r) for r in call.content["suggested_rules"]]
    assert offered
    await office.gateway.approve(call.key, call.revision, ANA, "yes", offered)
    press.holding = True
    async with asyncio.TaskGroup() as group:
        task = group.create_task(office.worker.take_up(reply_id))
        await press.held.wait()
        task.cancel()
    press.holding = False
    (call,) = (await office.reply(reply_id)).calls
    result = ToolResultBlock(id="c1", name="press", output="ok", state=ToolResultState.SUCCESS)
    await office.ledger.finish(Finish("end", call.by, call.key, 1, result.model_dump(mode="json")))

    await office.pass_time(31)

    assert await office.states(reply_id) == [CallState.DONE, CallState.DONE]
