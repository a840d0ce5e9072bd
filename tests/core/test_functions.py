"""Tools from Python functions, and the box that holds them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from core.agent import Court, Fate, Stamps, context_judge, run_call
from core.errors import InvalidSchema, SetupRefused
from core.functions import FunctionTool, function_tool, tool
from core.messages import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from core.state import AgentState
from core.toolbox import Toolbox
from core.tools import Chunk, Run, Traits
from tests.core.agent.samples import POLICY, SampleTool


class Level(StrEnum):
    """How much."""

    LOW = "low"
    HIGH = "high"


class Line(BaseModel):
    """One line of an order."""

    model_config = ConfigDict(extra="forbid")

    sku: str
    count: Annotated[int, Field(ge=1)] = 1


@tool(title="Refund {amount} to {customer}", risk="high", destination=("customer",))
def refund(
    customer: str,
    amount: float,
    day: date,
    level: Level = Level.LOW,
    lines: list[Line] | None = None,
    title: str = "Refund",
) -> str:
    """Give money back.

    It goes to the card that was charged.

    Args:
        customer: who gets it.
        amount: in euros.
    """
    assert isinstance(day, date)
    assert isinstance(level, Level)
    assert lines is None or all(isinstance(line, Line) for line in lines)
    return f"{customer} {amount} {day.isoformat()} {level} {len(lines or [])} {title}"


async def result_of(made: FunctionTool, raw: str = "{}") -> ToolResultBlock:
    """What one run of it ends in."""
    court = Court(Toolbox([made]), context_judge(POLICY), Stamps())
    call = ToolCallBlock(id="1", name=made.name, input=raw)
    *_, last = [each async for each in run_call(call, Run("r", "1"), court)]
    assert isinstance(last, ToolResultBlock)
    return last


def text_of(result: ToolResultBlock) -> str:
    """Its text."""
    assert not isinstance(result.output, str)
    return "".join(each.text for each in result.output if isinstance(each, TextBlock))


def test_the_schema_comes_from_the_signature_and_the_words_from_the_docstring() -> None:
    """Closed to other keys, without the titles that only repeat a name."""
    schema: dict[str, Any] = dict(refund.input_schema)

    assert refund.name == "refund"
    assert refund.description == "Give money back.\n\nIt goes to the card that was charged."
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["customer", "amount", "day"]
    assert schema["properties"]["customer"] == {"description": "who gets it.", "type": "string"}
    assert schema["properties"]["title"] == {"default": "Refund", "type": "string"}
    assert "title" not in schema
    assert refund.traits == Traits(
        title="Refund {amount} to {customer}", risk="high", destination=("customer",)
    )


async def test_real_objects_are_passed_in() -> None:
    """What the annotations say, made from JSON."""
    raw = (
        '{"customer": "Ana", "amount": 2, "day": "2026-03-01", "level": "high",'
        ' "lines": [{"sku": "a"}, {"sku": "b", "count": 2}]}'
    )

    result = await result_of(refund, raw)

    assert text_of(result) == "Ana 2.0 2026-03-01 high 2 Refund"
    assert result.state is ToolResultState.SUCCESS


@pytest.mark.parametrize(
    "raw",
    [
        '{"customer": "Ana", "amount": 2}',
        '{"customer": "Ana", "amount": "much", "day": "2026-03-01"}',
        '{"customer": "Ana", "amount": 2, "day": "2026-03-01", "to": "me"}',
        '{"customer": "Ana", "amount": 2, "day": "someday"}',
        '{"customer": "Ana", "amount": 2, "day": "2026-03-01", "lines": [{"sku": "a", "n": 1}]}',
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_without_their_values(raw: str) -> None:
    """Also those that only the annotations can tell."""
    result = await result_of(refund, raw)

    assert result.state is ToolResultState.ERROR
    said = result.output if isinstance(result.output, str) else text_of(result)
    assert "someday" not in said
    assert "much" not in said


async def test_functions_of_every_kind_work() -> None:
    """Sync ones run in a thread and do not hold up the loop; generators stream."""
    threads: list[int] = []

    @tool
    def plain() -> dict[str, int]:
        threads.append(threading.get_ident())
        return {"a": 1}

    @tool
    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    @tool
    def pieces() -> Iterator[str]:
        threads.append(threading.get_ident())
        yield "a"
        yield "b"

    @tool
    async def stream() -> AsyncIterator[str]:
        yield "c"
        yield "d"

    @tool
    def nothing() -> None:
        """Says nothing."""

    texts = [text_of(await result_of(each)) for each in (plain, later, pieces, stream, nothing)]

    assert texts == ['{"a":1}', "later", "ab", "cd", ""]
    assert threading.get_ident() not in threads


async def test_what_a_function_raises_is_an_error_result() -> None:
    """After what it had said before."""

    @tool
    def breaks() -> Iterator[str]:
        yield "so far"
        raise LookupError("no such row")

    result = await result_of(breaks)

    assert result.state is ToolResultState.ERROR
    assert text_of(result) == "so far\nLookupError: no such row"


async def test_blocks_and_chunks_pass_through() -> None:
    """A picture, and a state that the function decides itself."""
    picture = DataBlock(source=Base64Source(data="QQ==", media_type="image/png"))

    @tool
    def looks() -> list[TextBlock | DataBlock]:
        return [TextBlock(text="see"), picture]

    @tool
    def declines() -> Chunk:
        return Chunk((TextBlock(text="no"),), ToolResultState.ERROR, {"code": 7})

    seen, declined = await result_of(looks), await result_of(declines)

    assert seen.output[1] == picture
    assert declined.state is ToolResultState.ERROR
    assert declined.metadata == {"code": 7}


async def test_a_function_can_know_which_run_it_is() -> None:
    """For an idempotency key; the model is not told of the parameter."""

    @tool(idempotent=True)
    def pay(run: Run, amount: int = 1) -> str:
        return run.key

    assert set(pay.input_schema["properties"]) == {"amount"}
    assert text_of(await result_of(pay)) == "r:1"


@pytest.mark.parametrize("word", ["model_config", "_hidden", "schema", "self_", "json"])
def test_any_parameter_name_works(word: str) -> None:
    """Also those that pydantic keeps for itself."""
    scope: dict[str, Any] = {}
    exec(f"def f({word}: int) -> int:\n    return {word}", scope)  # noqa: S102 - a name in a name

    made = function_tool(scope["f"])

    assert list(made.input_schema["properties"]) == [word]
    assert asyncio.run(result_of(made, f'{{"{word}": 3}}')).state is ToolResultState.SUCCESS


def test_functions_that_cannot_be_described_are_refused() -> None:
    """At start, not when the model calls."""

    def stars(*args: int) -> None: ...
    def pairs(**kwargs: int) -> None: ...
    def first(a: int, /) -> None: ...
    def odd(a: threading.Lock) -> None: ...
    def unknown(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    for each in (stars, pairs, first, odd, unknown):
        with pytest.raises(SetupRefused):
            function_tool(each)


def test_a_tool_is_still_a_function() -> None:
    """It can be called and tested as one."""

    @tool(read_only=True)
    def twice(n: Literal[1, 2]) -> int:
        """Double."""
        return 2 * n

    assert twice(2) == 4


def test_traits_reach_the_judge() -> None:
    """Read-only runs without a question, the others ask."""

    @tool(read_only=True)
    def look() -> str:
        return ""

    @tool
    def touch() -> str:
        return ""

    court = Court(Toolbox([look, touch]), context_judge(POLICY), Stamps())
    fates = [
        court.try_call(ToolCallBlock(id="1", name=name, input=""), AgentState()).fate
        for name in ("look", "touch")
    ]

    assert fates == [Fate.RUN, Fate.ASK]


def test_a_name_means_one_tool() -> None:
    """Rules and decisions go by the name."""
    with pytest.raises(SetupRefused, match="same"):
        Toolbox([SampleTool("same"), SampleTool("same")])
    with pytest.raises(SetupRefused):
        Toolbox([SampleTool("")])
    with pytest.raises(InvalidSchema):
        Toolbox([SampleTool("bad", input_schema={"type": "no type"})])


def test_a_box_finds_and_lists() -> None:
    """By exact name, in the order given."""
    one, two = SampleTool("One"), SampleTool("two")
    box = Toolbox([one, two])

    assert box.find("One") is one
    assert box.find("one") is None
    assert [spec.name for spec in box.specs] == ["One", "two"]
    assert (len(box), "two" in box) == (2, True)
