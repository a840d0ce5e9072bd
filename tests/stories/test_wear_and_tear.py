"""Parts of Keyturn, or of what it stands on, that go bad and stay so."""

from dataclasses import dataclass, field, replace

import pytest

from adapters.memory.ledger import MemoryLedger
from adapters.models.scripted import Call, Say
from core.calls import Call as LedgerCall
from core.calls import CallKey, CallState, Reply
from core.cards import Card
from core.errors import StoreDamaged, StoreUnavailable
from core.events import AgentEvent
from core.ledger import CardKey, Decide, Fire, Start
from core.ledger.answers import (
    Counted,
    Fired,
    Go,
    Granted,
    Lost,
    NotDue,
    Refused,
    Settled,
    TaskOffered,
)
from core.messages import ReplyFinishedReason
from core.permissions.rules import PermissionBehavior
from core.worker import Worker
from tests.stories.office import ANA, Board, CountedIds, OpenOffice, PatientClock, press_policy
from tests.stories.tools import PRESS, Press, Shop, refund_call


@dataclass(slots=True)
class WornLedger(MemoryLedger):
    """A store in which some replies can't be read any more, and some answers don't come.

    Attributes:
        damaged: replies that it can't read.
        falls_silent: no call can be read once the next decision is recorded.
        damaged_starts: no call can be started.
        forgotten: replies that it no longer keeps.
    """

    damaged: set[str] = field(default_factory=set[str])
    forgotten: set[str] = field(default_factory=set[str])
    damaged_starts: bool = False
    falls_silent: bool = False
    silent: bool = False

    async def start(self, request: Start) -> Go | TaskOffered | Lost | Refused:
        if self.damaged_starts:
            raise StoreDamaged("not as it was sealed")
        return await MemoryLedger.start(self, request)

    async def decide(self, request: Decide) -> Counted | Granted | Settled | Refused:
        answer = await MemoryLedger.decide(self, request)
        self.silent = self.falls_silent
        return answer

    async def fire(self, request: Fire) -> Fired | NotDue:
        if request.timer.reply_id in self.damaged:
            raise StoreDamaged("not as it was sealed")
        return await MemoryLedger.fire(self, request)

    async def call(self, key: CallKey) -> LedgerCall | None:
        if self.silent:
            raise StoreUnavailable("silent")
        if key.reply_id in self.damaged:
            raise StoreDamaged("not as it was sealed")
        return await MemoryLedger.call(self, key)

    async def reply(self, reply_id: str) -> Reply | None:
        if reply_id in self.forgotten:
            return None
        return await MemoryLedger.reply(self, reply_id)


@pytest.fixture
def worn() -> tuple[WornLedger, OpenOffice]:
    """Offices on such a store."""
    clock, ids = PatientClock(), CountedIds()
    ledger = WornLedger(clock, ids)
    return ledger, OpenOffice(ledger, clock, ids)


async def test_a_damaged_reply_keeps_no_other_from_its_timers_and_cards(
    worn: tuple[WornLedger, OpenOffice],
) -> None:
    """Its own deadline can't act; the other's does, and its card says so."""
    ledger, open_office = worn
    office = open_office([[PRESS], [PRESS], [Say("Nobody.")]], [Press()])
    broken = await office.ask(session="thread-1")
    sound = await office.ask(session="thread-2")
    ledger.damaged.add(broken)

    await office.turn_clock(3601)
    while await office.deadlines.fire_due():
        pass
    await office.settle()

    assert await office.states(broken) == [CallState.OPEN]
    assert await office.states(sound) == [CallState.EXPIRED]
    assert office.card("m1").buttons != ()
    assert office.card("m2").buttons == ()


async def test_a_decision_that_is_recorded_is_told_even_if_the_look_afterwards_fails(
    worn: tuple[WornLedger, OpenOffice],
) -> None:
    """The person reads what was recorded; only the present state can't be shown."""
    ledger, open_office = worn
    office = open_office([[PRESS]], [Press()])
    await office.ask()
    call = await office.asked()

    ledger.falls_silent = True

    answered = await office.gateway.approve(call.key, 0, ANA, "yes")

    assert answered.said == "Approved for one run."
    assert answered.call is None


async def test_a_session_goes_on_after_a_reply_that_the_store_ended_and_forgot(
    worn: tuple[WornLedger, OpenOffice],
) -> None:
    """The reply went wrong again and again and was closed; a week later somebody writes again."""
    ledger, open_office = worn

    ledger.damaged_starts = True
    press = Press()
    office = open_office(
        [[PRESS], [Say("Hello again.")]], [press], press_policy(PermissionBehavior.ALLOW, 1)
    )
    reply_id = await office.ask()
    for _ in range(8):
        await office.pass_time(31)
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.ERROR
    ledger.forgotten.add(reply_id)

    later = await office.ask("are you there?")

    assert (await office.reply(later)).outcome is ReplyFinishedReason.COMPLETED
    assert press.runs == []


async def test_a_card_that_can_not_be_shown_keeps_no_other_back(open_office: OpenOffice) -> None:
    """Whatever the surface does about the first card; the second one is shown."""

    class OddBoard(Board):
        """A surface with a fault in it."""

        async def post(self, card: CardKey, view: Card) -> str:
            if card.call.call_id == "c1":
                raise KeyError(card.channel)
            return await Board.post(self, card, view)

    office = open_office([[PRESS, Call("other", "{}", "c2")]], [Press(), Press("other")])
    office.board = OddBoard()
    office.reopen()

    await office.ask()

    assert [mark.call.call_id for mark in office.board.marks.values()] == ["c2"]


async def test_a_view_that_fails_does_not_end_what_runs(open_office: OpenOffice) -> None:
    """Whoever shows what a reply streams is not needed for it."""
    shop = Shop()
    office = open_office([[refund_call()], [Say("Done.")]], [shop.refund])

    class Away:
        """A view that is gone."""

        async def happened(self, reply: Reply, event: AgentEvent) -> None:
            raise OSError

    office.worker = Worker(replace(office.bench, activity=Away()), "w1")
    reply_id = await office.ask()
    await office.approve(await office.asked())

    assert shop.refunded == [("Kim", 12.5)]
    assert (await office.reply(reply_id)).outcome is ReplyFinishedReason.COMPLETED
