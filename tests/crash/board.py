"""A surface on the disk: one file per message, which outlives whoever wrote it."""

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.calls import CallKey
from core.cards import Card
from core.ledger import CardKey


@dataclass(frozen=True, slots=True)
class Message:
    """A message on the board: the card's mark, and what the card shows."""

    id: str
    card: CardKey
    view: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Board:
    """Cards as files; `reach` is told before and after each change."""

    folder: Path
    reach: Callable[[str], None] = lambda _: None

    async def find(self, card: CardKey) -> tuple[str, ...]:
        """Messages with this card's mark."""
        return tuple(sorted(file.stem for file in self.folder.glob(f"{_mark(card)}.*.json")))

    async def post(self, card: CardKey, view: Card) -> str:
        """A new file."""
        self.reach("before:post")
        message = f"{_mark(card)}.{secrets.token_hex(6)}"
        self._write(card, message, view)
        self.reach("after:post")
        return message

    async def edit(self, card: CardKey, message: str, view: Card) -> None:
        """The file, written over."""
        self.reach("before:edit")
        self._write(card, message, view)
        self.reach("after:edit")

    async def notice(self, card: CardKey, kind: str, view: Card) -> None:
        """Nobody listens."""

    def _write(self, card: CardKey, message: str, view: Card) -> None:
        key = [card.call.reply_id, card.call.call_id, card.call.turn, card.channel]
        draft = self.folder / f"{message}.{os.getpid()}.draft"
        draft.write_text(json.dumps({"key": key, "view": drawn(view)}))
        draft.replace(self.folder / f"{message}.json")

    def messages(self, known: dict[str, tuple[int, Message]]) -> list[Message]:
        """Every message now; `known` remembers what was read, by time of writing."""
        for entry in os.scandir(self.folder):
            if not entry.name.endswith(".json"):
                continue
            name, at = entry.name.removesuffix(".json"), entry.stat().st_mtime_ns
            if name not in known or known[name][0] != at:
                known[name] = at, _read(name, Path(entry.path))
        return [message for _, message in known.values()]


def drawn(card: Card) -> dict[str, Any]:
    """What a card shows, as JSON; without the plain text, which counts down to the deadline."""
    shown: dict[str, Any] = json.loads(json.dumps(asdict(card), default=str))
    del shown["fallback"]
    return shown


def _read(name: str, file: Path) -> Message:
    kept = json.loads(file.read_text())
    reply_id, call_id, turn, channel = kept["key"]
    return Message(name, CardKey(CallKey(reply_id, call_id, turn), channel), kept["view"])


def _mark(card: CardKey) -> str:
    key = f"{card.call.reply_id}/{card.call.call_id}/{card.call.turn}/{card.channel}"
    return sha256(key.encode()).hexdigest()[:24]
