"""The gateway process of the campaign: the store as the product opens it, workers, deadlines,
poster, and a socket that people's acts come through. It dies where its fate says.

Nothing of the product knows of this: the points are those of a ledger, tools and a board that
belong to the campaign.
"""

import asyncio
import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.redis.connection import Connections
from adapters.redis.ledger import RedisLedger
from adapters.redis.preferences import RedisPreferences
from adapters.redis.sealing import Sealer
from bot.machine import RandomIds, SystemClock
from bot.store import OpenStore, open_store
from bot.wiring import Unheard
from core.calls import CallKey
from core.deadlines import Deadlines
from core.editor import Editor
from core.errors import KeyturnError, SetupRefused, StoreError
from core.gateway import Desk, Gateway
from core.judgement import RulebookMaker
from core.ledger import answers as a
from core.ledger import requests as r
from core.ledger.steps import Request as Step
from core.messages import user_msg
from core.poster import Poster
from core.private_answers import Answered
from core.requests import Request
from core.tasks import TaskAnswer
from core.views import Gallery
from core.worker import Bench, Worker
from tests.crash import office
from tests.crash.board import Board
from tests.crash.fate import Fate, Reaper

LEASE_MS = 1_500
AGAIN_MS = 3_000
WORKERS = 3


@dataclass(frozen=True, slots=True)
class Orders:
    """What a gateway process is told.

    Attributes:
        fault: planted on purpose: `ack_early` answers a person before the decision is recorded;
            `run_early` runs a tool before its start is recorded.
    """

    folder: Path
    name: str
    fate: Fate = field(default_factory=Fate)
    fault: str = ""

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / f"{self.name}.sock"


class MortalLedger(RedisLedger):
    """The real ledger; each of its transitions is a point where the process may die."""

    def __init__(
        self, connections: Connections, sealer: Sealer, reaper: Reaper, orders: Orders
    ) -> None:
        super().__init__(connections, sealer, RandomIds())
        self._reaper, self._told = reaper, orders
        self._unwritten: dict[CallKey, r.Start] = {}

    def reach(self, point: str) -> None:
        """Die here, if it is time."""
        self._reaper.reach(point, self._told.fate)

    async def accept(self, request: r.Accept) -> a.Begun | a.Queued | a.Full:
        """Take a message."""
        self.reach("before:Accept")
        said = await super().accept(request)
        self.reach("after:Accept")
        return said

    async def step(self, request: Step, reply_id: str) -> a.Answer | None:
        """Make a transition."""
        name = type(request).__name__
        self.reach(f"before:{name}")
        if self._told.fault == "run_early" and isinstance(request, r.Start | r.Finish):
            said = await self._run_early(request, reply_id)
        else:
            said = await super().step(request, reply_id)
        self.reach(f"after:{name}")
        return said

    async def _run_early(self, request: r.Start | r.Finish, reply_id: str) -> a.Answer | None:
        """The planted fault: go at once, and record the start with the end."""
        if isinstance(request, r.Start):
            call = await self.call(request.key)
            self._unwritten[request.key] = request
            return a.Go(call.runs + 1 if call else 1)
        if start := self._unwritten.pop(request.key, None):
            await super().step(start, reply_id)
        return await super().step(request, reply_id)

    async def orders(
        self, poster: str, limit: int = 10, wait_ms: int = 0, again_after_ms: int = 60_000
    ) -> tuple[r.Order, ...]:
        """Take orders."""
        self.reach("before:orders")
        found = await super().orders(poster, limit, wait_ms, again_after_ms)
        if found:
            self.reach("after:orders")
        return found


@dataclass(frozen=True, slots=True)
class Assembled:
    """Keyturn around one store, as `bot.wiring` puts it together."""

    ledger: MortalLedger
    gateway: Gateway
    bench: Bench
    poster: Poster
    deadlines: Deadlines
    told: Orders


def assemble(opened: OpenStore, told: Orders) -> Assembled:
    """Everything on one store."""
    reaper, clock, ids, people = Reaper(told.folder), SystemClock(), RandomIds(), office.people()
    sealer = Sealer(opened.keyring)
    ledger = MortalLedger(opened.connections, sealer, reaper, told)
    roster = office.roster(office.Tools(told.folder, ledger.reach).make())
    preferences = RedisPreferences(opened.connections, sealer, clock, office.TENANT)
    rulebooks = RulebookMaker(office.policy(), people, preferences)
    desk = Desk(
        ledger,
        roster,
        people,
        office.NoGroups(),
        preferences,
        Editor(ledger, roster, rulebooks),
        office.TENANT,
    )
    board = Board(told.folder / "board", ledger.reach)
    gallery = Gallery(ledger, roster, people)
    return Assembled(
        ledger,
        Gateway(desk),
        Bench(ledger, roster, rulebooks, Unheard(), clock, ids, office.TENANT, LEASE_MS),
        Poster(ledger, gallery, {"board": board}, clock, told.name, AGAIN_MS),
        Deadlines(ledger, clock, ids),
        told,
    )


@dataclass(frozen=True, slots=True)
class Door:
    """Answers people: one line of JSON in, one out."""

    keyturn: Assembled

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One act of one person."""
        with suppress(ConnectionError):
            act = json.loads(await reader.readline())
            if self.keyturn.told.fault == "ack_early" and act["act"] != "ask":
                await self._say({"ok": True, "said": "Recorded."}, writer)
                await self._do(act)
                return
            try:
                said = await self._do(act)
            except KeyturnError as error:
                said = {"error": type(error).__name__}
            await self._say(said, writer)

    async def _say(self, said: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.keyturn.ledger.reach("before:ack")
        writer.write(json.dumps(said).encode() + b"\n")
        await writer.drain()
        writer.close()
        self.keyturn.ledger.reach("after:ack")

    async def _do(self, act: dict[str, Any]) -> dict[str, Any]:
        if act["act"] == "ask":
            return await self._ask(act)
        answered = await self._decide(act)
        return {"ok": answered.ok, "said": answered.said}

    async def _ask(self, act: dict[str, Any]) -> dict[str, Any]:
        request = Request("clerk", act["session"], office.RITA, office.CHANNEL)
        said = await self.keyturn.gateway.ask(request, user_msg(act["text"]), act["op"])
        return {"reply_id": getattr(said, "reply_id", None)}

    async def _decide(self, act: dict[str, Any]) -> Answered:
        gateway, key, who = self.keyturn.gateway, CallKey(*act["key"]), office.person(act["who"])
        revision, op = act["revision"], act["op"]
        match act["act"]:
            case "approve":
                return await gateway.approve(key, revision, who, op)
            case "reject":
                return await gateway.reject(key, revision, who, op, "no")
            case "modify":
                changed = json.dumps({"value": act["value"]})
                return await gateway.modify(key, revision, who, op, changed)
            case _:
                return await gateway.fulfil(key, who, op, TaskAnswer("done by hand"))


class _Lines(logging.Formatter):
    """One line per record, with what the product says beside its message."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        beside = [str(record.__dict__.get(name, "")) for name in ("reply_id", "why", "error")]
        return " ".join([record.levelname, record.name, record.getMessage(), *beside]).strip()


def main(told: Orders) -> None:
    """Run until killed."""
    handler = logging.FileHandler(told.folder / "log")
    handler.setFormatter(_Lines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    with suppress(StoreError, SetupRefused):  # the store is down; we are started again
        asyncio.run(_run(told))


async def _run(told: Orders) -> None:
    async with open_store(told.folder / "data", os.environ) as opened:
        keyturn = assemble(opened, told)
        await keyturn.ledger.prepare()
        await keyturn.ledger.publish_policy(keyturn.bench.policy)
        door = await asyncio.start_unix_server(Door(keyturn).serve, told.socket)
        stop, parent = asyncio.Event(), os.getppid()
        async with door, asyncio.TaskGroup() as group:
            for number in range(WORKERS):
                worker = Worker(keyturn.bench, f"{told.name}:{number}")
                group.create_task(worker.run(stop))
            group.create_task(keyturn.poster.run(stop))
            group.create_task(keyturn.deadlines.run(stop))
            while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(1)
            os._exit(1)  # the campaign is gone; nothing here needs a last word
