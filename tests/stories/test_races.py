"""Several people at once, one person twice, and an old card pressed late."""

import asyncio
import json
from collections import Counter
from datetime import timedelta

from adapters.models.scripted import Call, Say
from core.authority import ApproverSet, People, Person
from core.calls import Actor, Because, CallState, DecisionKind
from core.ledger.answers import Begun, Full, Queued
from core.messages import ReplyFinishedReason, user_msg
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import Escalation, Gate, Gates, Policy
from core.requests import Request
from tests.stories.office import ANA, BO, REQUESTER, Office, OpenOffice, standard_policy
from tests.stories.tools import PRESS, Press, Shop, refund_call

CROWD = 32


def crowd(office: Office) -> list[Actor]:
    """That many approvers."""
    names = [f"p{number}" for number in range(CROWD)]
    office.people = People(
        {name: Person(name, frozenset({f"chat:{name}"})) for name in names},
        {"sre": ApproverSet("sre", people=frozenset(names))},
    )
    office.reopen()
    return [Actor("person", f"chat:{name}", name, "chat") for name in names]


async def test_of_many_deciders_at_once_one_wins(open_office: OpenOffice) -> None:
    """Approving, rejecting and changing: one act is recorded, everybody else reads whose."""
    shop = Shop()
    office = open_office([[refund_call(1000)], [Say("Done.")]], [shop.refund])
    people = crowd(office)
    reply_id = await office.ask()
    call = await office.asked()
    smaller = json.dumps({"customer": "Kim", "amount": 10})

    async def act(number: int, who: Actor) -> tuple[bool, str]:
        gateway, op = office.gateway, f"press-{number}"
        if number % 3 == 0:
            answered = await gateway.approve(call.key, 0, who, op)
        elif number % 3 == 1:
            answered = await gateway.reject(call.key, 0, who, op, "no")
        else:
            answered = await gateway.modify(call.key, 0, who, op, smaller)
        return answered.ok, answered.said

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(act(n, who)) for n, who in enumerate(people)]
    await office.settle()

    said = [task.result() for task in tasks]
    assert Counter(ok for ok, _ in said) == {True: 1, False: CROWD - 1}
    (settled,) = (await office.reply(reply_id)).calls
    assert settled.decision is not None
    winner = settled.decision.actor.name
    lost = [words for ok, words in said if not ok]
    assert all(winner in words or "changed" in words for words in lost)
    rejected = settled.decision.kind is DecisionKind.REJECT
    assert len(shop.refunded) == (0 if rejected else 1)


async def test_pressing_twice_is_pressing_once(open_office: OpenOffice) -> None:
    """The same press delivered again is answered again; a second press is told who was first."""
    press = Press()
    office = open_office([[PRESS], [Say("Done.")]], [press])
    await office.ask()
    call = await office.asked()

    first = await office.gateway.approve(call.key, 0, ANA, "press-1")
    delivered_again = await office.gateway.approve(call.key, 0, ANA, "press-1")
    pressed_again = await office.gateway.approve(call.key, 0, ANA, "press-2")
    await office.settle()

    assert (first.ok, first.said) == (delivered_again.ok, delivered_again.said)
    assert (pressed_again.ok, pressed_again.said) == (False, "You already approved this.")
    assert len(press.runs) == 1


async def test_two_identities_of_one_person_are_one_voter(open_office: OpenOffice) -> None:
    """Who asked under one name does not approve under another, and nobody votes twice."""
    press = Press()
    office = open_office([[PRESS], [Say("Done.")]], [press], standard_policy(quorum=2))
    both = {
        "rita": Person("rita", frozenset({"chat:rita", "phone:rita"})),
        "ana": Person("ana", frozenset({"chat:ana", "phone:ana"})),
    }
    office.people = People({**office.people.persons, **both}, office.people.sets)
    office.reopen()
    await office.ask()
    call = await office.asked()

    own = await office.approve(call, Actor("person", "phone:rita", "R.", "phone"))
    first = await office.approve(call, ANA)
    again = await office.approve(call, Actor("person", "phone:ana", "A.", "phone"))

    assert own == "You asked for this, so somebody else has to decide."
    assert first == "Your approval is recorded (1 of 2)."
    assert again == "Your approval is already recorded."
    assert press.runs == []


async def test_only_people_decide(open_office: OpenOffice) -> None:
    """A worker, a timer or the agent itself has no vote, whatever it is called."""
    press = Press()
    office = open_office([[PRESS]], [press])
    await office.ask()
    call = await office.asked()

    for kind in ("worker", "timer", "operator", "system"):
        said = await office.approve(call, Actor(kind, "chat:ana", "Ana", "chat"))
        assert said == "Only a verified person can decide."

    assert press.runs == []


async def test_a_vote_for_the_old_form_does_not_count_for_the_new_one(
    open_office: OpenOffice,
) -> None:
    """Two people are needed: Ana approves, Bo changes the input, Ana's vote has fallen."""
    shop = Shop()
    office = open_office([[refund_call(1000)]], [shop.refund], standard_policy(quorum=2))
    await office.ask()
    old = await office.asked()
    await office.approve(old, ANA)

    await office.modify(old, '{"customer": "Kim", "amount": 10}', BO)
    stale = await office.approve(old, ANA)
    assert shop.refunded == []
    assert "changed" in stale
    await office.approve(await office.asked(), ANA)

    assert shop.refunded == [("Kim", 10)]


async def test_an_approval_can_be_taken_back_until_the_last_one(open_office: OpenOffice) -> None:
    """Rejecting after an own approval settles the call."""
    press = Press()
    office = open_office([[PRESS], [Say("Then not.")]], [press], standard_policy(quorum=2))
    reply_id = await office.ask()
    call = await office.asked()
    await office.approve(call, ANA)

    await office.reject(call, "second thoughts", ANA)

    assert await office.states(reply_id) == [CallState.REJECTED]
    assert "already rejected" in await office.approve(call, BO)


async def test_a_rule_that_was_not_offered_is_not_taken(open_office: OpenOffice) -> None:
    """Nor one that was offered and then bent: other behaviour, other source, wider pattern."""
    shop = Shop()
    office = open_office([[refund_call()]], [shop.refund])
    await office.ask()
    call = await office.asked()
    (offered,) = (PermissionRule.model_validate(r) for r in call.content["suggested_rules"])
    bent = [
        PermissionRule(
            tool_name="mail", rule_content=None, behavior=PermissionBehavior.ALLOW, source="x"
        ),
        offered.model_copy(update={"behavior": PermissionBehavior.DENY}),
        offered.model_copy(update={"source": "operator"}),
        offered.model_copy(update={"rule_content": "*"}),
    ]

    for number, rule in enumerate(bent):
        taken = await office.gateway.approve(call.key, 0, ANA, f"bent-{number}", [offered, rule])
        standing = await office.gateway.allow_always(call.key, ANA, rule)
        assert (taken.ok, standing.ok) == (False, False)

    assert (await office.asked()).votes == ()
    assert await office.preferences.allowlist("rita") == ()


async def test_one_of_two_people_makes_no_rule(open_office: OpenOffice) -> None:
    """Where two have to agree on a call, both have to agree on the rule, or it does not hold."""
    press = Press()
    again = Call("press", "{}", "c2")
    office = open_office([[PRESS], [again], [Say("Done.")]], [press], standard_policy(quorum=2))
    await office.ask()
    call = await office.asked()
    (offered,) = (PermissionRule.model_validate(r) for r in call.content["suggested_rules"])
    standing = await office.gateway.allow_always(call.key, ANA, offered)

    await office.gateway.approve(call.key, 0, ANA, "one", [offered])
    await office.gateway.approve(call.key, 0, BO, "two")
    await office.settle()

    assert not standing.ok
    assert len(press.runs) == 1
    assert (await office.asked()).key.call_id == "c2"


async def test_a_rule_can_not_be_made_from_a_call_that_is_settled(open_office: OpenOffice) -> None:
    """Bo rejected it; Ana can't allow the like of it for good from the same card."""
    press = Press()
    office = open_office([[PRESS], [Say("Then not.")]], [press])
    await office.ask()
    call = await office.asked()
    (offered,) = (PermissionRule.model_validate(r) for r in call.content["suggested_rules"])
    await office.reject(call, "no", BO)

    answered = await office.gateway.allow_always(call.key, ANA, offered)

    assert not answered.ok
    assert await office.preferences.allowlist("rita") == ()


async def test_a_full_queue_says_so_and_loses_nothing_that_was_accepted(
    open_office: OpenOffice,
) -> None:
    """Twenty wait, the next are refused; the twenty are answered in order, once."""
    press = Press()
    office = open_office([[PRESS], [Say("First.")]], [press])
    first = await office.ask("0")
    accepted = [first]
    refused = 0
    for number in range(1, 26):
        request = Request("ops", "thread-1", REQUESTER, "chat:ops")
        said = await office.gateway.ask(request, user_msg(str(number)), f"m{number}")
        again = await office.gateway.ask(request, user_msg(str(number)), f"m{number}")
        assert said == again
        if isinstance(said, Full):
            refused += 1
        else:
            assert isinstance(said, Begun | Queued)
            accepted.append(said.reply_id)

    await office.approve(await office.asked())

    assert refused == 5
    replies = [await office.reply(reply_id) for reply_id in accepted]
    assert all(reply.outcome is ReplyFinishedReason.COMPLETED for reply in replies)
    assert [reply.next_reply for reply in replies[:-1]] == accepted[1:]


async def test_an_escalation_does_not_let_people_edit_into_other_peoples_calls(
    open_office: OpenOffice,
) -> None:
    """After an escalation the leads may decide this call too; a call that is theirs alone can't be
    made out of it and approved by those who were asked first."""
    shop = Shop()
    gates = Gates(
        Gate("default", "sre"),
        (
            Gate("large", "leads", matches=("refund(customer=Lee)",)),
            Gate(
                "small",
                "sre",
                matches=("refund",),
                escalate=Escalation(timedelta(minutes=10), "leads"),
            ),
        ),
    )
    office = open_office([[refund_call(5)]], [shop.refund], Policy(gates, revision=1))
    sets = {**office.people.sets, "leads": ApproverSet("leads", people=frozenset({"lea"}))}
    office.people = People(office.people.persons, sets)
    office.reopen()
    await office.ask()
    await office.pass_time(601)
    call = await office.asked()
    assert call.approvers == ("sre", "leads")

    said = await office.modify(call, '{"customer": "Lee", "amount": 5}', ANA)

    assert "other approvers" in said
    assert shop.refunded == []


async def test_an_approval_survives_a_later_change_of_who_may_approve(
    open_office: OpenOffice,
) -> None:
    """The right counts at the moment of deciding: Ana's vote stands when she has left the set."""
    press = Press()
    office = open_office([[PRESS], [Say("Done.")]], [press], standard_policy(quorum=2))
    await office.ask()
    call = await office.asked()
    await office.approve(call, ANA)
    office.people = People(
        office.people.persons, {"sre": ApproverSet("sre", people=frozenset({"bo"}))}
    )
    office.reopen()

    refused = await office.reject(call, "no", ANA)
    await office.approve(call, BO)

    assert "can't decide" in refused
    assert len(press.runs) == 1


async def test_an_edit_without_a_change_is_an_approval_by_its_editor(
    open_office: OpenOffice,
) -> None:
    """So is one that changes only spacing: it is a new form, bound and run as it was written."""
    for new in ('{"customer": "Kim", "amount": 12.5}', '{ "amount": 12.5,  "customer":"Kim" }'):
        shop = Shop()
        office = open_office([[refund_call()], [Say("Done.")]], [shop.refund])
        reply_id = await office.ask(session=new)
        old = await office.asked()

        await office.modify(old, new)

        (call,) = (await office.reply(reply_id)).calls
        assert (call.revision, call.because, call.input) == (1, Because.EDITED, new)
        assert call.digest != old.digest
        assert shop.refunded == [("Kim", 12.5)]
