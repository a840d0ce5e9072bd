"""The ledger in memory: the core's own transitions over dictionaries.

For tests, demos and as the measure of the Redis store. It keeps everything until the process ends.
"""

import asyncio
import heapq
import json
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from core.calls import ASKED as ASKED_STATES
from core.calls import Call, CallKey, Reply, ReplyState, Session, new_reply_id, partition_of
from core.ledger import answers as a
from core.ledger import requests as r
from core.ledger.steps import Request, Steps
from core.ports import Clock, Ids
from core.transitions import keeps_answer, step
from core.transitions.draft import Draft, NewOrder, timers

T = TypeVar("T")


@dataclass(slots=True)
class _Entry:
    order: r.Order
    taken_at: int | None = None


@dataclass(slots=True)
class MemoryLedger(Steps):
    """A `Ledger` that forgets everything when the process ends."""

    clock: Clock
    ids: Ids
    partitions: int = 1
    _sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    _replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    _answers: dict[tuple[str, ...], a.Answer] = field(
        default_factory=dict[tuple[str, ...], a.Answer]
    )
    _armed: dict[str, tuple[r.Timer, ...]] = field(default_factory=dict[str, tuple[r.Timer, ...]])
    _outbox: dict[str, _Entry] = field(default_factory=dict[str, _Entry])
    _hints: deque[str] = field(default_factory=deque[str])
    _audit: dict[str, list[r.AuditRecord]] = field(default_factory=dict[str, list[r.AuditRecord]])
    _policy: str = ""
    _entries: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def accept(self, request: r.Accept) -> a.Begun | a.Queued | a.Full:
        """Take a message once."""
        random = self.ids.new() + self.ids.new()[:8]
        name = ("Accept", request.tenant, request.op)
        if name in self._answers:
            return cast(a.Begun | a.Queued | a.Full, self._answers[name])
        session = self._sessions.get(request.session_id)
        session = session or Session(request.session_id, request.tenant)
        if session.tenant != request.tenant:
            raise ValueError("the session belongs to another tenant")
        now = await self.now()
        reply_id = new_reply_id(partition_of(request.session_id, self.partitions), now, random)
        reply = Reply(
            reply_id=reply_id,
            session_id=request.session_id,
            tenant=request.tenant,
            state=ReplyState.QUEUED,
            message=deepcopy(request.message),
            accepted_at=now,
        )
        draft = Draft(now, self._policy, session, reply)
        answer = step(draft, request)
        self._commit(draft, request.op)
        self._answers[name] = answer
        return cast(a.Begun | a.Queued | a.Full, answer)

    async def due(self, limit: int = 100) -> tuple[r.Timer, ...]:
        """Timers that are due now, oldest first."""
        now = await self.now()
        ripe = (t for armed in self._armed.values() for t in armed if t.at <= now)
        return tuple(heapq.nsmallest(limit, ripe, key=lambda timer: timer.at))

    async def next_due(self) -> int | None:
        """When the next timer is due."""
        return min((t.at for armed in self._armed.values() for t in armed), default=None)

    async def orders(
        self, poster: str, limit: int = 10, wait_ms: int = 0, again_after_ms: int = 60_000
    ) -> tuple[r.Order, ...]:
        """Take outbox entries; in one process all posters are alike."""
        return await self._wait(lambda: self._take(limit, again_after_ms), wait_ms)

    async def drop(self, reply_id: str, order: str) -> None:
        """Acknowledge an order that has nothing to show."""
        self._outbox.pop(order, None)

    async def wait_for_work(self, wait_ms: int) -> tuple[str, ...]:
        """Ids of replies that became ready."""
        return await self._wait(self._take_hints, wait_ms)

    async def publish_policy(self, revision: str) -> None:
        """Make this the policy revision in force."""
        self._policy = revision

    async def policy(self) -> str:
        """The policy revision in force."""
        return self._policy

    async def now(self) -> int:
        """The clock in milliseconds."""
        return int(self.clock.now().timestamp() * 1000)

    async def reply(self, reply_id: str) -> Reply | None:
        """A reply with all its calls."""
        return deepcopy(self._replies.get(reply_id))

    async def call(self, key: CallKey) -> Call | None:
        """One call."""
        reply = self._replies.get(key.reply_id)
        call = reply.call(key.call_id) if reply else None
        return deepcopy(call) if call and call.key == key else None

    async def session(self, session_id: str) -> Session | None:
        """A session with its queue and agent state."""
        return deepcopy(self._sessions.get(session_id))

    async def open_calls(self, asked: r.Asked, limit: int = 100) -> tuple[Call, ...]:
        """What people are asked, oldest question first."""
        found = [
            call
            for reply in self._replies.values()
            if reply.tenant == asked.tenant and asked.session_id in {None, reply.session_id}
            for call in reply.present
            if call.state in ASKED_STATES and asked.wants(call)
        ]
        found.sort(key=lambda call: (call.asked_at or 0, call.key.reply_id, call.position))
        return deepcopy(tuple(found[:limit]))

    async def audit(self, reply_id: str) -> tuple[r.AuditRecord, ...]:
        """Everything that happened to a reply, in order."""
        return deepcopy(tuple(self._audit.get(reply_id, ())))

    async def step(self, request: Request, reply_id: str) -> a.Answer | None:
        """Make a transition of a reply; None: no such reply."""
        if isinstance(request, r.Shown):
            self._outbox.pop(request.order, None)
        reply = self._replies.get(reply_id)
        if reply is None:
            return None
        op = getattr(request, "op", "")
        name = (*r.replay_name(request), reply_id, op)
        if name in self._answers:
            return self._answers[name]
        session = self._sessions[reply.session_id]
        head = self._replies[session.queue[0]] if session.queue else None
        draft = Draft(await self.now(), self._policy, session, reply, head)
        answer = step(draft, deepcopy(request))
        if keeps_answer(request, answer, draft.wrote):
            self._answers[name] = answer
        if draft.wrote:
            self._commit(draft, op)
        return deepcopy(answer)

    def _commit(self, draft: Draft, op: str) -> None:
        if not draft.wrote:
            return
        self._sessions[draft.session.session_id] = draft.session
        for reply in (draft.reply, draft.following):
            if reply is not None:
                self._replies[reply.reply_id] = reply
                self._armed[reply.reply_id] = tuple(timers(reply))
        for order in draft.orders:
            self._post(draft.reply.reply_id, order)
        self._hints.extend(draft.hints)
        if draft.what:
            self._audit.setdefault(draft.reply.reply_id, []).append(_record(draft, op))
        self._changed.set()

    def _post(self, reply_id: str, new: NewOrder) -> None:
        self._entries += 1
        card = r.CardKey(CallKey(reply_id, new.call_id, new.turn), new.channel)
        name = str(self._entries)
        self._outbox[name] = _Entry(r.Order(name, cast(Any, new.kind), card, new.name))

    def _take(self, limit: int, again_after_ms: int) -> tuple[r.Order, ...]:
        now = int(self.clock.now().timestamp() * 1000)
        taken: list[r.Order] = []
        for entry in list(self._outbox.values()):
            if len(taken) == limit:
                break
            if entry.taken_at is None or now - entry.taken_at >= again_after_ms:
                taken.append(replace(entry.order, repeated=entry.taken_at is not None))
                entry.taken_at = now
        return tuple(taken)

    def _take_hints(self) -> tuple[str, ...]:
        hints = tuple(dict.fromkeys(self._hints))
        self._hints.clear()
        return hints

    async def _wait(self, take: Callable[[], tuple[T, ...]], wait_ms: int) -> tuple[T, ...]:
        found = take()
        if found or not wait_ms:
            return found
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while not found:
                    self._changed.clear()
                    await self._changed.wait()
                    found = take()
        except TimeoutError:
            pass
        return found


def _record(draft: Draft, op: str) -> r.AuditRecord:
    return r.AuditRecord(
        at=draft.now,
        what=draft.what,
        actor=draft.actor,
        op=op,
        reply_id=draft.reply.reply_id,
        session_id=draft.reply.session_id,
        tenant=draft.reply.tenant,
        state=draft.reply.state.value,
        changes=tuple(draft.changes),
        note=json.loads(json.dumps(draft.note)),
    )
