"""A campaign: gateways and their store are killed over and over while people work with them; then
everything may come to rest, and is judged."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from adapters.redis.connection import Connections, connect
from adapters.redis.keys import Keys
from adapters.redis.ledger import RedisLedger
from adapters.redis.sealing import Keyring, Sealer
from bot.machine import RandomIds
from bot.store import KEY_FILE
from core.calls import CallState, ReplyState
from core.errors import StoreError
from core.ledger import Asked
from core.views import Gallery
from tests.crash import office
from tests.crash.board import Board, drawn
from tests.crash.crowd import SENDERS, Crowd
from tests.crash.fate import POINTS, Reaper
from tests.crash.herd import Herd
from tests.crash.verdict import Effect, Evidence, Verdict, judge

TEND_S = 0.02
REST_S = 90.0
"""How long everything may take to come to rest: what a poster left half done in the chat is looked
for a minute later."""
EVERYBODY = 10**9


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done.

    Attributes:
        kills: at least so many, of gateways, of the server, of both at once.
        pace: seconds between those at any time, on average; those at named points come beside.
        fault: planted in the gateways, to show that it is found.
    """

    kills: int
    seed: int
    pace: float = 0.6
    points: tuple[str, ...] = POINTS
    fault: str = ""
    rest_s: float = REST_S


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it. `rest_s`: how long after the last kill everything had come to rest."""

    plan: Plan
    kills: list[tuple[str, str]]
    evidence: Evidence
    verdict: Verdict
    rest_s: float
    seconds: float

    def lines(self) -> list[str]:
        """For people."""
        found, wrong = self.evidence, self.verdict
        victims = Counter(victim for victim, _ in self.kills)
        named = sum(where != "any time" for _, where in self.kills)
        outcomes = Counter(str(r.outcome or r.state) for r in found.replies.values())
        confirmed = [click for click in found.clicks if click.confirmed]
        repeats = len([effect for effect in found.effects if effect.run > 1])
        asked_unknown = sum(
            after == CallState.UNKNOWN
            for records in found.audits.values()
            for record in records
            for _, _, after, _, _ in record.changes
        )
        unknown = [call for call in found.calls() if call.state is CallState.UNKNOWN]
        return [
            f"seed       {self.plan.seed}",
            f"kills      {len(self.kills)} {_counts(victims)}, {named} of them at named points",
            f"replies    {len(found.replies)} {_counts(outcomes)}",
            f"decisions  {len(confirmed)} confirmed of {len(found.clicks)} {_kinds(found)}",
            f"effects    {len(found.effects)}, {repeats} of them by allowed further runs",
            f"doubled    {len(wrong.doubled)}",
            f"lost       {len(wrong.lost)}",
            f"unknown    {asked_unknown} runs of unproven end, people asked; {len(unknown)} still",
            f"untrue     {len(wrong.untrue)} answers, effects or errors",
            f"unsettled  {len(wrong.unsettled)} replies",
            f"cards      {len(found.messages)}, {len(wrong.cards)} unlike the store",
            f"time       {self.seconds:.0f} s; at rest {self.rest_s:.1f} s after the last kill",
        ]


def _counts(counter: Counter[str]) -> str:
    return "(" + ", ".join(f"{name} {n}" for name, n in sorted(counter.items())) + ")"


def _kinds(found: Evidence) -> str:
    return _counts(Counter(click.act for click in found.clicks if click.confirmed))


@dataclass(slots=True)
class Campaign:
    """One campaign in an empty folder."""

    plan: Plan
    folder: Path
    say: Callable[[str], None] = lambda _: None
    _open: set[str] = field(default_factory=set[str])
    _closed: set[str] = field(default_factory=set[str])
    _settled: bool = False

    async def run(self) -> Result:
        """Kill, let rest, judge."""
        began = monotonic()
        for name in ("data", "board"):
            (self.folder / name).mkdir(mode=0o700)
        reaper = Reaper(self.folder)
        herd = self._herd()
        crowd = Crowd(herd, Board(self.folder / "board"), self._dice("crowd"), self._unanswered)
        server = reaper.server
        # Before anybody listens: the address is where the server will be.
        connections = connect(server.url)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._tend(herd, crowd))
                group.create_task(crowd.watch(group))
                for sender in range(SENDERS):
                    group.create_task(crowd.send(group, sender))
                group.create_task(self._look(connections, crowd))
                await self._storm(herd, reaper)
                rest = monotonic()
                herd.calm = crowd.calm = True
                reaper.strike("server", "the end", 0)
                herd.end()
                evidence, verdict = await self._rest(connections, crowd, herd)
                rest_s = monotonic() - rest
                crowd.over = True
        finally:
            herd.end()
            await connections.close()
            server.stop(even_if_used=True)
        return Result(self.plan, reaper.kills(), evidence, verdict, rest_s, monotonic() - began)

    def _herd(self) -> Herd:
        return Herd(self.folder, self._dice("herd"), self.plan.points, self.plan.fault)

    def _dice(self, what: str) -> random.Random:
        return random.Random(f"{self.plan.seed}:{what}")  # noqa: S311 - repeatable on purpose

    async def _tend(self, herd: Herd, crowd: Crowd) -> None:
        while not crowd.over:
            herd.tend()
            await asyncio.sleep(TEND_S)

    async def _storm(self, herd: Herd, reaper: Reaper) -> None:
        """Kill until there were enough."""
        dice, told = self._dice("storm"), 0
        while (killed := len(reaper.kills())) < self.plan.kills:
            await asyncio.sleep(min(dice.expovariate(1 / self.plan.pace), 5 * self.plan.pace))
            herd.strike(reaper)
            if killed >= told + 100:
                told = killed
                self.say(f"{killed} kills, {len(self._closed)} replies closed")

    def _unanswered(self) -> int:
        return len(self._open)

    async def _look(self, connections: Connections, crowd: Crowd) -> None:
        """Follow which messages have been answered to the end."""
        ledger: RedisLedger | None = None
        while not crowd.over:
            await asyncio.sleep(0.2)
            acked = {reply_id for asking in crowd.askings for reply_id in asking.acked}
            self._open = acked - self._closed
            with suppress(StoreError):
                ledger = ledger or self._ledger(connections)
                for reply_id in list(self._open):
                    reply = await ledger.reply(reply_id)
                    if reply is not None and reply.state is ReplyState.CLOSED:
                        self._closed.add(reply_id)

    def _ledger(self, connections: Connections) -> RedisLedger:
        keyring = Keyring.read_or_create(self.folder / "data" / KEY_FILE, may_create=False)
        return RedisLedger(connections, Sealer(keyring), RandomIds())

    async def _rest(
        self, connections: Connections, crowd: Crowd, herd: Herd
    ) -> tuple[Evidence, Verdict]:
        """Everything may come to rest; then it is judged. What is not at rest yet gets time, what
        is wrong for good does not become right by it."""
        end = monotonic() + self.plan.rest_s
        while True:
            await asyncio.sleep(1)
            with suppress(StoreError):
                found = await self._evidence(connections, crowd, herd)
                verdict = judge(found)
                rests = not (crowd.waiting or verdict.unsettled or verdict.cards)
                if rests or monotonic() > end:
                    return found, verdict

    async def _evidence(self, connections: Connections, crowd: Crowd, herd: Herd) -> Evidence:
        ledger = self._ledger(connections)
        prefix = Keys(0).reply("")
        names = [name async for name in connections.commands.scan_iter(f"{prefix}*", count=1000)]
        ids = sorted(name.decode().removeprefix(prefix) for name in names)
        replies = {one: reply for one in ids if (reply := await ledger.reply(one)) is not None}
        audits = {one: await ledger.audit(one) for one in ids}
        gallery = Gallery(
            ledger, office.roster(office.Tools(self.folder, print).make()), office.people()
        )
        cards = {
            call.key: await gallery.card(call) for reply in replies.values() for call in reply.calls
        }
        pending = await ledger.open_calls(Asked(office.TENANT), EVERYBODY)
        return Evidence(
            askings=list(crowd.askings),
            clicks=list(crowd.clicks),
            effects=_effects(self.folder / "effects"),
            replies=replies,
            audits=audits,
            messages=crowd.board.messages({}),
            drawn={key: drawn(card) for key, card in cards.items() if card is not None},
            pending=frozenset(call.key for call in pending),
            errors=[*_errors(self.folder / "log"), *herd.crashed, *crowd.faults],
        )


def _effects(file: Path) -> list[Effect]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [Effect(*json.loads(line)) for line in lines]


def _errors(file: Path) -> list[str]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in lines if line.startswith(("ERROR", "CRITICAL"))]
