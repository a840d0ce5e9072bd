"""Ids and times for what the loop writes, and events that carry them."""

from dataclasses import dataclass
from datetime import UTC
from typing import Any, TypeVar

from core.events import AgentEvent
from core.messages import new_id, timestamp
from core.ports import Clock, Ids

_E = TypeVar("_E", bound=AgentEvent)


@dataclass(frozen=True, slots=True)
class Stamps:
    """Where ids and times come from; without a clock or ids, the defaults of the wire models."""

    clock: Clock | None = None
    ids: Ids | None = None

    def id(self) -> str:
        """A fresh id."""
        return new_id() if self.ids is None else self.ids.new()

    def now(self) -> str:
        """The present time as the wire has it: UTC, microseconds, no zone."""
        if self.clock is None:
            return timestamp()
        now = self.clock.now().astimezone(UTC).replace(tzinfo=None)
        return now.isoformat(timespec="microseconds")

    def event(self, kind: type[_E], **fields: Any) -> _E:
        """A stamped event of this kind."""
        return kind(id=self.id(), created_at=self.now(), **fields)


def whole(text: str) -> str:
    """`text` with every half of a surrogate pair replaced by U+FFFD: halves are no text, and one
    of them would make the whole state impossible to write. Halves that meet become a character."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
