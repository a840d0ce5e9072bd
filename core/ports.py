"""Ports: what the core needs from outside, as protocols. The store's port is in `core.ledger`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from core.messages import Msg, Usage


class Clock(Protocol):
    """Time, passed in so that tests can set it."""

    def now(self) -> datetime:
        """The present, aware and in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever go forward."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Ids(Protocol):
    """Randomness, passed in so that a run can be repeated."""

    def new(self) -> str:
        """A fresh id: 32 hex characters, at least 122 random bits."""
        ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model writes text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The model thinks; `extra` holds a provider's signature, once it is known."""

    text: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CallDelta:
    """The model asks for a call. `index` tells parallel calls apart; the first delta of a call has
    id and name, each has the next piece of the input, byte for byte."""

    index: int
    call_id: str
    name: str
    input: str


@dataclass(frozen=True, slots=True)
class ModelDone:
    """The model turn is complete."""

    usage: Usage
    finished: Literal["completed", "interrupted"] = "completed"


ModelEvent = TextDelta | ThinkingDelta | CallDelta | ModelDone
ToolChoice = Literal["auto", "none", "required"]


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """What events and records call it."""
        ...

    def stream(
        self,
        messages: Sequence[Msg],
        tools: Sequence[ToolSpec],
        choice: ToolChoice = "auto",
    ) -> AsyncIterator[ModelEvent]:
        """One model turn over the whole conversation; `ModelDone` comes last.

        Raises:
            ModelFailed: the provider refused or could not be reached, retries included.
        """
        ...
