"""What happens between the question and the run."""

from adapters.models.scripted import Call, Say
from core.calls import CallState
from core.messages import ReplyFinishedReason
from tests.stories.office import ANA, BO, REQUESTER, OpenOffice, standard_policy
from tests.stories.tools import Shop, refund_call


async def test_an_approved_call_runs_once_and_the_reply_goes_on(open_office: OpenOffice) -> None:
    """The agent stops at the call; one press lets it run, and the agent ends its reply."""
    shop = Shop()
    office = open_office(
        [[Say("I will refund."), refund_call()], [Say("All done.")]], [shop.refund]
    )
    reply_id = await office.ask()
    assert shop.refunded == []

    said = await office.approve(await office.asked())

    assert said == "Approved for one run."
    assert shop.refunded == [("Kim", 12.5)]
    reply = await office.reply(reply_id)
    assert reply.outcome is ReplyFinishedReason.COMPLETED
    assert [call.state for call in reply.calls] == [CallState.DONE]


async def test_the_card_shows_the_call_and_then_its_outcome(open_office: OpenOffice) -> None:
    """One message, from question to result."""
    shop = Shop()
    office = open_office([[Say("He asked nicely."), refund_call()]], [shop.refund])
    await office.ask()
    assert "Refund 12.5 to Kim" in office.card().title

    await office.approve(await office.asked())

    assert list(office.board.cards) == ["m1"]
    assert any("Completed" in line for line in office.card().outcome)
    assert office.card().buttons == ()


async def test_a_rejection_reaches_the_model_as_data_and_is_not_asked_twice(
    open_office: OpenOffice,
) -> None:
    """The same call again in the same reply is refused without a card."""
    shop = Shop()
    office = open_office(
        [[refund_call()], [refund_call(call_id="c2")], [Say("Then not.")]], [shop.refund]
    )
    reply_id = await office.ask()

    await office.reject(await office.asked(), "wrong customer")

    assert await office.states(reply_id) == [CallState.REJECTED, CallState.DENIED]
    assert shop.refunded == []
    assert len(office.board.cards) == 1


async def test_a_modified_call_runs_as_modified(open_office: OpenOffice) -> None:
    """The edit is its editor's approval; what was changed is what runs."""
    shop = Shop()
    office = open_office([[refund_call(1000)]], [shop.refund])
    await office.ask()

    said = await office.modify(await office.asked(), '{"customer": "Kim", "amount": 10}')

    assert said == "Approved for one run."
    assert shop.refunded == [("Kim", 10)]


async def test_an_edit_sent_again_gets_the_answer_it_got(open_office: OpenOffice) -> None:
    """The platform repeats a submit whose answer was lost; the editor is not told otherwise."""
    shop = Shop()
    office = open_office([[refund_call(1000)]], [shop.refund])
    await office.ask()
    call, changed = await office.asked(), '{"customer": "Kim", "amount": 10}'

    first = await office.gateway.modify(call.key, call.revision, ANA, "submit-1", changed)
    again = await office.gateway.modify(call.key, call.revision, ANA, "submit-1", changed)
    other = await office.gateway.modify(call.key, call.revision, BO, "submit-2", changed)

    assert (first.ok, first.said) == (again.ok, again.said) == (True, "Approved for one run.")
    assert not other.ok
    await office.settle()
    assert shop.refunded == [("Kim", 10)]


async def test_an_edit_that_does_not_fit_leaves_the_question_open(open_office: OpenOffice) -> None:
    """The editor is told what is wrong; nobody else notices."""
    shop = Shop()
    office = open_office([[refund_call(1000)]], [shop.refund])
    await office.ask()
    call = await office.asked()

    said = await office.modify(call, '{"customer": "Kim", "amount": "much"}')

    assert "amount" in said
    assert (await office.asked()) == call


async def test_who_asked_can_not_approve(open_office: OpenOffice) -> None:
    """Rita is in the set, but it is her request."""
    shop = Shop()
    office = open_office([[refund_call()]], [shop.refund])
    await office.ask()

    said = await office.approve(await office.asked(), REQUESTER)

    assert said == "You asked for this, so somebody else has to decide."
    assert shop.refunded == []


async def test_two_people_are_needed_where_the_gate_says_so(open_office: OpenOffice) -> None:
    """The first approval is counted, the same person's second is not."""
    shop = Shop()
    office = open_office([[refund_call()]], [shop.refund], standard_policy(quorum=2))
    await office.ask()

    first = await office.approve(await office.asked(), ANA)
    again = await office.approve(await office.asked(), ANA)
    assert shop.refunded == []
    await office.approve(await office.asked(), BO)

    assert first == "Your approval is recorded (1 of 2)."
    assert again == "Your approval is already recorded."
    assert shop.refunded == [("Kim", 12.5)]


async def test_silence_never_approves(open_office: OpenOffice) -> None:
    """After the deadline the call is expired, the model is told, a late click changes nothing."""
    shop = Shop()
    office = open_office([[refund_call()], [Say("Nobody there.")]], [shop.refund])
    reply_id = await office.ask()
    call = await office.asked()

    await office.pass_time(3601)
    said = await office.approve(call)

    assert await office.states(reply_id) == [CallState.EXPIRED]
    assert shop.refunded == []
    assert "expire" in said.lower()


async def test_an_answered_call_runs_while_its_sibling_stays_open(open_office: OpenOffice) -> None:
    """Two questions of one turn are two decisions."""
    shop = Shop()
    mail = Call("mail", '{"customer": "Kim"}', "c2")
    office = open_office([[refund_call(1, "c1"), mail], [Say("Done.")]], [shop.refund, shop.mail])
    reply_id = await office.ask()
    first, second = await office.gateway.pending()

    await office.approve(second)
    assert (shop.refunded, shop.mailed) == ([], ["Kim"])
    await office.reject(first)

    assert await office.states(reply_id) == [CallState.REJECTED, CallState.DONE]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED


async def test_a_like_call_waits_for_the_answer_to_the_first(open_office: OpenOffice) -> None:
    """What the rule on offer would cover is not asked beside it: people see one card at a time."""
    shop = Shop()
    office = open_office(
        [[refund_call(1, "c1"), refund_call(2, "c2")], [Say("Done.")]], [shop.refund]
    )
    reply_id = await office.ask()
    assert await office.states(reply_id) == [CallState.OPEN, CallState.WAITING]

    await office.approve(await office.asked())
    assert await office.states(reply_id) == [CallState.DONE, CallState.OPEN]
    await office.approve(await office.asked())

    assert shop.refunded == [("Kim", 1), ("Kim", 2)]


async def test_a_message_that_comes_while_people_are_asked_waits_its_turn(
    open_office: OpenOffice,
) -> None:
    """One reply at a time in a session; the next begins when the first has ended."""
    shop = Shop()
    office = open_office(
        [[refund_call()], [Say("First."), Say("")], [Say("Second.")]], [shop.refund]
    )
    first = await office.ask("one")
    second = await office.ask("two")
    assert (await office.reply(second)).state.value == "queued"

    await office.approve(await office.asked())

    assert (await office.reply(first)).outcome is ReplyFinishedReason.COMPLETED
    assert (await office.reply(second)).outcome is ReplyFinishedReason.COMPLETED


async def test_a_stopped_reply_starts_nothing_more(open_office: OpenOffice) -> None:
    """A stop withdraws what is asked and ends the reply."""
    shop = Shop()
    office = open_office([[refund_call()]], [shop.refund])
    reply_id = await office.ask()
    call = await office.asked()

    await office.gateway.stop(reply_id, REQUESTER, "stop-1")
    await office.settle()
    said = await office.approve(call)

    assert await office.states(reply_id) == [CallState.CANCELLED]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.INTERRUPTED
    assert shop.refunded == []
    assert "cancelled" in said
