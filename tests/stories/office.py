"""A whole Keyturn without a platform: what the stories are told with.

Nothing runs by itself: `settle` lets workers and poster do what there is to do, `pass_time` turns
the clock. People act through the gateway, as every surface does.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from adapters.memory.preferences import MemoryPreferences
from adapters.models.scripted import ScriptedModel, Turn
from core.agent.results import texts
from core.authority import ApproverSet, Membership, People, Person
from core.calls import Actor, Call, CallState, Reply
from core.cards import Card
from core.deadlines import Deadlines
from core.editor import Editor
from core.events import AgentEvent, TextBlockDeltaEvent
from core.gateway import Desk, Gateway
from core.judgement import RulebookMaker
from core.ledger import CardKey, Ledger
from core.ledger.answers import Begun, Queued
from core.messages import ToolResultBlock, user_msg
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import Gate, Gates, OperatorRule, Policy
from core.ports import Model
from core.poster import Poster
from core.requests import Request
from core.roster import AgentSpec, TaskTerms
from core.state import AgentState
from core.tools import Tool
from core.views import Gallery
from core.worker import Bench, Worker

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
REQUESTER = Actor("person", "chat:rita", "Rita", "chat")
ANA = Actor("person", "chat:ana", "Ana", "chat")
BO = Actor("person", "chat:bo", "Bo", "chat")
CHANNEL = "chat:approvals"


@dataclass
class PatientClock:
    """Time that stands until somebody turns it; sleepers wake in order."""

    at: datetime = START
    _sleepers: list[tuple[datetime, int, asyncio.Event]] = field(
        default_factory=list[tuple[datetime, int, asyncio.Event]]
    )
    _numbers: "count[int]" = field(default_factory=count)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        due = self.at + timedelta(seconds=seconds)
        heapq.heappush(self._sleepers, (due, next(self._numbers), woken))
        await woken.wait()

    def turn(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        while self._sleepers and self._sleepers[0][0] <= self.at:
            heapq.heappop(self._sleepers)[2].set()


@dataclass
class CountedIds:
    """Ids that come in the same order every time."""

    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def new(self) -> str:
        return f"{next(self._numbers):032x}"


@dataclass
class Board:
    """A surface in memory: the last card shown on each message, and what was told."""

    cards: dict[str, Card] = field(default_factory=dict[str, Card])
    marks: dict[str, CardKey] = field(default_factory=dict[str, CardKey])
    notices: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def find(self, card: CardKey) -> tuple[str, ...]:
        return tuple(message for message, mark in self.marks.items() if mark == card)

    async def post(self, card: CardKey, view: Card) -> str:
        message = f"m{len(self.cards) + 1}"
        self.cards[message] = view
        self.marks[message] = card
        return message

    async def edit(self, card: CardKey, message: str, view: Card) -> None:
        assert self.marks[message] == card
        self.cards[message] = view

    async def notice(self, card: CardKey, kind: str, view: Card) -> None:
        self.notices.append((kind, view.title))


@dataclass
class Heard:
    """Every event that replies streamed; `text`: set once there was some."""

    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    text: asyncio.Event = field(default_factory=asyncio.Event)

    async def happened(self, reply: Reply, event: AgentEvent) -> None:
        self.events.append(event)
        if isinstance(event, TextBlockDeltaEvent):
            self.text.set()


@dataclass
class NoGroups:
    """A directory that knows nobody."""

    async def memberships(self, identity: str, groups: frozenset[str]) -> Mapping[str, Membership]:
        return {}


def the_people() -> People:
    """Rita, Ana and Bo; all of them decide, Bo and Rita do the tasks."""
    return People(
        persons={name: Person(name, frozenset({f"chat:{name}"})) for name in ("rita", "ana", "bo")},
        sets={
            "sre": ApproverSet("sre", people=frozenset({"ana", "bo", "rita"})),
            "desk": ApproverSet("desk", people=frozenset({"bo", "rita"})),
        },
    )


@dataclass
class Office:
    """One agent, its policy, and the people around it."""

    turns: Sequence[Turn]
    tools: Sequence[Tool]
    policy: Policy | None = None
    _: KW_ONLY
    ledger: Ledger
    clock: PatientClock
    ids: CountedIds
    follow: Callable[[], Awaitable[None]]
    board: Board = field(default_factory=Board)
    heard: Heard = field(default_factory=Heard)
    brain: Model | None = None
    poster_waits: bool = False
    people: People = field(default_factory=the_people)

    def __post_init__(self) -> None:
        self.policy = self.policy or standard_policy()
        self.model = ScriptedModel(self.turns)
        self.reopen()

    def reopen(self) -> None:
        """Put everything together, from the fields as they are now."""
        assert self.policy is not None
        self.spec = AgentSpec(
            "ops",
            self.brain or self.model,
            tuple(self.tools),
            owner="olga",
            channels=(CHANNEL,),
            tasks={one.name: TaskTerms("desk") for one in self.tools if one.traits.external},
        )
        roster = self.roster = {"ops": self.spec}
        self.preferences = MemoryPreferences(self.clock)
        rulebooks = RulebookMaker(self.policy, self.people, self.preferences)
        self.gallery = Gallery(self.ledger, roster, self.people)
        self.gateway = Gateway(
            Desk(
                self.ledger,
                roster,
                self.people,
                NoGroups(),
                self.preferences,
                Editor(self.ledger, roster, rulebooks),
                "local",
            )
        )
        self.bench = Bench(
            self.ledger, roster, rulebooks, self.heard, self.clock, self.ids, "local"
        )
        self.worker = Worker(self.bench, "w1")
        self.poster = Poster(self.ledger, self.gallery, {"chat": self.board}, self.clock, "p1")
        self.deadlines = Deadlines(self.ledger, self.clock, self.ids)

    async def ask(self, text: str = "go", session: str = "thread-1") -> str:
        """Rita asks; the id of the reply."""
        await self.ledger.publish_policy(self.bench.policy)
        request = Request("ops", session, REQUESTER, "chat:ops")
        accepted = await self.gateway.ask(request, user_msg(text), self.ids.new())
        assert isinstance(accepted, Begun | Queued)
        await self.settle()
        return accepted.reply_id

    async def settle(self) -> None:
        """Let workers and poster do all that there is to do."""
        async with asyncio.timeout(20):
            busy = True
            while busy:
                ready = await self.ledger.wait_for_work(0)
                taken = [await self.worker.take_up(reply_id) for reply_id in ready]
                busy = any(taken)
                if not self.poster_waits:
                    busy = await self.poster.carry_out() > 0 or busy

    async def pass_time(self, seconds: float) -> None:
        """Turn the clock; timers act, and what they cause."""
        await self.turn_clock(seconds)
        while await self.deadlines.fire_due():
            pass
        await self.settle()

    async def turn_clock(self, seconds: float) -> None:
        """Turn the clock; the store's too. Nothing acts on it yet."""
        self.clock.turn(seconds)
        await self.follow()

    async def asked(self) -> Call:
        """The one call that people are asked about."""
        (call,) = await self.gateway.pending()
        return call

    async def approve(self, call: Call, who: Actor = ANA) -> str:
        """A person presses Approve once; what they are told."""
        answered = await self.gateway.approve(call.key, call.revision, who, self.ids.new())
        await self.settle()
        return answered.said

    async def reject(self, call: Call, reason: str = "", who: Actor = ANA) -> str:
        """A person rejects; what they are told."""
        answered = await self.gateway.reject(call.key, call.revision, who, self.ids.new(), reason)
        await self.settle()
        return answered.said

    async def modify(self, call: Call, new_input: str, who: Actor = ANA) -> str:
        """A person changes the input; what they are told."""
        answered = await self.gateway.modify(
            call.key, call.revision, who, self.ids.new(), new_input
        )
        await self.settle()
        return answered.said

    async def reply(self, reply_id: str) -> Reply:
        """The reply as the ledger has it."""
        found = await self.ledger.reply(reply_id)
        assert found is not None
        return found

    async def states(self, reply_id: str) -> list[CallState]:
        """The states of its calls, in order."""
        return [call.state for call in (await self.reply(reply_id)).calls]

    async def told(self, call_id: str, session: str = "ops@thread-1") -> str:
        """What the model is told of a call."""
        kept = await self.ledger.session(session)
        assert kept is not None
        assert kept.agent is not None
        state = AgentState.model_validate(kept.agent.state)
        (result,) = (
            block
            for message in state.context
            for block in message.content
            if isinstance(block, ToolResultBlock) and block.id == call_id
        )
        return "".join(block.text for block in texts(result.output) if block.type == "text")

    def card(self, message: str = "m1") -> Card:
        """What the message shows now."""
        return self.board.cards[message]


async def nothing_follows() -> None:
    """A store that reads the office's clock itself."""


@dataclass
class OpenOffice:
    """Opens offices on one store: one after the other, like processes that come and go."""

    ledger: Ledger
    clock: PatientClock
    ids: CountedIds
    follow: Callable[[], Awaitable[None]] = nothing_follows

    def __call__(
        self, turns: Sequence[Turn], tools: Sequence[Tool], policy: Policy | None = None
    ) -> Office:
        return Office(
            turns,
            tools,
            policy,
            ledger=self.ledger,
            clock=self.clock,
            ids=self.ids,
            follow=self.follow,
        )


def standard_policy(*gates: Gate, quorum: int = 1) -> Policy:
    """A policy whose default gate is decided by the set `sre`."""
    return Policy(Gates(Gate("default", "sre", quorum=quorum), tuple(gates)), revision=1)


def press_policy(behavior: PermissionBehavior, revision: int) -> Policy:
    """A policy with one rule about the press."""
    rule = PermissionRule(
        tool_name="press", rule_content=None, behavior=behavior, source="operator"
    )
    return Policy(standard_policy().gates, (OperatorRule(rule),), revision=revision)
