"""Plays recorded trails to the Lua store: whole walks in one round trip.

The requests of a trail are known, so what the Redis ledger would send can be sent ahead, without
waiting for each answer; only the reading of answers comes afterwards.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from adapters.redis.clock import StoreClock
from adapters.redis.connection import Connections
from adapters.redis.keys import Keys
from adapters.redis.layout import CALL, REPLY, record
from adapters.redis.ledger import RedisLedger, _Route, _timer
from adapters.redis.scripts import NAMES, source
from adapters.redis.sealing import Keyring, Place, Sealer
from adapters.redis.wire import Message
from core.ledger import Accept
from tests.contracts.ledgers import HandClock
from tests.sim.asking import TENANT
from tests.sim.trail import Asked, Leg, Trail
from tests.sim.views import SESSION, View
from tests.sim.walk import send

KEYS = Keys(0)
_LOOK = """
local found = {redis.call('HGET', KEYS[1], 'active') or '', redis.call('LRANGE', KEYS[2], 0, -1),
               redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'), redis.call('XLEN', KEYS[4]),
               redis.call('XLEN', KEYS[5])}
for i = 6, #KEYS, 2 do
  local names = {'m'}
  for _, name in ipairs(redis.call('HKEYS', KEYS[i])) do
    if string.sub(name, 1, 2) == 'c:' then names[#names + 1] = name end
  end
  local records = redis.call('HMGET', KEYS[i], unpack(names))
  found[#found + 1] = {redis.call('LLEN', KEYS[i + 1]), names, records}
end
return found
"""
"""Reads what a `View` holds; keys: session, queue, due, hints, orders, then reply and history of
each reply."""


class PlainSealer(Sealer):
    """Binds contents to their place and leaves them readable: sealing is tested elsewhere, and
    half of the time of a playback would go into it."""

    def seal(self, value: Any, place: Place) -> bytes:
        """The value and its place."""
        return json.dumps([place.tenant, place.reply_id, place.parts, value]).encode()

    def open(self, blob: bytes | None, place: Place) -> Any:
        """The value, if it is of this place."""
        tenant, reply_id, parts, value = json.loads(blob or b"")
        assert (tenant, reply_id, tuple(parts)) == (place.tenant, place.reply_id, place.parts)
        return value


@dataclass(slots=True)
class GivenIds:
    """The random part of a reply's id, as it was drawn on the trail."""

    reply_id: str

    def new(self) -> str:
        """Thirty-two characters, and then those that are left."""
        random = self.reply_id[14:]
        self.reply_id = self.reply_id[:14] + random[32:]
        return random[:32]


class TrailClock(StoreClock):
    """The clock of the trail."""

    __slots__ = ("hand",)

    def __init__(self, hand: HandClock) -> None:
        self.hand = hand

    async def now(self) -> int:
        """What the hand shows."""
        return self.hand.ms

    async def about(self) -> int:
        """The same."""
        return self.hand.ms


@dataclass(slots=True)
class Sending(RedisLedger):
    """A Redis ledger that notes what it would send, and hears nothing."""

    hand: HandClock = field(default_factory=HandClock)
    following: str = ""
    noted: list[tuple[Message, list[str]]] = field(default_factory=list[tuple[Message, list[str]]])

    def __post_init__(self) -> None:
        RedisLedger.__post_init__(self)
        self.clock = TrailClock(self.hand)

    async def _run(self, message: Message, names: Sequence[str]) -> list[Any]:
        if self.following and message.script != "accept":
            message = Message(
                message.script, {**message.body, "following": self.following}, message.blobs
            )
            names = KEYS.for_script(message.body["rid"], SESSION, self.following)
        self.noted.append((message, list(names)))
        return [b"null"]

    async def _route(self, keys: Keys, reply_id: str) -> _Route:
        return _Route(TENANT, SESSION)


@dataclass(slots=True)
class Playback:
    """Plays trails and compares."""

    client: Any
    sealer: Sealer = field(default_factory=lambda: PlainSealer(Keyring("k1", {"k1": bytes(32)})))
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    played: int = 0
    requests: int = 0
    sending: Sending = field(init=False)
    _replies: dict[Any, tuple[Any, ...]] = field(default_factory=dict[Any, tuple[Any, ...]])

    def __post_init__(self) -> None:
        self.sending = Sending(cast(Connections, _Nowhere()), self.sealer, GivenIds(""))
        for name in NAMES:
            self.hashes[name] = _text(self.client.script_load(source(name)))
        self.hashes["look"] = _text(self.client.script_load(_LOOK))

    async def play(self, trails: Sequence[Trail]) -> Callable[[], None]:
        """Play these trails, one after the other, in one round trip; what is given back compares.

        While the store is at work the next trails can be walked.
        """
        pipe: Any = self.client.pipeline(transaction=False)
        for trail in trails:
            await self._send(pipe, trail)
        found = await asyncio.to_thread(pipe.execute)
        return partial(self._compare_all, trails, iter(found))

    def _compare_all(self, trails: Sequence[Trail], found: Iterator[Any]) -> None:
        """Compare answers and views.

        Raises:
            AssertionError: the store did not answer, or does not stand, as the one in memory.
        """
        self._replies.clear()
        for trail in trails:
            self._compare(trail, found)
            self.played += 1

    async def _send(self, pipe: Any, trail: Trail) -> None:
        pipe.flushdb()
        last: Any = None
        sent: Sequence[Any] = ()
        for leg in trail.legs:
            pipe.set(KEYS.policy, leg.policy)
            for asked in leg.asked:
                if asked.request is not last:
                    last, sent = asked.request, await self._written(asked)
                pipe.hset(KEYS.clock, "fixed", asked.at)
                pipe.execute_command("EVALSHA", *sent)
                self.requests += 1
            self._look(pipe, leg.replies)

    async def _written(self, asked: Asked) -> Sequence[Any]:
        """What the Redis ledger sends for this request."""
        sending = self.sending
        sending.hand.at = datetime.fromtimestamp(asked.at / 1000, UTC)
        sending.following = asked.following
        if isinstance(asked.request, Accept):
            sending.ids = GivenIds(asked.answer.reply_id)
        await send(sending, asked.request)
        message, names = sending.noted.pop()
        return [self.hashes[message.script], len(names), *names, *message.args()]

    def _look(self, pipe: Any, replies: Sequence[str]) -> None:
        names = [KEYS.session(SESSION), KEYS.queue(SESSION), KEYS.due, KEYS.wake, KEYS.outbox]
        for reply_id in sorted(replies):
            names += [KEYS.reply(reply_id), KEYS.history(reply_id)]
        pipe.execute_command("EVALSHA", self.hashes["look"], len(names), *names)

    def _compare(self, trail: Trail, found: Iterator[Any]) -> None:
        next(found)  # the answer to FLUSHDB
        for number, leg in enumerate(trail.legs):
            next(found)  # … and to SET
            for asked in leg.asked:
                next(found)  # … and to HSET
                answer = self._answer(asked, next(found))
                if answer != asked.answer:
                    raise AssertionError(_story(trail, number, asked.request, answer, asked.answer))
            view = self._view(leg, next(found))
            if view != leg.view:
                raise AssertionError(_story(trail, number, "what is stored", view, leg.view))

    def _answer(self, asked: Asked, found: list[Any]) -> Any:
        assert found[0] not in (b"again", b"null"), f"{asked.request} was not taken"
        reply_id = getattr(asked.request, "reply_id", "")
        return self.sending._answered(found, reply_id, _Route(TENANT, SESSION))

    def _view(self, leg: Leg, found: list[Any]) -> View:
        active, queue, due, hints, orders, *stored = found
        armed = zip(due[::2], due[1::2], strict=True)
        return View(
            active=_text(active) or None,
            queue=tuple(map(_text, queue)),
            replies=tuple(
                self._reply(reply_id, tuple(names), tuple(records))
                for reply_id, (_, names, records) in zip(sorted(leg.replies), stored, strict=True)
            ),
            timers=tuple(sorted(_armed(name, score) for name, score in armed)),
            audit=tuple(audit for audit, _, _ in stored),
            hints=hints,
            orders=orders,
        )

    def _reply(
        self, reply_id: str, names: tuple[bytes, ...], records: tuple[bytes, ...]
    ) -> tuple[Any, ...]:
        known = reply_id, names, records
        if known not in self._replies:
            self._replies[known] = _reply(reply_id, names[1:], *records)
        return self._replies[known]


class _Nowhere:
    """Connections that nothing is sent over."""

    commands = blocking = line = None


def _armed(name: bytes, score: float) -> tuple[Any, ...]:
    timer = _timer(name, float(score))
    which = (timer.number, timer.call_id, timer.step, timer.channel)
    return timer.kind, timer.reply_id, *which, timer.at


def _reply(reply_id: str, names: Sequence[bytes], main: bytes, *records: bytes) -> tuple[Any, ...]:
    meta = record(REPLY, json.loads(main))
    calls = [
        {"id": name[2:].decode(), "votes": [], **record(CALL, json.loads(row))}
        for name, row in zip(names, records, strict=True)
    ]
    calls.sort(key=lambda call: (call["turn"], call["position"]))
    return (
        reply_id,
        meta["state"],
        meta.get("stop") is not None,
        meta["turn"],
        meta["fence"],
        meta.get("outcome"),
        tuple(
            (
                call["id"],
                call["state"],
                call["revision"],
                call["runs"],
                tuple(vote["actor"][1] for vote in call["votes"]),
                call["version"],
            )
            for call in calls
        ),
    )


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _story(trail: Trail, number: int, about: Any, found: Any, expected: Any) -> str:
    path = " > ".join(str(leg.step) for leg in trail.legs[: number + 1])
    return f"seed {trail.seed}: {path}\n{about}\nLua:    {found}\nmemory: {expected}"
