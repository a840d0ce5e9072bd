"""Answers: what is taken, what is refused in whole, and that a refusal changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.models.scripted import Call
from core.agent import (
    Agent,
    Answer,
    Decision,
    Outcome,
    answer,
    approve,
    joined,
    reject,
)
from core.errors import ForeignReply, KeyturnError, NotWaiting, ResumeRefused, UnknownCall
from core.events import ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent
from core.messages import ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.tools import Traits
from tests.core.agent.samples import (
    ALLOWED,
    SampleTool,
    agent,
    ask,
    calls,
    decide,
    dumped,
    ok,
    results,
    send,
    start,
)

NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
BADGE = {"type": "object", "properties": {"badge": {"type": "string"}}, "required": ["badge"]}


async def parked() -> tuple[Agent, SampleTool]:
    """An agent that waits for a decision about one call of `ask`, input `{"n": 1}`."""
    tool = SampleTool("ask", input_schema=NUMBER)
    friday = agent([[Call("ask", '{"n": 1}', "1")]], tool, ok())
    await start(friday)
    return friday, tool


def rule(behavior: str = "allow", tool: str = "ask") -> PermissionRule:
    """A rule over a whole tool."""
    return PermissionRule(
        tool_name=tool, rule_content=None, behavior=PermissionBehavior(behavior), source="web"
    )


def confirm(friday: Agent, *parts: ConfirmResult, **more: Any) -> UserConfirmResultEvent:
    """An answer as a foreign client writes it."""
    given = {"reply_id": friday.state.reply_context.reply_id, **more}
    return UserConfirmResultEvent(confirm_results=list(parts), **given)


def yes(
    call: ToolCallBlock, rules: list[PermissionRule] | None = None, **edit: Any
) -> ConfirmResult:
    """A plain yes, with words of the call changed."""
    return ConfirmResult(confirmed=True, tool_call=call.model_copy(update=edit), rules=rules)


Refusal = tuple[type[KeyturnError], Callable[[Agent, ToolCallBlock], UserConfirmResultEvent]]

REFUSALS: dict[str, Refusal] = {
    "of another reply": (ForeignReply, lambda f, c: confirm(f, yes(c), reply_id="other")),
    "an unknown call": (UnknownCall, lambda f, c: confirm(f, yes(c, id="zz"))),
    "a known and an unknown call": (
        UnknownCall,
        lambda f, c: confirm(f, yes(c), yes(c, id="zz")),
    ),
    "one call twice": (ResumeRefused, lambda f, c: confirm(f, yes(c), yes(c))),
    "another tool": (ResumeRefused, lambda f, c: confirm(f, yes(c, name="ok"))),
    "a rule that was not offered": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c, rules=[rule(tool="ok")])),
    ),
    "an offered rule turned around": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c, rules=[rule("deny")])),
    ),
    "an edit that is no JSON": (ResumeRefused, lambda f, c: confirm(f, yes(c, input="{"))),
    "an edit with a key twice": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c, input='{"n": 1, "n": 2}')),
    ),
    "an edit that does not fit": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c, input='{"n": "one"}')),
    ),
    "an edit with a field too many": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c, input='{"n": 1, "m": 2}')),
    ),
    "metadata that contradicts it": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c), metadata={"keyturn": {"1": {"outcome": "rejected"}}}),
    ),
    "metadata that can't be read": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c), metadata={"keyturn": {"1": {"reason": 7}}}),
    ),
    "metadata of another shape": (
        ResumeRefused,
        lambda f, c: confirm(f, yes(c), metadata={"keyturn": ["1"]}),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_an_answer_that_cannot_be_taken_changes_nothing(case: str) -> None:
    """The approver gets the error; the call stays parked, and a good answer is still taken."""
    friday, tool = await parked()
    before = dumped(friday)
    error, make = REFUSALS[case]

    with pytest.raises(error):
        await send(friday, make(friday, friday.awaiting[0]))

    assert dumped(friday) == before
    assert tool.ran == []
    await decide(friday, approve(friday.awaiting[0]))
    assert tool.ran == [("ask", {"n": 1})]


async def test_a_refusal_never_quotes_the_input() -> None:
    """It may be a secret, and errors go to logs."""
    friday, _ = await parked()
    secret = "sk" + "-live-1234"

    with pytest.raises(ResumeRefused) as caught:
        await send(friday, confirm(friday, yes(friday.awaiting[0], input=f'{{"n": "{secret}"}}')))

    assert secret not in str(caught.value)


async def test_an_edit_may_not_add_what_the_tool_does_not_declare() -> None:
    """Also where the schema leaves other keys open: a slip of the keyboard is a fault."""
    tool = SampleTool("ask", input_schema={"type": "object", "properties": {"n": {}}})
    friday = agent([[Call("ask", '{"n": 1}', "1")]], tool)
    await start(friday)

    with pytest.raises(ResumeRefused):
        await decide(friday, approve(friday.awaiting[0], input='{"n": 1, "m": 2}'))
    with pytest.raises(ResumeRefused):
        await decide(friday, approve(friday.awaiting[0], input='{"n": "a\\u202eb"}'))


async def test_an_edit_that_is_denied_is_refused_and_the_call_stays_parked() -> None:
    """Deny rules are asked about the edited input, not only about the first one."""
    friday, tool = await parked()
    friday.state.permission_context.deny_rules["ask"] = [
        PermissionRule(
            tool_name="ask", rule_content="n=7", behavior=PermissionBehavior.DENY, source="ops"
        )
    ]

    with pytest.raises(ResumeRefused):
        await decide(friday, approve(friday.awaiting[0], input='{"n": 7}'))
    await decide(friday, approve(friday.awaiting[0], input='{"n": 8}'))

    assert tool.ran == [("ask", {"n": 8})]


async def test_what_is_denied_by_the_time_it_is_approved_does_not_run() -> None:
    """The mode has changed while people thought: the result says no, and the reply goes on."""
    friday, tool = await parked()
    friday.state.permission_context.deny_rules["ask"] = [rule("deny")]

    await decide(friday, approve(friday.awaiting[0]))

    assert tool.ran == []
    assert results(friday)["1"].state is ToolResultState.DENIED


async def test_the_edited_input_is_what_runs_and_what_is_kept() -> None:
    """The conversation shows what ran."""
    friday, tool = await parked()

    await decide(friday, approve(friday.awaiting[0], input='{ "n": 2 }'))

    assert tool.ran == [("ask", {"n": 2})]
    call = friday.state.context[-1].content[0]
    assert isinstance(call, ToolCallBlock)
    assert call.input == '{ "n": 2 }'


async def test_an_offered_rule_is_kept_once_and_only_with_a_yes() -> None:
    """Rules beside a no fall away; ticking one twice does not double it."""
    tool = ask()
    friday = agent([calls("ask", "1"), calls("ask", "2"), calls("ask", "3")], tool)
    await start(friday)
    await send(
        friday,
        confirm(
            friday,
            ConfirmResult(confirmed=False, tool_call=friday.awaiting[0], rules=[rule()]),
        ),
    )
    kept_after_no = dict(friday.state.permission_context.allow_rules)

    assert kept_after_no == {}


async def test_ticked_rules_do_not_pile_up() -> None:
    """The same rule ticked twice is one rule."""
    one, two = ask("ask"), ask("ask2")
    friday = agent([[*calls("ask", "1"), *calls("ask2", "2")]], one, two)
    await start(friday)
    call = friday.awaiting[0]

    await send(friday, confirm(friday, yes(call, rules=[rule(), rule()])))

    assert friday.state.permission_context.allow_rules == {"ask": [rule()]}


async def test_a_finished_call_takes_no_second_answer() -> None:
    """The first decision stands."""
    one, two = ask("ask"), ask("ask2")
    friday = agent([[*calls("ask", "1"), *calls("ask2", "2")]], one, two)
    await start(friday)
    first = friday.awaiting[0]
    await decide(friday, approve(first))
    before = dumped(friday)

    with pytest.raises(NotWaiting):
        await decide(friday, reject(first))

    assert dumped(friday) == before
    assert len(one.ran) == 1


async def test_nothing_waits_so_nothing_is_taken() -> None:
    """Before the first reply, and after the last."""
    friday = agent([])

    with pytest.raises(NotWaiting):
        await send(friday, confirm(friday))
    await start(friday)
    with pytest.raises(NotWaiting):
        await send(friday, confirm(friday))


async def test_an_empty_answer_only_says_that_the_reply_waits() -> None:
    """As the reference does."""
    friday, _ = await parked()

    events = await send(friday, confirm(friday))

    assert len(events) == 1
    assert len(friday.awaiting) == 1


async def test_a_call_that_stands_behind_another_cannot_be_answered_yet() -> None:
    """It has not been asked."""
    friday = agent([calls("ask", "1", "2")], ask())
    await start(friday)
    second = friday.awaiting[0].model_copy(update={"id": "2"})

    with pytest.raises(NotWaiting):
        await send(friday, confirm(friday, yes(second)))


def done(
    call_id: str, state: ToolResultState = ToolResultState.SUCCESS, **more: Any
) -> ToolResultBlock:
    """What came of a task."""
    return ToolResultBlock(id=call_id, name="task", output="done", state=state, **more)


async def with_tasks(*ids: str) -> Agent:
    """An agent that waits for people to do these."""
    tool = SampleTool("task", ALLOWED, Traits(external=True, result_schema=BADGE))
    friday = agent([calls("task", *ids)], tool)
    await start(friday)
    return friday


def results_event(friday: Agent, *blocks: ToolResultBlock) -> ExternalExecutionResultEvent:
    """Results for the present reply."""
    return ExternalExecutionResultEvent(
        reply_id=friday.state.reply_context.reply_id, execution_results=list(blocks)
    )


GOOD = {"badge": "7"}


@pytest.mark.parametrize(
    "blocks",
    [
        [done("1", metadata=GOOD), done("2", metadata={"badge": 7})],
        [done("1", metadata=GOOD), done("2")],
        [done("1", metadata=GOOD), done("9", metadata=GOOD)],
        [done("1", metadata=GOOD), done("1", metadata=GOOD)],
        [done("1", ToolResultState.RUNNING, metadata=GOOD)],
        [done("1", metadata=GOOD).model_copy(update={"name": "other"})],
    ],
    ids=["wrong metadata", "no metadata", "unknown", "twice", "still running", "another tool"],
)
async def test_results_are_taken_together_or_not_at_all(blocks: list[ToolResultBlock]) -> None:
    """One result of an event that does not fit, and none of it is taken."""
    friday = await with_tasks("1", "2")
    before = dumped(friday)

    with pytest.raises(ResumeRefused):
        await send(friday, results_event(friday, *blocks))

    assert dumped(friday) == before


async def test_a_failed_task_needs_no_metadata() -> None:
    """The schema speaks of what was done."""
    friday = await with_tasks("1")

    await send(friday, results_event(friday, done("1", ToolResultState.ERROR)))

    assert results(friday)["1"].state is ToolResultState.ERROR


async def test_a_task_takes_no_decision_and_a_question_no_result() -> None:
    """They wait for different things."""
    friday = await with_tasks("1")
    with pytest.raises(NotWaiting):
        await send(friday, confirm(friday, yes(friday.awaiting[0])))

    asked, _ = await parked()
    with pytest.raises(NotWaiting):
        await send(asked, results_event(asked, done("1")))


async def test_another_agents_reply_can_neither_be_answered_nor_buried() -> None:
    """The state was loaded under another name."""
    friday, _ = await parked()
    friday.name = "Saturday"

    with pytest.raises(ForeignReply):
        await decide(friday, approve(friday.awaiting[0]))


OUTCOMES: dict[Outcome, ToolResultState] = {
    Outcome.REJECTED: ToolResultState.DENIED,
    Outcome.DENIED: ToolResultState.DENIED,
    Outcome.EXPIRED: ToolResultState.DENIED,
    Outcome.UNKNOWN: ToolResultState.ERROR,
    Outcome.CANCELLED: ToolResultState.INTERRUPTED,
}


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_a_ledgers_answers_join_the_conversation(outcome: Outcome) -> None:
    """Every outcome has its own words and names itself; the state given stays as it is."""
    friday, _ = await parked()
    before = dumped(friday)

    state = joined(friday.state, [Answer("1", outcome, reason="because", actor="ana")])

    assert dumped(friday) == before
    friday.state = state
    result = results(friday)["1"]
    assert result.state is OUTCOMES[outcome]
    assert result.metadata["keyturn"]["outcome"] == outcome.value
    assert state.reply_context.cur_iter == 1


async def test_words_of_final_results_differ() -> None:
    """A model can tell a no from silence, and both from a run that nobody can prove."""
    friday, _ = await parked()

    texts = set()
    for outcome in OUTCOMES:
        state = joined(friday.state, [Answer("1", outcome)])
        texts.add(state.context[-1].content[-1].output)  # type: ignore[union-attr]

    assert len(texts) == len(OUTCOMES)


async def test_joining_twice_is_joining_once() -> None:
    """A finished call never changes again, whatever the ledger is said to hold."""
    friday, _ = await parked()
    once = joined(friday.state, [Answer("1", Outcome.REJECTED)])

    twice = joined(once, [Answer("1", Outcome.APPROVED), Answer("1", Outcome.EXPIRED)])

    assert twice.model_dump() == once.model_dump()


async def test_joining_an_approval_with_an_edit_makes_the_call_ready_to_run() -> None:
    """The worker checks it once more before it starts."""
    friday, _ = await parked()

    state = joined(friday.state, [Answer("1", Outcome.APPROVED, input='{"n": 5}')])

    call = state.context[-1].content[0]
    assert isinstance(call, ToolCallBlock)
    assert (call.state, call.input) == (ToolCallState.ALLOWED, '{"n": 5}')


async def test_a_ledger_of_another_reply_is_not_joined() -> None:
    """It names calls that are not there."""
    friday, _ = await parked()

    with pytest.raises(UnknownCall):
        joined(friday.state, [Answer("zz", Outcome.EXPIRED)])


async def test_an_answer_survives_the_wire() -> None:
    """Reason, outcome and actor are in the metadata, which comes back as it went."""
    friday, _ = await parked()
    decision: Decision = reject(friday.awaiting[0], reason="no", actor="ana")
    event = answer(friday.state.reply_context.reply_id, decision)

    await send(friday, UserConfirmResultEvent.model_validate_json(event.model_dump_json()))

    assert results(friday)["1"].metadata["keyturn"] == {
        "outcome": "rejected",
        "reason": "no",
        "actor": "ana",
    }


answers = st.builds(
    Answer,
    call_id=st.sampled_from(["1", "2", "3"]),
    outcome=st.sampled_from([each for each in Outcome if each is not Outcome.DONE]),
    input=st.sampled_from([None, "{}", '{"a": 1}', "{"]),
    reason=st.sampled_from([None, "", "no"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(answers, max_size=4), max_size=5))
async def test_a_finished_call_never_changes_again(rounds: list[list[Answer]]) -> None:
    """Whatever a ledger says in whatever order: one result for a call, and then it stays."""
    friday = agent([[*calls("a", "1"), *calls("b", "2"), *calls("c", "3")]], *map(ask, "abc"))
    await start(friday)
    seen: dict[str, str] = {}

    for given_answers in rounds:
        friday.state = joined(friday.state, given_answers)
        blocks = friday.state.context[-1].content
        finished = {
            each.id: each.model_dump_json()
            for each in blocks
            if isinstance(each, ToolCallBlock) and each.state is ToolCallState.FINISHED
        }
        ended = {f"r{key}": each.model_dump_json() for key, each in results(friday).items()}

        assert seen.items() <= {**finished, **ended}.items()
        assert sorted(finished) == sorted(results(friday))
        seen = {**finished, **ended}
