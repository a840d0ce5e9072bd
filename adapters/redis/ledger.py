"""The ledger in Redis or Valkey: each transition is one script, replay-safe by its op."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from adapters.redis import layout
from adapters.redis.clock import StoreClock
from adapters.redis.connection import FAULTS, Connections, fault, store_errors
from adapters.redis.keys import META, Keys, keys_of
from adapters.redis.records import MISFITS, Records, load, require_agent_of
from adapters.redis.replies import answer_from
from adapters.redis.scripts import Scripts
from adapters.redis.sealing import Sealer
from adapters.redis.streams import Streams
from adapters.redis.wire import Message, Sender, accept_message
from core.calls import Call, CallKey, Reply, Session, new_reply_id, partition_of
from core.errors import SetupRefused, StoreDamaged, StoreUnavailable
from core.ledger import answers as a
from core.ledger import requests as r
from core.ledger.steps import Request, Steps
from core.ports import Ids

_ROUTES = 10_000
_TRIES = 8
_CONFIRMED = frozenset({"accept", "decide", "start", "turn"})


@dataclass(frozen=True, slots=True)
class _Route:
    tenant: str
    session_id: str


@dataclass(slots=True)
class RedisLedger(Steps):
    """A `Ledger` over one primary.

    Attributes:
        partitions: fixed when the store is first used.
        replicas: how many replicas must have an acceptance, a decision, a start and a turn before
            it is answered; without them `StoreUnavailable`: it stands here, but a failover may
            lose it, so nothing may run on it.
    """

    connections: Connections
    sealer: Sealer
    ids: Ids
    partitions: int = 1
    replicas: int = 0
    scripts: Scripts = field(init=False)
    records: Records = field(init=False)
    clock: StoreClock = field(init=False)
    streams: Streams = field(init=False)
    _routes: dict[str, _Route] = field(default_factory=dict[str, _Route])

    def __post_init__(self) -> None:
        self.scripts = Scripts(self.connections.line, self.connections.commands)
        self.records = Records(self.sealer)
        self.clock = StoreClock(self.connections.line)
        self.streams = Streams(self.connections, self.partitions)

    async def prepare(self) -> None:
        """Fix the number of partitions on first use, compare it ever after.

        Raises:
            SetupRefused: another number, or a store that tests have used.
        """
        async with store_errors():
            await self.connections.commands.hsetnx(META, "partitions", str(self.partitions))
            stored = int(await self.connections.commands.hget(META, "partitions") or 0)
            if stored != self.partitions:
                raise SetupRefused(f"This store was set up with {stored} partitions; use that.")
            for keys in self._all():
                if await self.connections.commands.hexists(keys.clock, "fixed"):
                    raise SetupRefused("This store's clock was set by a test: use another store.")

    async def accept(self, request: r.Accept) -> a.Begun | a.Queued | a.Full:
        """Take a message once."""
        keys = Keys(partition_of(request.session_id, self.partitions))
        random = self.ids.new() + self.ids.new()[:8]
        reply_id = new_reply_id(keys.partition, await self.clock.about(), random)
        message = accept_message(request, reply_id, self.sealer)
        names = keys.for_script(reply_id, request.session_id)
        found = await self._run(message, [*names, keys.event(request.tenant, request.op)])
        answer = cast(a.Begun | a.Queued | a.Full, answer_from(found[0]))
        if isinstance(answer, a.Begun | a.Queued):
            self._remember(answer.reply_id, _Route(request.tenant, request.session_id))
        return answer

    async def step(self, request: Request, reply_id: str) -> a.Answer | None:
        """Make a transition of a reply; None: no such reply."""
        keys = keys_of(reply_id)
        if keys is None:
            return None
        route = await self._route(keys, reply_id)
        sender = Sender(self.sealer, route.tenant, route.session_id, reply_id)
        message = sender.message(request)
        following = ""
        for _ in range(_TRIES):
            names = keys.for_script(reply_id, route.session_id, following)
            found = await self._run(message, names)
            if found[0] != b"again":
                return self._answered(found, reply_id, route)
            # The reply that would be opened if this one closed: its key must be declared.
            following = found[1].decode()
            body = {**message.body, "following": following}
            message = Message(message.script, body, message.blobs)
        raise StoreUnavailable("The session's queue moved all the time.")

    async def due(self, limit: int = 100) -> tuple[r.Timer, ...]:
        """Timers that are due now, oldest first."""
        now = await self.now()
        found: list[r.Timer] = []
        async with store_errors():
            for keys in self._all():
                rows = await self.connections.commands.zrange(
                    keys.due, "-inf", str(now), byscore=True, offset=0, num=limit, withscores=True
                )
                found += [_timer(name, score) for name, score in rows]
        found.sort(key=lambda timer: timer.at)
        return tuple(found[:limit])

    async def next_due(self) -> int | None:
        """When the next timer is due."""
        first: list[int] = []
        async with store_errors():
            for keys in self._all():
                rows = await self.connections.commands.zrange(keys.due, 0, 0, withscores=True)
                first += [int(score) for _, score in rows]
        return min(first, default=None)

    async def orders(
        self, poster: str, limit: int = 10, wait_ms: int = 0, again_after_ms: int = 60_000
    ) -> tuple[r.Order, ...]:
        """Take outbox entries: first those that were taken and never acknowledged."""
        return await self.streams.orders(poster, limit, wait_ms, again_after_ms)

    async def drop(self, reply_id: str, order: str) -> None:
        """Acknowledge an order that has nothing to show."""
        await self.streams.drop(reply_id, order)

    async def wait_for_work(self, wait_ms: int) -> tuple[str, ...]:
        """Ids of replies that became ready; each is heard by one waiter, if by any."""
        return await self.streams.wait_for_work(wait_ms)

    async def publish_policy(self, revision: str) -> None:
        """Make this the policy revision in force, partition by partition."""
        async with store_errors():
            for keys in self._all():
                await self.connections.commands.set(keys.policy, revision)

    async def policy(self) -> str:
        """The policy revision in force."""
        async with store_errors():
            found = await self.connections.commands.get(Keys(0).policy)
        return found.decode() if found else ""

    async def now(self) -> int:
        """The server's clock."""
        return await self.clock.now()

    async def reply(self, reply_id: str) -> Reply | None:
        """A reply with all its calls."""
        keys = keys_of(reply_id)
        if keys is None:
            return None
        async with store_errors():
            stored = await self.connections.line.ask("HGETALL", keys.reply(reply_id))
        return self.records.reply(reply_id, stored) if stored else None

    async def call(self, key: CallKey) -> Call | None:
        """One call."""
        keys = keys_of(key.reply_id)
        return await self._call(keys, key.reply_id, key.call_id, key) if keys else None

    async def session(self, session_id: str) -> Session | None:
        """A session with its queue and agent state."""
        keys = Keys(partition_of(session_id, self.partitions))
        asked = (
            ("MULTI",),
            ("HGETALL", keys.session(session_id)),
            ("LRANGE", keys.queue(session_id), 0, -1),
            ("EXEC",),
        )
        async with store_errors():
            stored, queue = (await self.connections.line.ask_all(asked))[-1]
        return self.records.session(session_id, stored, queue) if stored else None

    async def open_calls(self, asked: r.Asked, limit: int = 100) -> tuple[Call, ...]:
        """What people are asked, oldest question first."""
        found: list[Call] = []
        for keys in self._all():
            async with store_errors():
                names = await self.connections.commands.zrange(keys.asked, 0, -1)
            for name in names:
                reply_id, _, call_id = name.decode().partition(",")
                if call := await self._asked(keys, reply_id, call_id, asked):
                    found.append(call)
        found.sort(key=lambda call: (call.asked_at or 0, call.key.reply_id, call.position))
        return tuple(found[:limit])

    async def audit(self, reply_id: str) -> tuple[r.AuditRecord, ...]:
        """Everything that happened to a reply, in order."""
        keys = keys_of(reply_id)
        if keys is None:
            return ()
        line = self.connections.line
        async with store_errors():
            names = await line.ask("LRANGE", keys.history(reply_id), 0, -1)
            if not names:
                return ()
            found = await line.ask_all([("XRANGE", keys.audit, name, name) for name in names])
        return tuple(self.records.audit(fields[1]) for rows in found for _, fields in rows)

    def _all(self) -> list[Keys]:
        return [Keys(number) for number in range(self.partitions)]

    async def _run(self, message: Message, names: Sequence[str]) -> list[Any]:
        if self.replicas and message.script in _CONFIRMED:
            return await self._run_confirmed(message, names)
        try:
            return await self.scripts.run(message.script, names, message.args())
        except FAULTS as wrong:
            raise fault(wrong) from wrong

    async def _run_confirmed(self, message: Message, names: Sequence[str]) -> list[Any]:
        mark = Keys(int(message.body["rid"][:2], 16)).mark
        async with store_errors():
            answer, confirmed = await self.scripts.run_confirmed(
                message.script, names, message.args(), mark, self.replicas
            )
        if not confirmed:
            raise StoreUnavailable("No replica has confirmed it in time.")
        return answer

    async def _route(self, keys: Keys, reply_id: str) -> _Route:
        """Tenant and session of a reply, which never change; empty for no such reply."""
        if known := self._routes.get(reply_id):
            return known
        async with store_errors():
            meta = await self.connections.line.ask("HGET", keys.reply(reply_id), "m")
        if meta is None:
            return _Route("", "")
        value = layout.record(layout.REPLY, load(meta))
        return self._remember(reply_id, _Route(value["tenant"], value["session_id"]))

    def _remember(self, reply_id: str, route: _Route) -> _Route:
        if len(self._routes) >= _ROUTES:
            self._routes.pop(next(iter(self._routes)))
        return self._routes.setdefault(reply_id, route)

    def _answered(self, found: list[Any], reply_id: str, route: _Route) -> a.Answer | None:
        """What was answered; to a claim with the records."""
        if len(found) == 1:
            return answer_from(found[0])
        answer = load(found[0])
        reply = self.records.reply(reply_id, _hash(found[1]))
        session = self.records.session(route.session_id, _hash(found[2]), found[3])
        require_agent_of(reply, session)
        return a.Claimed(answer["fence"], answer["lease_until"], reply, session)

    async def _call(
        self, keys: Keys, reply_id: str, call_id: str, key: CallKey | None
    ) -> Call | None:
        kinds = ("input", "original", "content", "result")
        names = [b"m", b"c:" + call_id.encode(), *(f"{k}:{call_id}".encode() for k in kinds)]
        async with store_errors():
            values = await self.connections.line.ask("HMGET", keys.reply(reply_id), *names)
        stored = {name: value for name, value in zip(names, values, strict=True) if value}
        if names[0] not in stored or names[1] not in stored:
            return None
        tenant = layout.record(layout.REPLY, load(stored[b"m"]))["tenant"]
        call = self.records.call(stored, call_id, tenant, reply_id)
        return call if key is None or call.key == key else None

    async def _asked(self, keys: Keys, reply_id: str, call_id: str, asked: r.Asked) -> Call | None:
        route = await self._route(keys, reply_id)
        if route.tenant != asked.tenant or asked.session_id not in {None, route.session_id}:
            return None
        call = await self._call(keys, reply_id, call_id, None)
        return call if call and asked.wants(call) else None


def _hash(flat: Any) -> dict[bytes, bytes]:
    if isinstance(flat, dict):
        return flat
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _timer(name: bytes, score: float) -> r.Timer:
    try:
        kind, number, step, length, reply_id, rest = name.decode().split(",", 5)
        call, channel = rest.encode()[: int(length)], rest.encode()[int(length) :]
        known = cast(r.TimerKind, kind)
        return r.Timer(
            known, reply_id, int(score), int(number), call.decode(), int(step), channel.decode()
        )
    except MISFITS as wrong:
        raise StoreDamaged("A stored timer can't be read.") from wrong
