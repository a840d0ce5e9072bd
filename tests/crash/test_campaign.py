"""Kill -9 of gateways and store: nothing lost, nothing doubled; and planted faults are found."""

import asyncio
import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.calls import CallState, ReplyState
from tests.crash.campaign import Campaign, Plan, Result
from tests.crash.verdict import Evidence, Verdict, judge

pytestmark = pytest.mark.campaign


def carry_out(plan: Plan, folder: Path) -> Result:
    """One campaign."""
    return asyncio.run(Campaign(plan, folder).run())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A short campaign, the same plan every time."""
    return carry_out(Plan(kills=44, seed=7), tmp_path_factory.mktemp("crash"))


@pytest.mark.timeout(240)
def test_forty_kills_lose_nothing_and_double_nothing(result: Result) -> None:
    """Every reply is final or honestly asked about, every decision kept, every card right."""
    victims = {victim for victim, _ in result.kills}

    assert result.verdict.all() == []
    assert len(result.kills) >= 40
    assert victims == {"gateway", "server", "both"}
    assert len(result.evidence.effects) > 40
    assert sum(click.confirmed for click in result.evidence.clicks) > 60


def lose_a_message(found: Evidence) -> Evidence:
    gone = found.askings[0].acked[0]
    return replace(found, replies={k: v for k, v in found.replies.items() if k != gone})


def lose_a_decision(found: Evidence) -> Evidence:
    gone = next(click.op for click in found.clicks if click.confirmed)
    audits = {
        reply_id: [record for record in records if record.op != gone]
        for reply_id, records in found.audits.items()
    }
    return replace(found, audits=audits)


def lose_an_effect(found: Evidence) -> Evidence:
    done = {
        (call.key.reply_id, call.key.call_id, call.done_run)
        for call in found.calls()
        if call.state is CallState.DONE
    }
    gone = next(e for e in found.effects if (e.reply_id, e.call_id, e.run) in done)
    return replace(found, effects=[effect for effect in found.effects if effect is not gone])


def double_an_effect(found: Evidence) -> Evidence:
    return replace(found, effects=[*found.effects, found.effects[0]])


def run_again_unasked(found: Evidence) -> Evidence:
    effect = next(e for e in found.effects if e.tool == "pay" and e.run == 1)
    return replace(found, effects=[*found.effects, effect._replace(run=2)])


def run_what_nobody_approved(found: Evidence) -> Evidence:
    effect = next(e for e in found.effects if e.tool == "pay")
    others = [e for e in found.effects if e is not effect]
    return replace(found, effects=[*others, effect._replace(value=-1)])


def run_without_a_start(found: Evidence) -> Evidence:
    effect = next(e for e in found.effects if e.tool == "stamp" and e.run == 1)
    audits = {**found.audits}
    records = audits[effect.reply_id]
    audits[effect.reply_id] = [record for record in records if record.what != "start"]
    return replace(found, audits=audits)


def answer_a_message_twice(found: Evidence) -> Evidence:
    asking = copy.deepcopy(found.askings[0])
    asking.acked.append("another")
    return replace(found, askings=[asking, *found.askings[1:]])


def settle_a_question_twice(found: Evidence) -> Evidence:
    reply_id, record = next(
        (reply_id, record)
        for reply_id, records in found.audits.items()
        for record in records
        if record.what == "reject"
    )
    records = [*found.audits[reply_id], replace(record, op="another")]
    return replace(found, audits={**found.audits, reply_id: records})


def refuse_what_is_recorded(found: Evidence) -> Evidence:
    clicks = copy.deepcopy(list(found.clicks))
    click = next(click for click in clicks if click.confirmed)
    click.answers = [(False, "no")]
    return replace(found, clicks=clicks)


def let_rita_decide(found: Evidence) -> Evidence:
    clicks = copy.deepcopy(list(found.clicks))
    next(click for click in clicks if click.confirmed).who = "rita"
    return replace(found, clicks=clicks)


def leave_a_reply_running(found: Evidence) -> Evidence:
    reply_id, reply = next(iter(found.replies.items()))
    running = replace(reply, state=ReplyState.RUNNING)
    return replace(found, replies={**found.replies, reply_id: running})


def park_for_nothing(found: Evidence) -> Evidence:
    reply_id, reply = next(iter(found.replies.items()))
    return replace(
        found, replies={**found.replies, reply_id: replace(reply, state=ReplyState.PARKED)}
    )


def show_an_old_card(found: Evidence) -> Evidence:
    message = found.messages[0]
    old = replace(message, view={**message.view, "state": "recording"})
    return replace(found, messages=[old, *found.messages[1:]])


def lose_a_card(found: Evidence) -> Evidence:
    return replace(found, messages=found.messages[1:])


FAULTS: dict[Callable[[Evidence], Evidence], Callable[[Verdict], list[str]]] = {
    lose_a_message: lambda wrong: wrong.lost,
    lose_a_decision: lambda wrong: wrong.lost,
    lose_an_effect: lambda wrong: wrong.lost,
    double_an_effect: lambda wrong: wrong.doubled,
    run_again_unasked: lambda wrong: wrong.doubled,
    answer_a_message_twice: lambda wrong: wrong.doubled,
    settle_a_question_twice: lambda wrong: wrong.doubled,
    run_what_nobody_approved: lambda wrong: wrong.untrue,
    run_without_a_start: lambda wrong: wrong.untrue,
    refuse_what_is_recorded: lambda wrong: wrong.untrue,
    let_rita_decide: lambda wrong: wrong.untrue,
    leave_a_reply_running: lambda wrong: wrong.unsettled,
    park_for_nothing: lambda wrong: wrong.unsettled,
    show_an_old_card: lambda wrong: wrong.cards,
    lose_a_card: lambda wrong: wrong.cards,
}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_verdict_names_each_kind_of_fault(
    result: Result, fault: Callable[[Evidence], Evidence]
) -> None:
    """The same evidence with one thing wrong in it is no longer clean."""
    assert FAULTS[fault](judge(fault(result.evidence)))


@pytest.mark.timeout(120)
def test_a_gateway_that_confirms_before_it_records_is_found(tmp_path: Path) -> None:
    """It dies between the two, and a person was told what nobody knows."""
    plan = Plan(kills=8, seed=3, points=("after:ack",), fault="ack_early", rest_s=10)

    found = carry_out(plan, tmp_path)

    assert any("was confirmed and is not in the ledger" in line for line in found.verdict.lost)


@pytest.mark.timeout(120)
def test_a_worker_that_runs_before_its_start_is_written_is_found(tmp_path: Path) -> None:
    """It dies between the two, and the next one runs the call again."""
    points = ("after:effect", "before:Finish")
    plan = Plan(kills=8, seed=3, points=points, fault="run_early", rest_s=10)

    found = carry_out(plan, tmp_path)

    assert any("had 2 effects" in line for line in found.verdict.doubled)
