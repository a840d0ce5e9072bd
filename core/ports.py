"""Ports: what the core needs from outside, as protocols. The store's port is in `core.ledger`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from core.authority import Membership
from core.calls import Reply
from core.cards import Card
from core.events import AgentEvent
from core.ledger.requests import CardKey
from core.messages import Msg, Usage
from core.permissions.rules import AutoRunMode, PermissionRule


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


class Directory(Protocol):
    """Who is in which group or role, asked at the moment of deciding."""

    async def memberships(self, identity: str, groups: frozenset[str]) -> Mapping[str, Membership]:
        """What is known of this identity for each group; a group may be left out: unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry of a person's allowlist: unique per person, tool and pattern."""

    rule: PermissionRule
    author: str
    reason: str
    added_at: int
    expires_at: int | None = None


class Preferences(Protocol):
    """What a person has chosen: auto-run mode and allowlist."""

    async def mode(self, person: str) -> AutoRunMode:
        """The person's auto-run mode; `use_allowlist` when none was chosen."""
        ...

    async def set_mode(self, person: str, mode: AutoRunMode) -> None:
        """Choose a mode."""
        ...

    async def allowlist(self, person: str) -> tuple[Allowed, ...]:
        """The person's entries, oldest first, expired ones left out."""
        ...

    async def allow(self, person: str, entry: Allowed) -> bool:
        """Add an entry, or renew the one with the same tool and pattern. False: it was there."""
        ...

    async def disallow(self, person: str, tool_name: str, content: str | None) -> bool:
        """Remove an entry. False: there was none."""
        ...


class Activity(Protocol):
    """Hears what replies stream, to show it to people: a view, never the truth."""

    async def happened(self, reply: Reply, event: AgentEvent) -> None:
        """An event of this reply. Must not raise and should not take long: the reply waits."""
        ...


class Surface(Protocol):
    """A place where cards are shown. All of it may be repeated; nothing of it decides."""

    async def find(self, card: CardKey) -> tuple[str, ...]:
        """Messages in the chat that bear this card's mark."""
        ...

    async def post(self, card: CardKey, view: Card) -> str:
        """Show a new card, with its mark; the message's id."""
        ...

    async def edit(self, card: CardKey, message: str, view: Card) -> None:
        """Show the present state on a message of the card."""
        ...

    async def notice(self, card: CardKey, kind: str, view: Card) -> None:
        """Remind, or tell others: `kind` is `remind` or `escalate`."""
        ...
