"""The transitions as Lua scripts: one file each, behind the shared prelude."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError

from adapters.redis.layout import lua
from adapters.redis.line import Line

NAMES = (
    "accept",
    "cancel",
    "card",
    "check",
    "claim",
    "complete",
    "decide",
    "finish",
    "fire",
    "hand_back",
    "refuse",
    "release",
    "renew",
    "start",
    "stop",
    "task",
    "turn",
)
GROWING = frozenset({"accept", "turn"})
"""Refused when the store's memory is full; everything else goes on, so that it can empty."""

_WORD = re.compile(r"\w+")
_LOCALS = re.compile(r"^local (?:function )?(\w+(?:, \w+)*)", re.MULTILINE)


def source(name: str) -> str:
    """One script as it is sent to the server: with the columns and those parts of the prelude
    that it uses, for whatever is defined is made anew in every run."""
    header = "#!lua\n" if name in GROWING else "#!lua flags=allow-oom\n"
    folder = files(__name__)
    body = folder.joinpath(f"{name}.lua").read_text()
    parts = [lua(), *folder.joinpath("prelude.lua").read_text().split("\n\n")]
    return header + "\n\n".join([*_used(parts, body), body])


def _used(parts: Sequence[str], text: str) -> list[str]:
    """The parts that define a name which occurs in the text or in another part that is used."""
    used: set[str] = set()
    words = set(_WORD.findall(text))
    while new := {part for part in parts if part not in used and words & _defined(part)}:
        used |= new
        words |= {word for part in new for word in _WORD.findall(part)}
    return [part for part in parts if part in used]


def _defined(part: str) -> set[str]:
    return {name for names in _LOCALS.findall(part) for name in names.split(", ")}


_WAIT_MS = 1_000


@dataclass(slots=True)
class Scripts:
    """Runs scripts by their hash, and sends the text when the server does not know it (yet, or
    any more: a restart forgets). Each version of Keyturn so runs its own during an upgrade."""

    line: Line
    client: Any
    texts: Mapping[str, str] = field(default_factory=lambda: {name: source(name) for name in NAMES})
    hashes: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.hashes = {
            name: sha1(text.encode(), usedforsecurity=False).hexdigest()
            for name, text in self.texts.items()
        }

    async def run(self, name: str, keys: Sequence[str], args: Sequence[str | bytes]) -> list[Any]:
        """Run one script; every script answers with a list."""
        answer: list[Any]
        try:
            answer = await self._evalsha(name, keys, args)
        except NoScriptError:
            await self._load(name)
            answer = await self._evalsha(name, keys, args)
        return answer

    async def run_confirmed(
        self,
        name: str,
        keys: Sequence[str],
        args: Sequence[str | bytes],
        mark: str,
        replicas: int,
    ) -> tuple[list[Any], bool]:
        """Run one script; say whether that many replicas have it, within a second.

        The mark is written on the same connection: without a write of its own, a repeated
        request would be "confirmed" at once. It is a connection of its own while it waits.
        """
        found = await self._pipelined(name, keys, args, mark, replicas)
        if isinstance(found[0], NoScriptError):
            await self._load(name)
            found = await self._pipelined(name, keys, args, mark, replicas)
        answer, _, confirmed = found
        if isinstance(answer, Exception):
            raise answer
        return answer, isinstance(confirmed, int) and confirmed >= replicas

    async def _pipelined(
        self,
        name: str,
        keys: Sequence[str],
        args: Sequence[str | bytes],
        mark: str,
        replicas: int,
    ) -> list[Any]:
        async with self.client.pipeline(transaction=False) as pipe:
            pipe.evalsha(self.hashes[name], len(keys), *keys, *args)
            pipe.set(mark, name)
            pipe.execute_command("WAIT", replicas, _WAIT_MS)
            found: list[Any] = await pipe.execute(raise_on_error=False)
        return found

    async def _load(self, name: str) -> None:
        await self.line.ask("SCRIPT", "LOAD", self.texts[name])

    async def _evalsha(self, name: str, keys: Sequence[str], args: Sequence[str | bytes]) -> Any:
        return await self.line.ask("EVALSHA", self.hashes[name], len(keys), *keys, *args)
