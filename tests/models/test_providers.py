"""Models of providers, asked through their real clients over real sockets."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pytest

from adapters.models.providers import open_model
from adapters.models.pydantic_ai import ProviderModel
from core.errors import ModelFailed, SetupRefused
from core.messages import (
    Base64Source,
    DataBlock,
    ErrorType,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    user_msg,
)
from core.ports import (
    CallDelta,
    ModelDone,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolChoice,
    ToolSpec,
)
from tests.models.servers import Answer, Server, anthropic, openai, refusal, serving, tool

BASH = ToolSpec(
    "Bash",
    "Run it.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
KEY = "k-" + "3" * 20


class QuickClock:
    """Notes the pauses instead of waiting."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return sum(self.pauses)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@asynccontextmanager
async def asking(provider: str, *answers: Answer) -> AsyncIterator[tuple[ProviderModel, Server]]:
    async with serving(*answers) as server:
        path = "/openai" if provider == "openai" else ""
        model = open_model(
            f"{provider}:m",
            clock=QuickClock(),
            chance=lambda: 1.0,
            api_key=KEY,
            base_url=server.url + path,
        )
        try:
            yield model, server
        finally:
            await model.close()


async def turn(
    model: ProviderModel, *messages: Msg, choice: ToolChoice = "auto"
) -> list[ModelEvent]:
    return [event async for event in model.stream(messages or [user_msg("hi")], [BASH], choice)]


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls(events: list[ModelEvent]) -> list[tuple[str, str, str]]:
    deltas = sorted(
        (event for event in events if isinstance(event, CallDelta)), key=lambda event: event.index
    )
    found: list[tuple[str, str, str]] = []
    for _, group in groupby(deltas, key=lambda event: event.index):
        pieces = list(group)
        found.append((pieces[0].call_id, pieces[0].name, "".join(one.input for one in pieces)))
    return found


ODD = '{ "command" :\t"echo \\u00e9 \\ud83d\\ude00" , "n":1.0 }'


async def test_openai_streams_text_and_parallel_calls() -> None:
    """The first piece is not lost, calls are told apart, their input is as written to the byte."""
    answer = openai(
        {"role": "assistant", "content": "I "},
        {"content": "look."},
        tool(0, "", "c1", "Bash"),
        tool(0, ODD[:9]),
        tool(0, ODD[9:]),
        tool(1, '{"command":', "c2", "Bash"),
        tool(1, ' "ls"}'),
        finish="tool_calls",
    )
    async with asking("openai", answer) as (model, server):
        events = await turn(model)

    assert text(events) == "I look."
    assert calls(events) == [("c1", "Bash", ODD), ("c2", "Bash", '{"command": "ls"}')]
    done = events[-1]
    assert isinstance(done, ModelDone)
    assert done.finished == "completed"
    assert done.usage.model_dump() == {
        "input_tokens": 11,
        "output_tokens": 7,
        "cache_input_tokens": 4,
        "cache_creation_input_tokens": 0,
    }
    assert server.keys == [f"Bearer {KEY}"]
    assert server.asked[0]["tools"][0]["function"]["parameters"]["required"] == ["command"]


async def test_anthropic_streams_thinking_text_and_calls() -> None:
    """Signatures come with the thought they sign; a call without arguments has an empty input."""
    answer = anthropic(
        {
            "type": "thinking",
            "thinking": "",
            "signature": "",
            "deltas": [
                {"type": "thinking_delta", "thinking": "let me "},
                {"type": "thinking_delta", "thinking": "see"},
                {"type": "signature_delta", "signature": "signed"},
            ],
        },
        {"type": "text", "text": "", "deltas": [{"type": "text_delta", "text": "so"}]},
        {
            "type": "tool_use",
            "id": "c1",
            "name": "Bash",
            "input": {},
            "deltas": [
                {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": ODD[:20]},
                {"type": "input_json_delta", "partial_json": ODD[20:]},
            ],
        },
        {"type": "tool_use", "id": "c2", "name": "Bash", "input": {}, "deltas": []},
        stop="tool_use",
    )
    async with asking("anthropic", answer) as (model, server):
        events = await turn(model)

    thoughts = [event for event in events if isinstance(event, ThinkingDelta)]
    assert "".join(event.text for event in thoughts) == "let me see"
    assert thoughts[-1].extra["parts"] == [
        {"length": 10, "signature": "signed", "provider_name": "anthropic"}
    ]
    assert text(events) == "so"
    assert calls(events) == [("c1", "Bash", ODD), ("c2", "Bash", "")]
    assert KEY in server.keys[0]


def conversation() -> list[Msg]:
    """Two rounds: a signed thought, two calls, their results, a hint, and the next question."""
    thought = ThinkingBlock.model_validate(
        {
            "thinking": "abcd",
            "parts": [
                {"length": 3, "signature": "s1", "provider_name": "anthropic"},
                {"length": 1, "signature": "s2", "provider_name": "anthropic"},
            ],
        }
    )
    picture = DataBlock(source=Base64Source(data="aGk=", media_type="image/png"))
    link = DataBlock(source=URLSource(url="http://example.invalid/x", media_type="image/png"))
    reply = Msg(
        name="ops",
        role="assistant",
        content=[
            thought,
            TextBlock(text="first"),
            ToolCallBlock(id="c1", name="Bash", input='{"command": "ls"}'),
            ToolCallBlock(id="c2", name="Bash", input="not json"),
            HintBlock(hint="be quick"),
            ToolResultBlock(id="c1", name="Bash", output="a.txt", state=ToolResultState.SUCCESS),
            ToolResultBlock(
                id="c2",
                name="Bash",
                output=[TextBlock(text="denied: "), picture, link],
                state=ToolResultState.ERROR,
            ),
            TextBlock(text="second"),
        ],
    )
    system = Msg(name="system", role="system", content=[TextBlock(text="You look after it.")])
    return [system, user_msg("look"), reply, user_msg("and now?")]


async def test_a_conversation_reaches_openai_in_its_order() -> None:
    """Results stand right after their calls; the hint and the next question are the user's."""
    async with asking("openai", openai({"content": "ok"})) as (model, server):
        await turn(model, *conversation())

    sent = server.asked[0]["messages"]
    assert [message["role"] for message in sent[:6]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert [call["id"] for call in sent[2]["tool_calls"]] == ["c1", "c2"]
    assert [(message["tool_call_id"]) for message in sent[3:5]] == ["c1", "c2"]
    assert sent[3]["content"] == "a.txt"
    assert sent[-1] == {"role": "user", "content": "and now?"}
    assert "http://example.invalid/x" in str(sent)
    assert "'image_url': {'url': 'http://example.invalid" not in str(sent)
    assert "be quick" in str(sent[5:])


async def test_signed_thoughts_go_back_to_anthropic_as_they_came() -> None:
    """Each part with its own text and signature; an unreadable input does not stop the request."""
    async with asking("anthropic", anthropic()) as (model, server):
        await turn(model, *conversation())

    sent = server.asked[0]["messages"]
    assert sent[1]["content"][:2] == [
        {"type": "thinking", "thinking": "abc", "signature": "s1"},
        {"type": "thinking", "thinking": "d", "signature": "s2"},
    ]
    results = [part for part in sent[2]["content"] if part["type"] == "tool_result"]
    assert [(part["tool_use_id"], part["is_error"]) for part in results] == [
        ("c1", False),
        ("c2", True),
    ]
    assert sent[2]["content"][:2] == results


async def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    """Providers refuse a history with an open call; a stopped reply may leave one."""
    reply = Msg(
        name="ops",
        role="assistant",
        content=[ToolCallBlock(id="c1", name="Bash", input="{}")],
    )
    async with asking("openai", openai({"content": "ok"})) as (model, server):
        await turn(model, user_msg("a"), reply, user_msg("b"))

    assert [message["role"] for message in server.asked[0]["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]


async def test_a_block_that_changed_is_converted_again() -> None:
    """What is remembered of a turn is never used for other content under the same id."""
    reply = Msg(name="ops", role="assistant", content=[TextBlock(text="old", finished_at="x")])
    async with asking("openai", *[openai({"content": "ok"})] * 3) as (model, server):
        await turn(model, user_msg("a"), reply, user_msg("b"))
        await turn(model, user_msg("a"), Msg.model_validate(reply.model_dump()), user_msg("b"))
        block = reply.content[0]
        assert isinstance(block, TextBlock)
        block.text = "new"
        await turn(model, user_msg("a"), reply, user_msg("b"))

    assert [asked["messages"][1]["content"] for asked in server.asked] == ["old", "old", "new"]


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
async def test_the_tool_choice_is_handed_on(choice: ToolChoice) -> None:
    """None means that no tool may be called, even if the history has calls."""
    async with asking("openai", openai({"content": "ok"})) as (model, server):
        await turn(model, choice=choice)

    asked = server.asked[0]
    if choice == "none":
        assert asked.get("tool_choice") == "none" or not asked.get("tools")
    else:
        assert asked.get("tool_choice", "auto") == choice


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_busy_provider_is_asked_again(provider: str) -> None:
    """Pauses double, a wish of the provider is honoured, and the answer comes once."""
    answer = (
        openai({"content": "ok"})
        if provider == "openai"
        else anthropic(
            {"type": "text", "text": "", "deltas": [{"type": "text_delta", "text": "ok"}]}
        )
    )
    async with asking(
        provider,
        refusal(429, "rate_limit_error"),
        refusal(429, "rate_limit_error", retry_after="7"),
        refusal(529, "overloaded_error"),
        answer,
    ) as (model, server):
        events = await turn(model)

    assert text(events) == "ok"
    assert len(server.asked) == 4
    assert isinstance(model.clock, QuickClock)
    assert model.clock.pauses == [0.5, 7.0, 2.0]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("answer", "kind", "asked"),
    [
        (refusal(401, "invalid_api_key"), ErrorType.AUTHENTICATION, 1),
        (refusal(403, "permission_error"), ErrorType.PERMISSION, 1),
        (refusal(400, "invalid_request_error"), ErrorType.INVALID_REQUEST, 1),
        (refusal(404, "not_found_error"), ErrorType.INVALID_REQUEST, 1),
        (refusal(429, "rate_limit_error", "3600"), ErrorType.RATE_LIMIT, 1),
        (refusal(500, "api_error"), ErrorType.UPSTREAM, 5),
    ],
)
async def test_a_refusal_is_named_without_quoting_it(
    provider: str, answer: Answer, kind: ErrorType, asked: int
) -> None:
    """The kind, the status and the code; neither the key nor the provider's prose."""
    async with asking(provider, *[answer] * 5) as (model, server):
        with pytest.raises(ModelFailed) as caught:
            await turn(model)

    assert caught.value.kind is kind
    assert len(server.asked) == asked
    assert f"{provider}:m" in str(caught.value)
    assert f"status {answer.status}" in str(caught.value)
    assert "what was said" not in str(caught.value)
    assert KEY not in str(caught.value)


async def collect(model: ProviderModel, seen: list[ModelEvent]) -> None:
    async for event in model.stream([user_msg("hi")], [BASH]):
        seen.append(event)  # noqa: PERF401 - what came before a failure counts


CUT_CALL: dict[str, Any] = {
    "type": "tool_use",
    "id": "c1",
    "name": "Bash",
    "input": {},
    "deltas": [{"type": "input_json_delta", "partial_json": '{"comm'}],
}


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("openai", openai({"content": "I "}, tool(0, '{"a', "c1", "Bash"), cut=True, finish=None)),
        ("openai", openai({"content": "I "}, tool(0, "", "c1", "Bash"), finish=None)),
        ("openai", openai({"content": "I "}, tool(0, "", "c1", "Bash"), finish="length")),
        ("openai", openai({"content": "I "}, finish="content_filter")),
        ("anthropic", anthropic(CUT_CALL, cut=True)),
        ("anthropic", anthropic(CUT_CALL, stop=None)),
        ("anthropic", anthropic(CUT_CALL, stop="max_tokens")),
    ],
)
async def test_a_turn_that_breaks_off_is_a_failure(provider: str, answer: Answer) -> None:
    """Half of a call never looks like a whole one; what was shown is not asked for again."""
    seen: list[ModelEvent] = []
    async with asking(provider, answer, answer) as (model, server):
        with pytest.raises(ModelFailed) as caught:
            await collect(model, seen)

    assert caught.value.kind in {ErrorType.UPSTREAM, ErrorType.CONNECTION}
    assert seen
    assert not any(isinstance(event, ModelDone) for event in seen)
    assert len(server.asked) == 1


async def test_text_that_reaches_its_limit_is_interrupted() -> None:
    """The reply can be used, and says that it is not whole."""
    async with asking("openai", openai({"content": "long"}, finish="length")) as (model, _):
        events = await turn(model)

    done = events[-1]
    assert isinstance(done, ModelDone)
    assert done.finished == "interrupted"


async def test_a_server_that_is_not_there_is_a_failed_connection() -> None:
    """After all tries."""
    clock = QuickClock()
    model = open_model(
        "openai:m", clock=clock, chance=lambda: 0.0, base_url="http://127.0.0.1:1/openai"
    )
    with pytest.raises(ModelFailed) as caught:
        await turn(model)
    await model.close()

    assert caught.value.kind is ErrorType.CONNECTION
    assert clock.pauses == [0.25, 0.5, 1.0, 2.0]


@pytest.mark.parametrize("name", ["gpt-5", "mistral:x", "openai:", "scripted:demo"])
def test_an_unknown_name_is_refused(name: str) -> None:
    """With the names there are."""
    with pytest.raises(SetupRefused, match="openai:MODEL"):
        open_model(name, clock=QuickClock(), chance=lambda: 0.0, api_key=KEY)


def test_a_missing_key_and_a_missing_extra_name_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The variable to set, the package to install."""
    with pytest.raises(SetupRefused, match="ANTHROPIC_API_KEY"):
        open_model("anthropic:m", clock=QuickClock(), chance=lambda: 0.0)

    for name in ("anthropic", "adapters.models.anthropic"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SetupRefused, match=r"keyturn\[anthropic\]"):
        open_model("anthropic:m", clock=QuickClock(), chance=lambda: 0.0, api_key=KEY)
