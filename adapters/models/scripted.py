"""A model that says what it was told to say: for demos, tests and rehearsals."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from core.errors import ModelFailed, SetupRefused
from core.messages import ErrorType, Msg, Usage
from core.ports import (
    CallDelta,
    ModelDone,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolChoice,
    ToolSpec,
)

PIECE = 24
"""Characters per piece that it streams."""


@dataclass(frozen=True, slots=True)
class Say:
    """It writes a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """It thinks; `extra` is a provider's signature."""

    text: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Call:
    """It asks for a call; `input` is raw, so it may be anything. Without an id it makes one."""

    tool: str
    input: str = "{}"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """The provider fails here."""

    kind: ErrorType = ErrorType.UPSTREAM
    message: str = "The provider could not be reached."


@dataclass(frozen=True, slots=True)
class Wait:
    """It takes this many seconds before it goes on; `inf` waits until it is stopped."""

    seconds: float


Part: TypeAlias = Say | Think | Call | Fail | Wait
Turn: TypeAlias = Sequence[Part]


@dataclass(slots=True)
class ScriptedModel:
    """Plays its turns in order; after the last one it says `afterwards`.

    Attributes:
        piece: characters per streamed piece; 0 streams everything whole.
        choices: what it was allowed to do, turn by turn.
        seen: how many messages each turn was given.
    """

    turns: Sequence[Turn]
    afterwards: str = "done"
    name: str = "scripted"
    piece: int = PIECE
    choices: list[ToolChoice] = field(default_factory=list[ToolChoice])
    seen: list[int] = field(default_factory=list[int])
    _next: int = 0

    @property
    def turns_taken(self) -> int:
        """How often it was asked."""
        return self._next

    async def stream(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSpec],
        choice: ToolChoice = "auto",
    ) -> AsyncIterator[ModelEvent]:
        """The next turn.

        Raises:
            ModelFailed: where the script says so.
        """
        number, self._next = self._next, self._next + 1
        self.choices.append(choice)
        self.seen.append(len(messages))
        turn = self.turns[number] if number < len(self.turns) else (Say(self.afterwards),)
        written = 0
        for index, part in enumerate(turn):
            if isinstance(part, Fail):
                raise ModelFailed(part.kind, part.message)
            if isinstance(part, Wait):
                await _wait(part.seconds)
                continue
            for event in self._pieces(part, index, number):
                written += 1
                yield event
        yield ModelDone(Usage(input_tokens=len(messages), output_tokens=written))

    def _pieces(self, part: Say | Think | Call, index: int, turn: int) -> Sequence[ModelEvent]:
        if isinstance(part, Say):
            return [TextDelta(piece) for piece in self._cut(part.text)]
        if isinstance(part, Think):
            return [
                *(ThinkingDelta(piece) for piece in self._cut(part.text)),
                *([ThinkingDelta("", part.extra)] if part.extra else []),
            ]
        call_id = part.id or f"call_{turn}_{index}"
        return [CallDelta(index, call_id, part.tool, piece) for piece in self._cut(part.input)]

    def _cut(self, text: str) -> Sequence[str]:
        if not self.piece or not text:
            return [text]
        return [text[at : at + self.piece] for at in range(0, len(text), self.piece)]


async def _wait(seconds: float) -> None:
    if seconds == float("inf"):
        await asyncio.Event().wait()
    await asyncio.sleep(seconds)


DEMO: Sequence[Turn] = (
    (
        Say("I look at what is there before I change anything."),
        Call("Glob", '{"pattern": "**/*"}'),
    ),
    (
        Say("There are old reports. I would delete them, and nothing else."),
        Call("Bash", '{"command": "rm reports/2019-*.csv"}'),
    ),
    (Say("That is all I was asked to do."),),
)
"""What `scripted:demo` plays: something harmless, something that people must decide, the end."""

SCRIPTS: Mapping[str, Sequence[Turn]] = {"demo": DEMO}


def scripted(name: str) -> ScriptedModel:
    """The model that a configuration calls `scripted:NAME`.

    Raises:
        SetupRefused: there is no such script.
    """
    if name not in SCRIPTS:
        raise SetupRefused(f"There is no script {name!r}. There is: {', '.join(sorted(SCRIPTS))}.")
    return ScriptedModel(SCRIPTS[name], name=f"scripted:{name}")
