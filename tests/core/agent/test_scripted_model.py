"""The scripted model keeps to its script, and to the promises of the model port."""

import pytest

from adapters.models.scripted import Call, Fail, Say, ScriptedModel, Think, scripted
from core.errors import ModelFailed, SetupRefused
from core.messages import ErrorType, user_msg
from core.ports import CallDelta, Model, ModelDone, ModelEvent, TextDelta, ThinkingDelta


async def turn_of(model: Model) -> list[ModelEvent]:
    """One turn."""
    return [event async for event in model.stream([user_msg("go")], [])]


async def test_it_streams_in_pieces_that_make_up_the_whole() -> None:
    """Whatever the size of a piece, byte for byte."""
    text, raw = "a text of some length", '{"a":  "b"}'

    for piece in (1, 3, 7, 100, 0):
        model = ScriptedModel([[Think("hm"), Say(text), Call("t", raw, "1")]], piece=piece)
        events = await turn_of(model)

        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == text
        assert "".join(e.text for e in events if isinstance(e, ThinkingDelta)) == "hm"
        assert "".join(e.input for e in events if isinstance(e, CallDelta)) == raw
        assert isinstance(events[-1], ModelDone)


async def test_it_says_its_last_word_when_the_script_is_over() -> None:
    """So a reply always ends."""
    model = ScriptedModel([], afterwards="that is all")

    events = await turn_of(model)

    assert events[0] == TextDelta("that is all")


async def test_it_fails_where_the_script_says_so() -> None:
    """As a provider would."""
    model = ScriptedModel([[Fail(ErrorType.RATE_LIMIT, "slow down")], [Say("hello")]])

    with pytest.raises(ModelFailed) as caught:
        await turn_of(model)

    assert caught.value.kind is ErrorType.RATE_LIMIT
    assert TextDelta("hello") in await turn_of(model)


def test_a_configuration_names_a_script() -> None:
    """`scripted:demo` is there; another is refused with those that are."""
    assert scripted("demo").name == "scripted:demo"

    with pytest.raises(SetupRefused, match="demo"):
        scripted("no such")
