"""What every ledger promises, told as small stories. Each runs on every store."""

import asyncio

import pytest

from core.calls import Actor, Because, CallKey, CallState, Escalation, ReplyState, Terms
from core.ledger import (
    Accept,
    AlreadyStopping,
    Asked,
    Begun,
    Claim,
    Claimed,
    Completed,
    Counted,
    Full,
    Go,
    Granted,
    IdTaken,
    Ledger,
    Lost,
    NotDue,
    NothingToStop,
    NotReady,
    OpenCalls,
    OutOfTurn,
    Parked,
    Queued,
    Refused,
    Renew,
    Renewed,
    ReplyStopped,
    Settled,
    Stopping,
    TaskOffered,
    TurnWritten,
    Why,
    WorkLeft,
    WriteTurn,
)
from core.messages import ReplyFinishedReason
from tests.contracts.conftest import StandingClock
from tests.contracts.ledgers import ANA, BO, MINUTE, WORKER, Driver, new_call

S = CallState
TWO = Terms("sre", quorum=2)
EXTERNAL = Terms("desk", external=True)
IDEMPOTENT = Terms("sre", idempotent=True)


def why(answer: object) -> Why | None:
    """The reason of a refusal; None for anything else."""
    return answer.why if isinstance(answer, Refused) else None


async def lose_worker(driver: Driver, clock: StandingClock) -> None:
    """The lease ends."""
    await clock.forward(30_001)
    assert "lease" in await driver.fire_due()


# Messages


async def test_a_message_is_accepted_once(driver: Driver) -> None:
    """The platform repeats its event: the same answer, no second reply."""
    first = await driver.accept(op="Ev1")
    again = await driver.accept(op="Ev1")

    assert isinstance(first, Begun)
    assert again == first
    session = await driver.ledger.session("s1")
    assert session
    assert (session.active, session.queue) == (first.reply_id, ())


async def test_messages_of_a_session_are_answered_in_order(driver: Driver) -> None:
    """The end of a reply opens the next message in the same step."""
    await driver.begin()
    second, third = await driver.accept("two"), await driver.accept("three")

    done = await driver.complete()

    assert isinstance(second, Queued)
    assert isinstance(third, Queued)
    assert (second.place, third.place) == (1, 2)
    assert done == Completed(ReplyFinishedReason.COMPLETED, second.reply_id)
    session = await driver.ledger.session("s1")
    assert session
    assert (session.active, session.queue) == (second.reply_id, (third.reply_id,))
    following = await driver.ledger.reply(second.reply_id)
    assert following
    assert following.state is ReplyState.READY
    assert following.message == {"content": "two"}


async def test_a_full_queue_says_so_and_says_it_again(driver: Driver) -> None:
    """What was answered "full" stays unaccepted when its event is repeated later."""
    await driver.begin()
    await driver.accept(limit=1)

    full = await driver.accept(op="Ev9", limit=1)
    await driver.complete()

    assert full == Full(1)
    assert await driver.accept(op="Ev9", limit=1) == Full(1)


async def test_an_idle_session_keeps_the_agents_state(driver: Driver) -> None:
    """After the end the next reply goes on from there."""
    await driver.begin()
    await driver.complete()
    await driver.begin()

    session = await driver.ledger.session("s1")

    assert session
    assert session.agent
    assert session.agent.complete


async def test_a_session_of_another_tenant_is_refused(ledger: Ledger) -> None:
    """Nothing of one tenant reaches another's session."""
    driver = Driver(ledger)
    await driver.accept()

    with pytest.raises(ValueError, match="another tenant"):
        await ledger.accept(Accept("Ev2", "s1", "T2", ANA, {}))


# Claiming and parking


async def test_one_of_many_claims_wins(driver: Driver) -> None:
    """Thirty-two workers: one fence, everybody else is told."""
    begun = await driver.accept()
    assert isinstance(begun, Begun)
    claims = [Claim(f"c{n}", WORKER, begun.reply_id, 30_000) for n in range(32)]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(driver.ledger.claim(claim)) for claim in claims]
    answers = [task.result() for task in tasks]

    assert sum(isinstance(answer, Claimed) for answer in answers) == 1
    assert answers.count(NotReady(ReplyState.RUNNING)) == 31


async def test_the_same_claim_gets_the_same_fence_while_it_holds(driver: Driver) -> None:
    """A repeated request is no second claim; another request of the same worker is refused."""
    await driver.begin()
    reply = await driver.reply()
    assert reply.claim_op

    again = await driver.ledger.claim(Claim(reply.claim_op, WORKER, reply.reply_id, 30_000))

    assert isinstance(again, Claimed)
    assert again.fence == driver.fence
    assert await driver.claim() == NotReady(ReplyState.RUNNING)


async def test_a_reply_parks_only_when_there_is_nothing_to_do(driver: Driver) -> None:
    """The ledger's view counts, not the worker's; what runs is not left behind."""
    await driver.begin(new_call("a", S.ALLOWED), new_call("b"))

    assert await driver.release() == WorkLeft(stop=False, granted=("a",))
    await driver.start("a")
    assert await driver.release() == OpenCalls(("a",))
    await driver.finish("a")
    assert await driver.release() == Parked()
    assert isinstance(await driver.release(), Lost)
    assert (await driver.reply()).state is ReplyState.PARKED


@pytest.mark.parametrize("act", ["approve", "reject", "cancel", "modify"])
async def test_every_answer_wakes_a_parked_reply(driver: Driver, act: str) -> None:
    """Whatever was answered: the worker is called when nothing else is waited for."""
    await driver.begin(new_call())
    await driver.release()
    await driver.ledger.wait_for_work(0)

    await getattr(driver, act)()

    assert (await driver.reply()).state is ReplyState.READY
    assert await driver.ledger.wait_for_work(1_000) == (driver.reply_id,)


async def test_an_approved_call_wakes_while_its_sibling_is_open(driver: Driver) -> None:
    """The answered call runs at once; the other goes on being asked."""
    await driver.begin(new_call("a"), new_call("b"))
    await driver.release()

    await driver.approve("a")

    assert isinstance(await driver.claim(), Claimed)
    assert await driver.start("a") == Go(1)
    assert isinstance(await driver.approve("b"), Granted)


async def test_a_ready_reply_is_announced_until_it_is_claimed(
    driver: Driver, clock: StandingClock
) -> None:
    """A wake-up that was lost is made up for by a timer."""
    begun = await driver.accept()
    assert isinstance(begun, Begun)
    driver.reply_id = begun.reply_id
    await driver.ledger.wait_for_work(0)

    await clock.forward(5_000)

    assert await driver.fire_due() == ["wake"]
    assert await driver.ledger.wait_for_work(1_000) == (begun.reply_id,)
    await driver.claim()
    await clock.forward(5_000)
    assert await driver.fire_due() == []


async def test_a_renewal_brings_news(driver: Driver) -> None:
    """The holder hears of grants and of a stop."""
    await driver.begin(new_call("a"), new_call("b"))
    await driver.approve("a")
    renew = Renew(driver.reply_id, driver.fence, 60_000)

    first = await driver.ledger.renew(renew)
    await driver.stop()
    second = await driver.ledger.renew(renew)

    assert isinstance(first, Renewed)
    assert (first.stop, first.granted) == (False, ("a",))
    assert isinstance(second, Renewed)
    assert (second.stop, second.granted) == (True, ())


async def test_who_lost_the_fence_writes_nothing(driver: Driver, clock: StandingClock) -> None:
    """After the lease ended and another worker came, the first one is refused everywhere."""
    await driver.begin(new_call("a", S.ALLOWED))
    await lose_worker(driver, clock)
    old = driver.fence
    await driver.claim()
    new, driver.fence = driver.fence, old

    lost = Lost(ReplyState.RUNNING, new)

    assert await driver.start() == lost
    assert await driver.refuse() == lost
    assert await driver.release() == lost
    assert await driver.hand_back() == lost
    assert await driver.complete() == lost
    assert await driver.turn(new_call("b")) == lost


async def test_a_late_lease_is_still_the_owners_until_it_is_fired(
    driver: Driver, clock: StandingClock
) -> None:
    """There is one way to lose a lease, so a slow renewal is no loss; the old timer is void."""
    await driver.begin(new_call("a", S.ALLOWED))
    await clock.forward(40_000)
    (timer,) = await driver.ledger.due()

    renewed = await driver.ledger.renew(Renew(driver.reply_id, driver.fence, 30_000))

    assert isinstance(renewed, Renewed)
    assert await driver.fire(timer) == NotDue()
    assert await driver.start() == Go(1)


# Turns


async def test_a_turn_follows_the_stored_turn(driver: Driver) -> None:
    """Repeated: the same answer. Skipped or late: refused, nothing changed."""
    await driver.begin(new_call("a", S.ALLOWED))

    driver.turns = 0
    assert await driver.turn(new_call("x")) == TurnWritten(1)
    assert (await driver.reply()).call("x") is None
    driver.turns = 2
    assert await driver.turn() == OutOfTurn(1)
    driver.turns = 1
    assert await driver.turn() == OpenCalls(("a",))


async def test_ids_are_unique_in_a_reply(driver: Driver) -> None:
    """An old card can't decide a new call: its id is never used again."""
    await driver.begin(new_call("a", S.DENIED, reason="no"))

    assert await driver.turn(new_call("a")) == IdTaken("a")
    driver.turns -= 1
    assert await driver.turn(new_call("b"), new_call("b")) == IdTaken("b")
    driver.turns -= 1
    assert await driver.turn(new_call("b")) == TurnWritten(2)
    older = CallKey(driver.reply_id, "b", 1)
    assert await driver.ledger.call(older) is None
    assert await driver.approve("b", key=older) == Refused(Why.NO_SUCH_CALL)


async def test_a_denied_call_keeps_its_reason(driver: Driver) -> None:
    """The verdict of the engine is the call's decision."""
    await driver.begin(new_call("a", S.DENIED, reason="deny rule"))

    call = await driver.call()

    assert call.final
    assert call.decision
    assert call.decision.reason == "deny rule"


async def test_a_waiting_call_is_checked_in_its_turn(driver: Driver) -> None:
    """Not while another is waited for; then by the policy of that moment."""
    await driver.begin(new_call("a", S.ALLOWED), new_call("b", S.WAITING), new_call("c", S.WAITING))
    assert why(await driver.check("b", S.OPEN)) is Why.NOT_YET
    await driver.start("a")
    await driver.finish("a")

    assert why(await driver.check("c", S.OPEN)) is Why.NOT_YET
    await driver.ledger.publish_policy("p2")
    assert why(await driver.check("b", S.OPEN)) is Why.POLICY_MOVED
    driver.policy = "p2"
    await driver.check("b", S.OPEN)
    assert (await driver.call("b")).deadline
    await driver.reject("b")
    await driver.check("c", S.DENIED)
    assert [await driver.state(c) for c in "abc"] == [S.DONE, S.REJECTED, S.DENIED]


# Starting and finishing


async def test_a_start_is_the_only_gate(driver: Driver) -> None:
    """Revision, digest and policy are compared in the same step; then it goes, once."""
    await driver.begin(new_call())
    assert why(await driver.start()) is Why.NOT_ASKED
    await driver.approve()

    assert why(await driver.start(revision=1)) is Why.CHANGED
    assert why(await driver.start(digest="other")) is Why.CHANGED
    assert why(await driver.start(policy="p9")) is Why.POLICY_MOVED
    assert await driver.start(op="start-1") == Go(1)
    assert await driver.start(op="start-1") == Go(1)
    assert why(await driver.start(op="start-2")) is Why.NOT_ASKED
    await driver.finish()
    assert why(await driver.start(op="start-1")) is Why.NOT_ASKED


async def test_a_policy_refusal_ends_the_call(driver: Driver) -> None:
    """What the policy denies now is refused for good, and says why."""
    await driver.begin(new_call("a", S.ALLOWED))

    answer = await driver.refuse()

    assert answer == Settled(S.DENIED, 0)
    decision = (await driver.call()).decision
    assert decision
    assert decision.reason == "denied now"


async def test_a_grant_lapses_and_asks_again(driver: Driver, clock: StandingClock) -> None:
    """Not started in time: a new revision without votes; the start that comes late is told."""
    await driver.begin(new_call())
    await driver.approve()
    await clock.forward(MINUTE)

    answer = await driver.start()

    assert why(answer) is Why.LAPSED
    call = await driver.call()
    assert (call.state, call.revision, call.votes) == (S.OPEN, 1, ())
    assert call.because is Because.LAPSED
    assert call.deadline == clock.ms + 60 * MINUTE


async def test_the_lapse_timer_does_the_same(driver: Driver, clock: StandingClock) -> None:
    """Also when the reply is parked or nobody comes."""
    await driver.begin(new_call())
    await driver.approve()
    await driver.ledger.renew(Renew(driver.reply_id, driver.fence, 10 * MINUTE))
    await clock.forward(MINUTE)

    assert await driver.fire_due() == ["lapse"]
    assert (await driver.call()).revision == 1


async def test_a_grant_counts_from_when_the_call_could_start(
    driver: Driver, clock: StandingClock
) -> None:
    """A call that must run alone does not lapse while another runs; its minute starts after."""
    alone = Terms("sre", alone=True)
    await driver.begin(new_call("a", S.ALLOWED, terms=alone), new_call("b", terms=alone))
    await driver.ledger.renew(Renew(driver.reply_id, driver.fence, 60 * MINUTE))
    await driver.start("a")
    await driver.approve("b")

    await clock.forward(2 * MINUTE)
    await driver.fire_due()
    await clock.forward(30_000)
    assert why(await driver.start("b")) is Why.NOT_YET
    await driver.finish("a")

    assert (await driver.call("b")).grant_until == clock.ms + MINUTE
    assert await driver.start("b") == Go(1)


async def test_a_finish_names_its_run(driver: Driver, clock: StandingClock) -> None:
    """The first run's result does not close the second run; it is noted, once."""
    await driver.begin(new_call("a", S.ALLOWED, terms=IDEMPOTENT))
    await driver.start()
    await lose_worker(driver, clock)
    await driver.claim()
    assert await driver.start() == Go(2)

    late = await driver.finish(run=1, text="first")
    again = await driver.finish(run=1, text="first")

    assert why(late) is Why.TOO_LATE
    assert again == late
    assert await driver.state() is S.STARTED
    assert await driver.finish(run=2, text="second") == Settled(S.DONE, 0)
    call = await driver.call()
    assert call.result
    assert call.result["output"] == "second"
    assert call.late
    assert call.late.run == 1
    noted = [
        record for record in await driver.ledger.audit(driver.reply_id) if record.what == "late"
    ]
    assert [record.note["result"]["output"] for record in noted] == ["first"]


async def test_late_proof_settles_what_was_granted_again(
    driver: Driver, clock: StandingClock
) -> None:
    """The run was unproven and approved again; its proof comes before the second start."""
    await driver.begin(new_call("a", S.ALLOWED))
    await driver.start()
    await lose_worker(driver, clock)
    await driver.approve()
    assert await driver.state() is S.APPROVED

    answer = await driver.finish(run=1)

    assert answer == Settled(S.DONE, 1)
    assert await driver.ledger.due() == ()
    await driver.claim()
    assert why(await driver.start()) is Why.NOT_ASKED


# Losing a worker


async def test_a_lost_run_is_unknown_and_asked(driver: Driver, clock: StandingClock) -> None:
    """Nothing is repeated; the question has a deadline, and ends abandoned."""
    await driver.begin(new_call("a", S.ALLOWED))
    await driver.start()

    await lose_worker(driver, clock)

    call = await driver.call()
    assert (call.state, call.revision, call.because) == (S.UNKNOWN, 1, Because.UNKNOWN)
    assert (await driver.reply()).state is ReplyState.PARKED
    await clock.forward(24 * 60 * MINUTE)
    assert await driver.fire_due() == ["expire"]
    assert await driver.state() is S.ABANDONED
    assert (await driver.reply()).state is ReplyState.READY


@pytest.mark.parametrize(
    ("act", "state"), [("fulfil", S.DONE), ("reject", S.ABANDONED), ("cancel", S.ABANDONED)]
)
async def test_people_settle_an_unknown_run(
    driver: Driver, clock: StandingClock, act: str, state: CallState
) -> None:
    """Mark done, give up: one answer is enough."""
    await driver.begin(new_call("a", S.ALLOWED, terms=TWO))
    await driver.start()
    await lose_worker(driver, clock)

    assert await getattr(driver, act)() == Settled(state, 1)


async def test_run_again_needs_the_full_quorum(driver: Driver, clock: StandingClock) -> None:
    """It is a new grant for a new run."""
    await driver.begin(new_call("a", terms=TWO))
    await driver.approve()
    await driver.approve(who=BO)
    await driver.start()
    await lose_worker(driver, clock)

    assert await driver.approve() == Counted(1, 1, 2)
    assert isinstance(await driver.approve(who=BO), Granted)
    await driver.claim()
    assert await driver.start() == Go(2)


async def test_an_idempotent_call_is_tried_three_times(
    driver: Driver, clock: StandingClock
) -> None:
    """Each try passes the gate anew; then people are asked."""
    await driver.begin(new_call("a", S.ALLOWED, terms=IDEMPOTENT))
    runs = []

    for _ in range(3):
        runs.append(await driver.start())
        await lose_worker(driver, clock)
        if await driver.state() is S.ALLOWED:
            await driver.claim()

    assert runs == [Go(1), Go(2), Go(3)]
    assert await driver.state() is S.UNKNOWN


async def test_a_reply_that_never_gets_anywhere_fails(driver: Driver, clock: StandingClock) -> None:
    """The sixth claim in a row that brings nothing closes it and opens the next message."""
    await driver.begin()
    queued = await driver.accept("next")
    assert isinstance(queued, Queued)

    for _ in range(6):
        await lose_worker(driver, clock)
        await driver.claim()

    reply = await driver.reply()
    assert (reply.state, reply.outcome) == (ReplyState.CLOSED, ReplyFinishedReason.ERROR)
    following = await driver.ledger.reply(queued.reply_id)
    assert following
    assert following.state is ReplyState.READY


# People


async def test_the_first_of_many_deciders_wins(driver: Driver) -> None:
    """Thirty-two people press at once: one approval, thirty-one are told by whom and when."""
    await driver.begin(new_call())
    people = [Actor("person", f"p{n}", f"P{n}") for n in range(32)]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(driver.approve(who=who)) for who in people]
    answers = [task.result() for task in tasks]

    winners = [who for who, answer in zip(people, answers, strict=True) if not why(answer)]
    assert len(winners) == 1
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert {answer.decider for answer in refused} == set(winners)
    assert all(answer.decided_at for answer in refused)
    assert all(answer.state is S.APPROVED for answer in refused)


async def test_a_quorum_is_of_different_people(driver: Driver) -> None:
    """The second press of the same person does not count."""
    await driver.begin(new_call(terms=TWO))

    assert await driver.approve() == Counted(0, 1, 2)
    assert why(await driver.approve()) is Why.VOTED
    assert await driver.state() is S.OPEN
    assert isinstance(await driver.approve(who=BO), Granted)
    assert [vote.actor.id for vote in (await driver.call()).votes] == ["ana", "bo"]


async def test_an_edit_voids_older_votes_and_cards(driver: Driver) -> None:
    """Whoever did not see the edit has not approved it."""
    await driver.begin(new_call(terms=TWO))
    await driver.approve()

    assert await driver.modify(who=BO) == Counted(1, 1, 2)
    assert why(await driver.approve(revision=0)) is Why.CHANGED
    assert isinstance(await driver.approve(), Granted)
    call = await driver.call()
    assert (call.input, call.original_input) == ('{"amount": 4}', '{"amount": 5}')
    assert why(await driver.start(digest="digest-a")) is Why.CHANGED
    assert await driver.start() == Go(1)


async def test_an_edit_is_its_editors_approval(driver: Driver) -> None:
    """At a quorum of one it grants; an edit that raises the risk can ask for a second person."""
    await driver.begin(new_call("a"), new_call("b"))

    assert isinstance(await driver.modify("a"), Granted)
    assert await driver.modify("b", quorum=2, content={"title": "Refund 4"}) == Counted(1, 1, 2)
    assert (await driver.call("b")).content == {"title": "Refund 4"}


async def test_a_rejection_counts_also_after_an_own_approval(driver: Driver) -> None:
    """Changing one's mind to the safe side is always open."""
    await driver.begin(new_call(terms=TWO))
    await driver.approve()

    assert await driver.reject(reason="wrong customer") == Settled(S.REJECTED, 0)
    decision = (await driver.call()).decision
    assert decision
    assert decision.reason == "wrong customer"


async def test_a_late_click_performs_the_expiry(driver: Driver, clock: StandingClock) -> None:
    """After an outage clicks come before timers; silence never approves."""
    await driver.begin(new_call())
    await clock.forward(60 * MINUTE)

    answer = await driver.approve()

    assert why(answer) is Why.EXPIRED
    assert await driver.state() is S.EXPIRED
    assert why(await driver.reject()) is Why.EXPIRED


async def test_expiry_of_one_call_leaves_the_others(driver: Driver, clock: StandingClock) -> None:
    """A confirmed approval of a sibling stays."""
    await driver.begin(new_call("a"), new_call("b", terms=Terms("sre", timeout_ms=1_000)))
    await driver.approve("a")
    await clock.forward(1_000)

    await driver.fire_due()

    assert (await driver.state("a"), await driver.state("b")) == (S.APPROVED, S.EXPIRED)


@pytest.mark.parametrize("act", ["approve", "reject", "modify"])
async def test_an_old_check_of_authority_is_refused(driver: Driver, act: str) -> None:
    """A right that was taken away meanwhile must not be used; a fresh check may try again."""
    await driver.begin(new_call())
    now = await driver.ledger.now()

    assert why(await getattr(driver, act)(checked_at=now - 15_001)) is Why.NOT_CHECKED
    assert await driver.state() is S.OPEN
    assert why(await getattr(driver, act)(checked_at=now - 15_000)) is None


async def test_the_same_click_can_be_checked_again(driver: Driver) -> None:
    """The answer "could not check" is not kept as the answer to the click."""
    await driver.begin(new_call())

    await driver.approve(op="click", checked_at=0)

    assert isinstance(await driver.approve(op="click"), Granted)


async def test_a_decision_is_taken_while_the_reply_runs(driver: Driver) -> None:
    """A decision looks at its call, never at the state of the reply."""
    await driver.begin(new_call("a", S.ALLOWED), new_call("b"))
    await driver.start("a")

    assert isinstance(await driver.approve("b"), Granted)


# Tasks


async def test_a_task_is_done_by_people(driver: Driver) -> None:
    """A claim is a courtesy: who claimed is named, anybody with authority may fulfil."""
    await driver.begin(new_call("a", S.TASK, terms=EXTERNAL))

    await driver.claim_task(who=ANA)
    taken = await driver.claim_task(who=BO)
    not_yours = await driver.return_task(who=BO)
    await driver.return_task(who=ANA)

    assert isinstance(taken, Refused)
    assert (taken.why, taken.by) == (Why.TAKEN, ANA)
    assert why(not_yours) is Why.TAKEN
    assert not isinstance(await driver.claim_task(who=BO), Refused)
    assert await driver.fulfil(who=ANA) == Settled(S.DONE, 0)
    call = await driver.call()
    assert call.result
    assert call.result["output"] == "by hand"


async def test_confirm_then_external_becomes_a_task_at_its_start(
    driver: Driver, clock: StandingClock
) -> None:
    """There is nothing that could be unknown; the task has its own deadline."""
    await driver.begin(new_call(terms=EXTERNAL))
    await driver.approve()

    assert await driver.start(op="s1") == TaskOffered(1)
    assert await driver.start(op="s1") == TaskOffered(1)
    assert await driver.release() == Parked()
    await clock.forward(240 * MINUTE)
    await driver.fire_due()
    assert await driver.state() is S.EXPIRED


# Stopping


async def test_a_stop_withdraws_what_has_not_started(driver: Driver) -> None:
    """What runs, runs on; nothing new begins; the end says interrupted."""
    await driver.begin(new_call("a"), new_call("b", S.ALLOWED), new_call("c", S.ALLOWED))
    await driver.approve("a")
    await driver.start("b")

    answer = await driver.stop()

    assert answer == Stopping(("a", "c"), ("b",))
    assert isinstance(await driver.stop(who=BO), AlreadyStopping)
    assert why(await driver.start("c")) is Why.STOPPED
    await driver.finish("b")
    assert isinstance(await driver.turn(), ReplyStopped)
    driver.turns -= 1
    assert await driver.complete() == Completed(ReplyFinishedReason.INTERRUPTED)


async def test_a_stop_names_its_reply(driver: Driver) -> None:
    """Delivered again after the end, it does not stop the next reply."""
    await driver.begin()
    queued = await driver.accept("next")
    assert isinstance(queued, Queued)
    first = await driver.stop(op="stop")
    await driver.complete()

    assert await driver.stop(op="stop") == first
    assert await driver.stop() == NothingToStop(ReplyState.CLOSED, ReplyFinishedReason.INTERRUPTED)
    following = await driver.ledger.reply(queued.reply_id)
    assert following
    assert following.stop is None


async def test_a_run_lost_after_a_stop_is_abandoned(driver: Driver, clock: StandingClock) -> None:
    """Nobody is asked after a stop."""
    await driver.begin(new_call("a", S.ALLOWED))
    await driver.start()
    await driver.stop()

    await lose_worker(driver, clock)

    assert await driver.state() is S.ABANDONED


async def test_complete_waits_for_every_call_and_knows_its_turn(driver: Driver) -> None:
    """An older copy does not write over the agent's state."""
    await driver.begin(new_call())
    assert await driver.complete() == OpenCalls(("a",))
    assert await driver.complete(turn=0) == OutOfTurn(1)
    await driver.reject()

    done = await driver.complete()

    assert await driver.complete() == done


# Notices and lists


async def test_reminders_and_escalation_come_once_each(
    driver: Driver, clock: StandingClock
) -> None:
    """Escalation adds approvers and takes none away."""
    terms = Terms("sre", remind_ms=(MINUTE, 2 * MINUTE), escalate=Escalation(3 * MINUTE, "leads"))
    await driver.begin(new_call(terms=terms))
    await driver.release()
    fired: list[str] = []

    for _ in range(5):
        await clock.forward(MINUTE)
        fired += await driver.fire_due()

    assert fired == ["remind", "remind", "escalate"]
    assert (await driver.call()).approvers == ("sre", "leads")
    kinds = [order.kind for order in await driver.ledger.orders("p", 20)]
    assert kinds.count("remind") == 2
    assert kinds.count("escalate") == 1


async def test_open_calls_are_listed_by_tenant_set_session_and_state(driver: Driver) -> None:
    """What people are asked, and nobody else's."""
    await driver.begin(
        new_call("a"), new_call("b", S.TASK, terms=EXTERNAL), new_call("c", S.ALLOWED)
    )

    async def ids(asked: Asked) -> list[str]:
        return [call.key.call_id for call in await driver.ledger.open_calls(asked)]

    assert await ids(Asked("T1")) == ["a", "b"]
    assert await ids(Asked("T2")) == []
    assert await ids(Asked("T1", approvers=frozenset({"desk"}))) == ["b"]
    assert await ids(Asked("T1", session_id="other")) == []
    assert await ids(Asked("T1", states=frozenset({S.OPEN}))) == ["a"]
    await driver.reject("a")
    assert await ids(Asked("T1")) == ["b"]


async def test_the_audit_names_every_transition(driver: Driver) -> None:
    """One record per transition, with who, what changed, and what was said."""
    await driver.begin(new_call())
    await driver.approve(reason="checked with finance")
    await driver.start()
    await driver.finish()

    records = await driver.ledger.audit(driver.reply_id)

    assert [r.what for r in records] == ["accept", "claim", "turn", "approve", "start", "finish"]
    approval = records[3]
    assert approval.actor == ANA
    assert approval.note == {"reason": "checked with finance"}
    assert approval.changes == (("a", "open", "approved", 0, 0),)


async def test_what_does_not_exist_is_answered(ledger: Ledger) -> None:
    """Unknown replies and calls get an answer, never an error."""
    driver = Driver(ledger, reply_id="00" + "0" * 52, fence=1, turns=1)

    assert await driver.claim() == NotReady()
    assert await driver.release() == Lost()
    assert await driver.stop() == NothingToStop()
    assert why(await driver.approve(revision=0)) is Why.NO_SUCH_CALL
    assert await driver.ledger.reply("nonsense") is None
    assert await driver.ledger.reply(driver.reply_id) is None
    assert await driver.ledger.session("nobody") is None
    written = await ledger.turn(WriteTurn("op", WORKER, driver.reply_id, 1, 1, {}))
    assert written == Lost()


async def test_what_is_withdrawn_after_a_lost_run_stays_unproven(
    driver: Driver, clock: StandingClock
) -> None:
    """A call that may have run is never called cancelled or denied: nobody can say that it did
    not run, whether it was to be tried again by itself or by approval."""
    idempotent = Terms("sre", idempotent=True)
    await driver.begin(
        new_call("a", CallState.ALLOWED, terms=idempotent),
        new_call("b", CallState.ALLOWED, terms=idempotent),
        new_call("c"),
        new_call("d", CallState.ALLOWED, terms=idempotent),
    )
    await driver.approve("c")
    for name in "abcd":
        await driver.start(name)
    await clock.forward(30_000)
    await driver.fire_due()
    await driver.claim()
    await driver.approve("c")

    assert await driver.cancel("a") == Settled(CallState.ABANDONED, 0)
    assert await driver.refuse("b") == Settled(CallState.ABANDONED, 0)
    await driver.stop()

    states = [await driver.state(name) for name in "abcd"]
    assert states == [CallState.ABANDONED] * 4
