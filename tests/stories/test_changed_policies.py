"""The policy changes while calls are asked, granted or about to be judged."""

import asyncio

from adapters.models.scripted import Call, Say
from core.calls import CallState
from core.messages import ReplyFinishedReason
from core.permissions.rules import PermissionBehavior
from core.policy import Policy
from tests.stories.office import ANA, BO, Office, OpenOffice, press_policy, standard_policy
from tests.stories.tools import PRESS, Press, Shop, refund_call


async def granted(office: Office) -> str:
    """Ana approves, and no worker has come yet."""
    reply_id = await office.ask()
    call = await office.asked()
    await office.gateway.approve(call.key, call.revision, ANA, office.ids.new())
    return reply_id


async def settled(office: Office) -> None:
    """Everything there is to do is done, soon."""
    async with asyncio.timeout(10):
        await office.settle()


async def test_what_was_approved_does_not_run_when_the_policy_denies_it_by_now(
    open_office: OpenOffice,
) -> None:
    """The refusal is written: the call is denied, the card says so, the reply goes on."""
    press = Press()
    before = open_office([[PRESS]], [press])
    reply_id = await granted(before)

    after = open_office([[Say("Then not.")]], [press], press_policy(PermissionBehavior.DENY, 2))
    after.board = before.board
    after.reopen()
    await after.ledger.publish_policy("2")
    await settled(after)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.DENIED]
    assert (await after.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED
    assert after.card().buttons == ()


async def test_a_waiting_call_is_judged_by_the_policy_of_its_turn(
    open_office: OpenOffice,
) -> None:
    """It waits while the policy would allow it; when its turn comes, the policy denies it."""
    press, shop = Press(), Shop()
    lenient = press_policy(PermissionBehavior.ALLOW, 1)
    before = open_office([[refund_call(call_id="c0"), PRESS]], [press, shop.refund], lenient)
    press.alone = True
    reply_id = await before.ask()
    assert await before.states(reply_id) == [CallState.OPEN, CallState.WAITING]
    call = await before.asked()
    await before.gateway.reject(call.key, call.revision, ANA, "no", "")

    strict = press_policy(PermissionBehavior.DENY, 2)
    after = open_office([[Say("Then not.")]], [press, shop.refund], strict)
    after.board = before.board
    after.reopen()
    await after.ledger.publish_policy("2")
    await settled(after)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.REJECTED, CallState.DENIED]
    assert (await after.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_a_process_with_an_older_policy_lets_a_granted_call_be(
    open_office: OpenOffice,
) -> None:
    """It hands the reply back once, and does not take it up again and again."""
    press = Press()
    office = open_office([[PRESS], [Say("Done.")]], [press])
    reply_id = await granted(office)
    await office.ledger.publish_policy("2")

    await settled(office)
    assert press.runs == []
    assert await office.states(reply_id) == [CallState.APPROVED]
    fence = (await office.reply(reply_id)).fence
    await office.pass_time(6)
    assert (await office.reply(reply_id)).fence == fence

    newer = open_office([[Say("Done.")]], [press], Policy(standard_policy().gates, revision=2))
    newer.board = office.board
    newer.reopen()
    await newer.pass_time(6)
    assert len(press.runs) == 1
    assert await newer.states(reply_id) == [CallState.DONE]


async def test_a_process_with_an_older_policy_judges_no_waiting_call(
    open_office: OpenOffice,
) -> None:
    """The second call waits behind the first; its turn comes under the newer policy."""
    shop = Shop()
    office = open_office(
        [[refund_call(1, "c1"), refund_call(2, "c2")], [Say("Done.")]], [shop.refund]
    )
    reply_id = await office.ask()
    call = await office.asked()
    await office.gateway.reject(call.key, call.revision, ANA, "no", "")
    await office.ledger.publish_policy("2")

    await settled(office)

    assert await office.states(reply_id) == [CallState.REJECTED, CallState.WAITING]


async def test_a_call_that_was_approved_does_not_run_without_its_tool(
    open_office: OpenOffice,
) -> None:
    """The agent lost the tool meanwhile: the call ends, the reply goes on."""
    press, shop = Press(), Shop()
    before = open_office([[PRESS]], [press])
    reply_id = await granted(before)

    after = open_office([[Say("Then not.")]], [shop.mail])
    after.board = before.board
    after.reopen()
    await settled(after)

    assert await after.states(reply_id) == [CallState.DENIED]
    assert (await after.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_an_approval_under_a_laxer_gate_does_not_count(open_office: OpenOffice) -> None:
    """One person approved; the policy of now wants two. It is not run; asked again, two decide."""
    press = Press()
    before = open_office([[PRESS]], [press])
    reply_id = await granted(before)

    wants_two = Policy(standard_policy(quorum=2).gates, revision=2)
    again = Call("press", "{}", "c2")
    after = open_office([[again], [Say("Done.")]], [press], wants_two)
    after.board = before.board
    after.reopen()
    await after.ledger.publish_policy("2")
    await settled(after)

    assert press.runs == []
    assert await after.states(reply_id) == [CallState.DENIED, CallState.OPEN]
    await after.approve(await after.asked(), ANA)
    await after.approve(await after.asked(), BO)
    assert len(press.runs) == 1


async def test_a_reply_whose_agent_is_gone_ends_as_an_error(open_office: OpenOffice) -> None:
    """What was asked is withdrawn; the session is free for the next message once it is back."""
    press = Press()
    office = open_office([[PRESS, Call("press", "{}", "c2")], [Say("Back.")]], [press])
    reply_id = await granted(office)
    roster = office.roster
    spec = roster.pop("ops")

    await settled(office)

    assert press.runs == []
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.ERROR
    assert set(await office.states(reply_id)) == {CallState.CANCELLED}
    roster["ops"] = spec
    following = await office.ask("again")
    assert (await office.reply(following)).outcome is ReplyFinishedReason.COMPLETED
