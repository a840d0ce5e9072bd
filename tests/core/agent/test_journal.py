"""What the loop writes down before it acts, and that it obeys what the journal answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from adapters.models.scripted import Call, Say
from core.agent import (
    Agent,
    Answer,
    Fate,
    JudgedCall,
    Outcome,
    Refused,
    Started,
    approve,
    joined,
)
from core.errors import StoreUnavailable
from core.messages import (
    Msg,
    ReplyFinishedReason,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    user_msg,
)
from core.state import AgentState
from core.tools import Run
from tests.core.agent.samples import (
    SampleTool,
    agent,
    ask,
    calls,
    decide,
    last_msg,
    ok,
    results,
    start,
    types,
)


@dataclass
class Notebook:
    """A journal that remembers, in order, what it was told.

    Attributes:
        closed: calls that it lets nobody start.
        broken: names of methods that fail.
    """

    resumes: bool = True
    told: list[str] = field(default_factory=list[str])
    closed: set[str] = field(default_factory=set[str])
    broken: set[str] = field(default_factory=set[str])
    dumps: list[str] = field(default_factory=list[str])

    def _tell(self, method: str, words: str) -> None:
        if method in self.broken:
            raise StoreUnavailable("no answer")
        self.told.append(f"{method} {words}")

    async def turn(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Keep it."""
        self.dumps.append(state.model_dump_json())
        self._tell("turn", " ".join(f"{each.call.id}={each.fate}" for each in calls))

    async def check(self, state: AgentState, calls: Sequence[JudgedCall]) -> None:
        """Keep it."""
        self._tell("check", " ".join(f"{each.call.id}={each.fate}" for each in calls))

    async def start(self, call: ToolCallBlock) -> Started | Refused:
        """Keep it, and let it run unless it is closed."""
        self._tell("start", call.id)
        return Refused("lapsed") if call.id in self.closed else Started(7)

    async def finish(self, call: ToolCallBlock, run: int, result: ToolResultBlock) -> None:
        """Keep it."""
        self._tell("finish", f"{call.id} {run} {result.state}")


def noted(notebook: Notebook, turns: Sequence[Sequence[Call]], *tools: SampleTool) -> Agent:
    """An agent that writes there."""
    return agent(turns, *tools, journal=notebook)


async def test_a_turn_is_written_before_anything_of_it_is_asked_or_runs() -> None:
    """With the verdict of every call that was judged, and all others as waiting."""
    notebook = Notebook()
    tool = ok("step", concurrency_safe=False)
    friday = noted(
        notebook,
        [[*calls("ask", "1"), *calls("ok", "2"), *calls("gone", "3"), *calls("step", "4", "5")]],
        ask(),
        ok(),
        tool,
    )
    told_at: dict[str, int] = {}

    async for event in friday.reply_stream(user_msg("go")):
        if not isinstance(event, Msg):
            told_at.setdefault(event.type, len(notebook.told))

    assert notebook.told[0] == "turn 1=ask 2=run 3=refused 4=waiting 5=waiting"
    assert told_at["MODEL_CALL_END"] == 0
    assert told_at["REQUIRE_USER_CONFIRM"] >= 1


async def test_the_state_written_with_a_turn_says_what_is_asked() -> None:
    """Loaded elsewhere, the call waits for its answer."""
    notebook = Notebook()
    friday = noted(notebook, [calls("ask", "1")], ask())

    await start(friday)

    state = AgentState.model_validate_json(notebook.dumps[0])
    call = state.context[-1].content[0]
    assert isinstance(call, ToolCallBlock)
    assert call.state is ToolCallState.ASKING
    assert call.suggested_rules


async def test_a_run_is_written_before_it_starts_and_after_it_ended() -> None:
    """With the number that the journal gave it; a turn that was waiting is checked first."""
    notebook = Notebook()
    tool = ok("step", concurrency_safe=False)
    friday = noted(notebook, [calls("step", "1", "2")], tool)

    await start(friday)

    assert notebook.told == [
        "turn 1=run 2=waiting",
        "start 1",
        "finish 1 7 success",
        "check 2=run",
        "start 2",
        "finish 2 7 success",
    ]
    assert [run.number for run in tool.runs] == [7, 7]
    assert [run.key.split(":")[1] for run in tool.runs] == ["1", "2"]


async def test_a_task_is_started_and_never_finished_by_the_loop() -> None:
    """People give its result."""
    notebook = Notebook()
    friday = noted(notebook, [calls("ok", "1")], ok(external=True))

    await start(friday)

    assert notebook.told == ["turn 1=task", "start 1"]
    assert friday.awaiting[0].state is ToolCallState.SUBMITTED


async def test_a_call_that_may_not_start_stays_with_people() -> None:
    """No start is shown, nothing runs, and the reply waits."""
    notebook = Notebook(closed={"1"})
    tool = ask()
    friday = noted(notebook, [calls("ask", "1")], tool)
    await start(friday)

    events = await decide(friday, approve(friday.awaiting[0]))

    assert tool.ran == []
    assert types(events) == ["MSG"]
    assert [call.id for call in friday.awaiting] == ["1"]


@pytest.mark.parametrize("method", ["turn", "start"])
async def test_what_could_not_be_written_is_not_done(method: str) -> None:
    """The failure leaves the loop; no question was put and no tool ran."""
    notebook = Notebook(broken={method})
    tool = ok()
    friday = noted(notebook, [calls("ok", "1")], tool)
    seen: list[str] = []

    async def watch() -> None:
        async for event in friday.reply_stream(user_msg("go")):
            seen.extend(types([event]))

    with pytest.raises(StoreUnavailable):
        await watch()

    assert tool.ran == []
    assert "TOOL_RESULT_START" not in seen


async def test_a_sibling_runs_to_its_end_when_the_journal_fails_for_another() -> None:
    """What runs is not cut off by somebody else's failure."""
    notebook = Notebook(broken={"finish"})
    fast, slow = ok("fast"), ok("slow")
    slow.gate = fast.entered
    friday = noted(notebook, [[*calls("slow", "1"), *calls("fast", "2")]], fast, slow)

    with pytest.raises(StoreUnavailable):
        await start(friday)

    assert {each.state for each in results(friday).values()} == {ToolResultState.SUCCESS}


async def test_a_result_is_written_before_it_is_shown() -> None:
    """Whoever sees the end of a run can rely on it."""
    notebook = Notebook()
    friday = noted(notebook, [calls("ok", "1")], ok())

    async for event in friday.reply_stream(user_msg("go")):
        if not isinstance(event, Msg) and event.type == "TOOL_RESULT_END":
            assert notebook.told[-1] == "finish 1 7 success"


async def test_a_tool_that_is_cut_off_by_shutdown_proves_nothing() -> None:
    """The journal is not told that the call ended: its lease will say that nobody knows."""
    notebook = Notebook()
    slow = ok("slow")
    slow.gate = asyncio.Event()
    friday = noted(notebook, [calls("slow", "1")], slow)

    task = asyncio.get_running_loop().create_task(start(friday))
    await slow.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert notebook.told == ["turn 1=run", "start 1"]


async def test_a_resumed_reply_runs_what_the_ledger_approved() -> None:
    """The worker joins the ledger's answers and goes on; `start` is the gate."""
    notebook = Notebook()
    tool = ask("ask")
    friday = noted(notebook, [[*calls("ask", "1"), *calls("other", "2")]], tool, ask("other"))
    await start(friday)
    state = AgentState.model_validate_json(notebook.dumps[0])
    notebook.told.clear()
    approved = Answer("1", Outcome.APPROVED, input='{"x": 1}')
    worker = agent([], *friday.tools, state=joined(state, [approved]), journal=notebook)

    events = [each async for each in worker.resume(yield_final_msg=True)]

    assert tool.ran == [("ask", {"x": 1})]
    assert notebook.told == ["start 1", "finish 1 7 success"]
    assert last_msg(events).finished_reason is None
    assert [call.id for call in worker.awaiting] == ["2"]


async def test_a_resumed_reply_without_open_calls_asks_the_model() -> None:
    """All answers are in; the next turn begins."""
    notebook = Notebook()
    friday = noted(notebook, [calls("ask", "1")], ask())
    await start(friday)
    state = joined(friday.state, [Answer("1", Outcome.REJECTED, reason="no")])
    worker = agent([[Say("understood")]], *friday.tools, state=state, journal=notebook)

    events = [each async for each in worker.resume(yield_final_msg=True)]

    assert last_msg(events).text() == "understood"
    assert last_msg(events).finished_reason is ReplyFinishedReason.COMPLETED


async def test_a_resumed_reply_with_nothing_to_do_waits() -> None:
    """It was woken for nothing."""
    notebook = Notebook()
    friday = noted(notebook, [calls("ask", "1")], ask())
    await start(friday)
    worker = agent([], *friday.tools, state=friday.state, journal=notebook)

    events = [each async for each in worker.resume(yield_final_msg=True)]

    assert types(events) == ["MSG"]
    assert worker.model.turns_taken == 0  # type: ignore[attr-defined]


async def test_a_single_call_can_be_judged_and_run_beside_the_loop() -> None:
    """A worker starts what is granted meanwhile; neither state nor journal is touched."""
    notebook = Notebook()
    tool = ask()
    friday = noted(notebook, [], tool)
    call = ToolCallBlock(id="9", name="ask", input='{"a": 1}')
    before = friday.state.model_dump_json()

    fate = friday.judge_call(call).fate
    again = friday.recheck_call(call).fate
    ran = [each async for each in friday.run_call(call, Run("r", "9", 2))]

    assert (fate, again) == (Fate.ASK, Fate.RUN)
    *events, result = ran
    assert types(events) == [  # type: ignore[arg-type]
        "TOOL_RESULT_START",
        "TOOL_RESULT_TEXT_DELTA",
        "TOOL_RESULT_END",
    ]
    assert isinstance(result, ToolResultBlock)
    assert result.state is ToolResultState.SUCCESS
    assert tool.runs == [Run("r", "9", 2)]
    assert friday.state.model_dump_json() == before
    assert notebook.told == []


async def test_a_call_run_beside_that_no_longer_fits_is_an_error() -> None:
    """Its tool may be gone by now."""
    friday = agent([], ask())

    ran = [
        each
        async for each in friday.run_call(
            ToolCallBlock(id="9", name="gone", input="{}"), Run("r", "9")
        )
    ]

    result = ran[-1]
    assert isinstance(result, ToolResultBlock)
    assert result.state is ToolResultState.ERROR
