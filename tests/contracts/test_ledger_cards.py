"""The outbox and the cards: what is shown converges to the ledger, on every copy."""

from core.calls import CallState
from core.ledger import CardKey, Ledger, Order, Recorded, Refused, Seen, Shown, Why
from tests.contracts.conftest import StandingClock
from tests.contracts.ledgers import Driver, new_call


def card(driver: Driver) -> CardKey:
    """The card of the first call."""
    return CardKey(driver.key(), "slack:C1")


async def take(ledger: Ledger, *, again_after_ms: int = 10**9) -> list[Order]:
    """What a poster is handed."""
    return list(await ledger.orders("poster", 10, again_after_ms=again_after_ms))


async def test_a_question_orders_one_post_per_channel(driver: Driver) -> None:
    """Allowed calls have no card; every later change is an edit."""
    await driver.begin(
        new_call("a", channels=("slack:C1", "discord:7")), new_call("b", CallState.ALLOWED)
    )

    posts = await take(driver.ledger)
    await driver.approve()
    edits = await take(driver.ledger)

    assert [(o.kind, o.card.call.call_id) for o in posts] == [("post", "a")] * 2
    assert {o.card.channel for o in posts} == {"slack:C1", "discord:7"}
    assert [o.kind for o in edits] == ["edit"] * 2


async def test_a_call_that_becomes_a_question_gets_its_card_then(
    driver: Driver, clock: StandingClock
) -> None:
    """An allowed call whose run was lost is asked about: now it is posted."""
    await driver.begin(new_call("a", CallState.ALLOWED))
    await driver.start()
    assert await take(driver.ledger) == []

    await clock.forward(30_001)
    await driver.fire_due()

    assert [o.kind for o in await take(driver.ledger)] == ["post"]


async def test_an_order_comes_again_until_it_is_acknowledged(driver: Driver) -> None:
    """A poster died before recording: the order is repeated, and says so."""
    await driver.begin(new_call())
    (first,) = await take(driver.ledger)

    (again,) = await take(driver.ledger, again_after_ms=0)
    await driver.ledger.shown(Shown(card(driver), ("m1",), 0, again.id, again.repeated))

    assert (first.repeated, again.repeated, again.id) == (False, True, first.id)
    assert await take(driver.ledger, again_after_ms=0) == []


async def test_a_card_that_shows_an_old_version_is_edited(driver: Driver) -> None:
    """The ledger moved on while the poster posted."""
    await driver.begin(new_call())
    (post,) = await take(driver.ledger)
    await driver.approve()
    (edit,) = await take(driver.ledger)
    await driver.ledger.drop(driver.reply_id, edit.id)

    behind = await driver.ledger.shown(Shown(card(driver), ("m1",), 0, post.id))
    (ordered,) = await take(driver.ledger)
    current = await driver.ledger.shown(Shown(card(driver), ("m1",), 1, ordered.id))

    assert (behind, current) == (Recorded(behind=True), Recorded(behind=False))
    assert ordered.kind == "edit"
    assert await take(driver.ledger, again_after_ms=0) == []


async def test_every_copy_is_kept_and_looked_for(driver: Driver, clock: StandingClock) -> None:
    """A repeated post is followed by one more look a minute later; copies are a set."""
    await driver.begin(new_call())
    await driver.release()
    await take(driver.ledger)
    await driver.ledger.shown(Shown(card(driver), ("m2",), 0, repeated=True))

    await clock.forward(60_000)
    fired = await driver.fire_due()
    (look,) = await take(driver.ledger)
    await driver.ledger.shown(Shown(card(driver), ("m1", "m2"), 0, look.id))

    assert fired == ["look"]
    assert look.kind == "look"
    assert [c.messages for c in (await driver.call()).cards] == [("m2", "m1")]


async def test_a_message_that_was_clicked_is_adopted(driver: Driver) -> None:
    """An unrecorded copy with a valid token becomes known and is brought up to date."""
    await driver.begin(new_call())
    await take(driver.ledger)

    first = await driver.ledger.seen(Seen(card(driver), "m9"))
    again = await driver.ledger.seen(Seen(card(driver), "m9"))

    assert (first, again) == (Recorded(behind=True), Recorded(behind=False))
    assert [o.kind for o in await take(driver.ledger)] == ["edit"]
    assert (await driver.call()).cards[0].messages == ("m9",)


async def test_an_order_about_nothing_is_acknowledged(driver: Driver) -> None:
    """Otherwise it would come again for ever."""
    await driver.begin(new_call())
    (post,) = await take(driver.ledger)
    unknown = CardKey(driver.key("zz"), "slack:C1")

    answer = await driver.ledger.shown(Shown(unknown, ("m1",), 0, post.id))

    assert answer == Refused(Why.NO_SUCH_CALL)
    assert await take(driver.ledger, again_after_ms=0) == []


async def test_a_poster_is_woken_by_a_new_order(driver: Driver) -> None:
    """Waiting ends with the first order, and by itself when none comes."""
    assert await driver.ledger.orders("poster", wait_ms=20) == ()
    await driver.begin(new_call())

    assert len(await driver.ledger.orders("poster", wait_ms=2_000)) == 1
