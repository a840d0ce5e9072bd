"""The composition root: settings → ledger, agents, gateway, workers, terminal.

Nothing else names concrete classes of the store or builds the gateway.
"""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.redis.ledger import RedisLedger
from adapters.redis.preferences import RedisPreferences
from adapters.redis.sealing import Sealer
from bot.agents import AgentMaker, secret_files
from bot.machine import RandomIds, SystemClock, local_person
from bot.mcp import mcp_tools
from bot.settings import Settings
from bot.settings.meaning import people_of, policy_of
from bot.store import open_store
from core.authority import Membership, People
from core.calls import Actor, Reply
from core.deadlines import Deadlines
from core.editor import Editor
from core.events import AgentEvent
from core.gateway import Desk, Gateway
from core.judgement import RulebookMaker
from core.ledger import Ledger
from core.ports import Activity, Clock, Ids, Preferences, Surface
from core.poster import Poster
from core.roster import Roster
from core.views import Gallery
from core.worker import Bench, Worker

TENANT = "local"
LEASE_MS = 15_000
"""How soon a reply of a killed process is taken up again."""


class NoDirectory:
    """The terminal has no groups: membership of any is unknown, so it never lets anybody decide."""

    async def memberships(
        self,
        identity: str,
        groups: frozenset[str],
    ) -> Mapping[str, Membership]:
        """Nothing is known."""
        return {}


class Unheard:
    """Nobody listens to what replies stream."""

    async def happened(self, reply: Reply, event: AgentEvent) -> None:
        """Drop it: what counts is in the ledger."""


@dataclass(frozen=True, slots=True)
class Keyturn:
    """Everything, put together."""

    settings: Settings
    ledger: Ledger
    preferences: Preferences
    people: People
    roster: Roster
    gateway: Gateway
    gallery: Gallery
    bench: Bench
    clock: Clock
    ids: Ids
    me: Actor
    warnings: tuple[str, ...] = ()

    def worker(self, number: int = 0) -> Worker:
        """A worker, by a name that no other process has."""
        return Worker(self.bench, f"local:{os.getpid()}:{number}")

    def deadlines(self) -> Deadlines:
        """What makes silence end in time."""
        return Deadlines(self.ledger, self.clock, self.ids)

    def poster(self, surfaces: Mapping[str, Surface]) -> Poster:
        """What shows cards."""
        name = f"local:{os.getpid()}"
        return Poster(self.ledger, self.gallery, surfaces, self.clock, name)


@dataclass(frozen=True, slots=True)
class Outside:
    """What a process brings along.

    Attributes:
        config: the configuration file; no tool may touch it.
        activity: hears what replies stream.
    """

    config: Path
    environment: Mapping[str, str]
    activity: Activity = field(default_factory=Unheard)
    lease_ms: int = LEASE_MS


@asynccontextmanager
async def open_keyturn(settings: Settings, outside: Outside) -> AsyncGenerator[Keyturn]:
    """Open the store and the agents, build everything on them, and close them again.

    Raises:
        SetupRefused: the machine lacks what is configured.
        StoreError: the store can't be opened.
    """
    clock, ids = SystemClock(), RandomIds()
    protected = (settings.local.data, outside.config, *secret_files(settings))
    async with AsyncExitStack() as stack:
        tools = await stack.enter_async_context(mcp_tools(settings, outside.environment))
        maker = AgentMaker(settings, protected, outside.environment, clock, tools)
        roster = maker.roster()
        opened = await stack.enter_async_context(
            open_store(settings.local.data, outside.environment)
        )
        sealer = Sealer(opened.keyring)
        ledger = RedisLedger(opened.connections, sealer, ids)
        await ledger.prepare()
        preferences = RedisPreferences(opened.connections, sealer, clock, TENANT)
        store = Store(ledger, preferences, clock, ids, opened.warnings)
        yield await _assembled(settings, outside, store, roster)


@dataclass(frozen=True, slots=True)
class Store:
    """The two ports that one store serves, and what its operator should know."""

    ledger: Ledger
    preferences: Preferences
    clock: Clock
    ids: Ids
    warnings: tuple[str, ...]


async def _assembled(settings: Settings, outside: Outside, store: Store, roster: Roster) -> Keyturn:
    people, policy = people_of(settings), policy_of(settings)
    rulebooks = RulebookMaker(policy, people, store.preferences)
    await store.ledger.publish_policy(str(policy.revision))
    desk = Desk(
        ledger=store.ledger,
        roster=roster,
        people=people,
        directory=NoDirectory(),
        preferences=store.preferences,
        editor=Editor(store.ledger, roster, rulebooks),
        tenant=TENANT,
    )
    bench = Bench(
        ledger=store.ledger,
        roster=roster,
        rulebooks=rulebooks,
        activity=outside.activity,
        clock=store.clock,
        ids=store.ids,
        tenant=TENANT,
        lease_ms=outside.lease_ms,
    )
    return Keyturn(
        settings=settings,
        ledger=store.ledger,
        preferences=store.preferences,
        people=people,
        roster=roster,
        gateway=Gateway(desk),
        gallery=Gallery(store.ledger, roster, people),
        bench=bench,
        clock=store.clock,
        ids=store.ids,
        me=local_person(),
        warnings=store.warnings,
    )
