"""A rough world: a Keyturn whose store, chat and process fail at a chosen step, in time that jumps.

Everything is repeatable: ids are counted, and time only passes when there is nothing else to do.
"""

import asyncio
import random
import selectors
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeVar, cast

from adapters.memory.ledger import MemoryLedger
from adapters.models.scripted import Call as Ask
from adapters.models.scripted import Say, Turn
from core.calls import Actor, Call, CallKey, CallState, Reply, ReplyState
from core.cards import Card
from core.errors import StoreUnavailable, SurfaceUnavailable
from core.external import ExternalTool
from core.ledger import Asked, CardKey, Ledger
from core.ledger.answers import Begun, Queued
from core.messages import Msg, TextBlock, ToolCallBlock, ToolResultState, Usage, user_msg
from core.permissions.functions import FunctionPermissions
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import Gate, Gates, OperatorRule, Policy
from core.ports import CallDelta, ModelDone, ModelEvent, TextDelta, ToolChoice, ToolSpec
from core.private_answers import Answered
from core.requests import Request
from core.tasks import TaskAnswer
from core.tools import Chunk, Input, Run, Tool, ToolPermissions, Traits
from tests.stories.office import ANA, BO, REQUESTER, START, Board, CountedIds, Office, PatientClock

SECRET = "said only in inputs"
POLLS = frozenset({"wait_for_work", "orders", "due", "next_due", "now", "policy"})
"""Asked all the time; a fault there is the same every time, so it is not counted as a step."""

T = TypeVar("T")
Moment = Literal["before", "after"]


class _Impatient(selectors.DefaultSelector):
    """Waits for nothing; remembers for how long it should have."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen again"
        self.now += max(timeout, 0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop in which an hour of waiting takes no time."""

    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    def time(self) -> float:
        return self._impatient.now


class LoopClock(PatientClock):
    """The loop's own time."""

    def now(self) -> datetime:
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


Unknown = Literal["abandon", "again", "done"]
"""What people do about a run whose end is unknown."""
Strike = Literal["silence", "death", "stop"]
"""No answer comes; the process dies; a person stops the reply just then."""


class Trouble(Protocol):
    """Decides what goes wrong at a step."""

    def strike(self, number: int, moment: Moment) -> Strike | None:
        """What happens before or after step `number` of a process, if anything."""
        ...


@dataclass(frozen=True)
class Fault:
    """One fault at one step. Silence may last: `length` steps, the later ones without effect."""

    at: int
    moment: Moment
    kind: Strike = "silence"
    length: int = 1

    def strike(self, number: int, moment: Moment) -> Strike | None:
        if not self.at <= number < self.at + self.length:
            return None
        return self.kind if moment == (self.moment if number == self.at else "before") else None


@dataclass
class Storm:
    """Any step may go wrong, repeatably, until the storm is over."""

    seed: int
    steps: int = 400
    taken: int = 0

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)  # noqa: S311 - repeatable on purpose

    def strike(self, number: int, moment: Moment) -> Strike | None:
        self.taken += 1
        if self.taken > self.steps:
            return None
        number = self.dice.randrange(100)
        return "silence" if number < 5 else "death" if number < 7 else None


@dataclass
class Line:
    """Everything that one process does outside itself goes through here, step by step.

    Attributes:
        steps: the names of the steps so far.
        asked: how often the ledger was asked anything, polls included.
    """

    ledger: Ledger
    trouble: Trouble | None = None
    on_stop: Callable[[], Awaitable[Any]] | None = None
    steps: list[str] = field(default_factory=list[str])
    asked: int = 0
    dead: asyncio.Event = field(default_factory=asyncio.Event)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self.ledger, name)

        async def ask(*args: Any, **more: Any) -> Any:
            self.asked += 1
            if name in POLLS:
                await self._alive()
                return await method(*args, **more)
            return await self.step(name, lambda: method(*args, **more), StoreUnavailable("silent"))

        return ask

    async def step(
        self, name: str, act: Callable[[], Awaitable[Any]], error: Exception | None = None
    ) -> Any:
        """Do one thing, unless it is this that goes wrong."""
        await self._alive()
        number = len(self.steps)
        self.steps.append(name)
        await self._strike(number, "before", error)
        answer = await act()
        await self._strike(number, "after", error)
        return answer

    async def _strike(self, number: int, moment: Moment, error: Exception | None) -> None:
        kind = self.trouble.strike(number, moment) if self.trouble else None
        if kind == "death":
            self.dead.set()
            await self._alive()
        elif kind == "stop" and self.on_stop is not None:
            await self.on_stop()
        elif kind == "silence" and error is not None:
            raise error

    async def _alive(self) -> None:
        if self.dead.is_set():
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                await asyncio.Event().wait()
            raise asyncio.CancelledError


@dataclass(slots=True)
class QuickLedger(MemoryLedger):
    """Hands out its records themselves: nobody here changes them, and copies take most of the
    time of a life."""

    async def reply(self, reply_id: str) -> Reply | None:
        return self._replies.get(reply_id)

    async def call(self, key: CallKey) -> Call | None:
        reply = self._replies.get(key.reply_id)
        call = reply.call(key.call_id) if reply else None
        return call if call and call.key == key else None


@dataclass
class Machine:
    """A tool whose every effect is noted."""

    name: str
    line: Line
    effects: list[tuple[str, int]]
    traits: Traits = field(default_factory=Traits)
    description = "Do something."
    input_schema: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {"note": {"type": "string"}}}
    )

    @property
    def permissions(self) -> ToolPermissions:
        return FunctionPermissions(self.name)

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        async def act() -> None:
            self.effects.append((run.call_id, run.number))
            await asyncio.sleep(0.2)

        await self.line.step("tool", act)
        yield Chunk((TextBlock(text=f"effect of {run.call_id}"),), ToolResultState.SUCCESS)


@dataclass
class FlakyBoard(Board):
    """One process's way to the board that all share."""

    line: Line | None = None

    async def _step(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        assert self.line is not None
        return await self.line.step(name, act, SurfaceUnavailable("chat is away"))

    async def find(self, card: CardKey) -> tuple[str, ...]:
        return cast(tuple[str, ...], await self._step("find", lambda: Board.find(self, card)))

    async def post(self, card: CardKey, view: Card) -> str:
        return str(await self._step("post", lambda: Board.post(self, card, view)))

    async def edit(self, card: CardKey, message: str, view: Card) -> None:
        await self._step("edit", lambda: Board.edit(self, card, message, view))


@dataclass
class Playbook:
    """A model that reads in the conversation how far it has come."""

    turns: Sequence[Turn]
    line: Line
    name = "playbook"

    async def stream(
        self, messages: Sequence[Msg], tools: Sequence[ToolSpec], choice: ToolChoice = "auto"
    ) -> AsyncIterator[ModelEvent]:
        async def think() -> None:
            await asyncio.sleep(0.1)

        await self.line.step("model", think)
        last = max(n for n, message in enumerate(messages) if message.role == "user")
        said = [block for message in messages[last:] for block in message.content]
        if any(isinstance(block, TextBlock) and block.text == "two" for block in said):
            yield TextDelta("Second.")
        else:
            seen = {block.id for block in said if isinstance(block, ToolCallBlock)}
            for event in self._next(seen):
                yield event
        yield ModelDone(Usage(input_tokens=1, output_tokens=1))

    def _next(self, seen: set[str]) -> list[ModelEvent]:
        for turn in self.turns:
            asks = [part for part in turn if isinstance(part, Ask)]
            if any(ask.id not in seen for ask in asks):
                return [CallDelta(n, ask.id, ask.tool, ask.input) for n, ask in enumerate(asks)]
        return [TextDelta("First.")]


def ask_for(tool: str, call_id: str) -> Ask:
    """A call with a secret in it."""
    return Ask(tool, f'{{"note": "{SECRET} {call_id}"}}', call_id)


TURNS: Sequence[Turn] = (
    (ask_for("look", "a1"), ask_for("pay", "a2")),
    (ask_for("wipe", "b1"), ask_for("mail", "b2"), ask_for("badge", "b3")),
    (ask_for("launch", "c1"), ask_for("sync", "c2")),
    (Say("First."),),
)
SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}}


def the_policy() -> Policy:
    """Look and sync are allowed, launch needs two people, the rest one."""
    allowed = tuple(
        OperatorRule(
            PermissionRule(
                tool_name=name,
                rule_content=None,
                behavior=PermissionBehavior.ALLOW,
                source="operator",
            )
        )
        for name in ("look", "sync")
    )
    two = Gate("two", "sre", matches=("launch",), quorum=2)
    return Policy(Gates(Gate("default", "sre"), (two,)), allowed, revision=1)


@dataclass
class World:
    """One store and one chat that live on; processes come and go.

    Attributes:
        confirmed: what people were told was recorded: the act, the call, its revision.
        unknown: what people do about an unknown run.
        people: the line that people press through.
        peoples_trouble: what goes wrong where people press.
        stopped: whether a person was told that the first reply is being stopped.
        first: the line of the process that trouble begins in.
        healthy: how many processes without faults run beside the one that has them.
    """

    trouble: Trouble | None = None
    unknown: Unknown = "abandon"
    clock: LoopClock = field(default_factory=LoopClock)
    ids: CountedIds = field(default_factory=CountedIds)
    board: Board = field(default_factory=Board)
    effects: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    confirmed: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    lines: list[Line] = field(default_factory=list[Line])
    replies: list[str] = field(default_factory=list[str])
    healthy: int = 0
    peoples_trouble: Trouble | None = None
    stopped: bool = False
    first: Line | None = None
    people: Line | None = None

    def __post_init__(self) -> None:
        self.ledger = QuickLedger(self.clock, self.ids)

    def process(self, trouble: Trouble | None = None) -> tuple[Line, Office]:
        """A new process on the one store."""
        line = Line(self.ledger, trouble, self._stop)
        self.lines.append(line)
        board = FlakyBoard(self.board.cards, self.board.marks, self.board.notices, line=line)
        asked = Traits()
        tools: list[Tool] = [
            Machine("look", line, self.effects, Traits(read_only=True)),
            Machine("pay", line, self.effects, asked),
            Machine("wipe", line, self.effects, asked),
            Machine("mail", line, self.effects, asked),
            Machine("launch", line, self.effects, Traits(concurrency_safe=False)),
            Machine("sync", line, self.effects, Traits(idempotent=True)),
            ExternalTool("badge", "Rotate a badge.", SCHEMA, Traits(external=True)),
        ]
        office = Office(
            TURNS,
            tools,
            the_policy(),
            ledger=cast(Ledger, line),
            clock=self.clock,
            ids=self.ids,
            follow=_no_follow,
            board=board,
            brain=Playbook(TURNS, line),
        )
        return line, office

    async def live(self) -> None:
        """From the first message to the end of the second reply, whatever happens between."""
        await self.ledger.publish_policy("1")
        _, front = self.process()
        for text in ("one", "two"):
            request = Request("ops", "thread-1", REQUESTER, "chat:ops")
            accepted = await front.gateway.ask(request, user_msg(text), self.ids.new())
            assert isinstance(accepted, Begun | Queued)
            self.replies.append(accepted.reply_id)
        async with asyncio.timeout(7_000), asyncio.TaskGroup() as group:
            others = [group.create_task(self._people()), group.create_task(self._processes())]
            others += [group.create_task(run(self.process()[1])) for _ in range(self.healthy)]
            while not await self._over():  # noqa: ASYNC110 - time jumps here
                await asyncio.sleep(1)
            for task in others:
                task.cancel()
        await self._afterwards(front)

    async def _over(self) -> bool:
        replies = [await self.reply(n) for n in range(len(self.replies))]
        return all(reply.state is ReplyState.CLOSED for reply in replies)

    async def reply(self, number: int) -> Reply:
        """The first or second reply."""
        found = await self.ledger.reply(self.replies[number])
        assert found is not None
        return found

    async def _processes(self) -> None:
        trouble = self.trouble
        while True:
            line, office = self.process(trouble)
            self.first = self.first or line
            trouble = trouble if isinstance(trouble, Storm) else None
            async with asyncio.TaskGroup() as group:
                task = group.create_task(run(office))
                await line.dead.wait()
                task.cancel()
            await asyncio.sleep(1)

    async def _stop(self) -> None:
        _, office = self.process()
        answered = await office.gateway.stop(self.replies[0], REQUESTER, self.ids.new())
        self.stopped = self.stopped or answered.ok

    async def _people(self) -> None:
        """They look every other second and answer what they are asked; who hears nothing presses
        once more."""
        self.people, office = self.process(self.peoples_trouble)
        while True:
            await asyncio.sleep(2)
            for call in await self.ledger.open_calls(Asked("local")):
                try:
                    await self._answer(office, call)
                except StoreUnavailable:
                    continue

    async def _answer(self, office: Office, call: Call) -> None:
        key, revision = call.key, call.revision
        who = BO if call.votes else ANA
        act, answered = await self._act(office, call, who)
        if answered.ok:
            self.confirmed.append((act, key.call_id, revision))

    async def _act(self, office: Office, call: Call, who: Actor) -> tuple[str, Answered]:
        gateway, key, revision, op = office.gateway, call.key, call.revision, self.ids.new()
        if call.state is CallState.TASK:
            return "fulfil", await gateway.fulfil(key, BO, op, TaskAnswer("badge given"))
        if call.state is CallState.UNKNOWN and self.unknown == "done":
            return "done", await gateway.fulfil(key, who, op, TaskAnswer("it was done"))
        if call.state is CallState.UNKNOWN and self.unknown == "abandon":
            return "abandon", await gateway.reject(key, revision, who, op)
        if call.tool == "wipe":
            return "reject", await gateway.reject(key, revision, who, op, "never")
        if call.tool == "mail" and call.input == call.original_input:
            changed = f'{{"note": "{SECRET} changed"}}'
            return "modify", await gateway.modify(key, revision, who, op, changed)
        return "approve", await gateway.approve(key, revision, who, op)

    async def _afterwards(self, office: Office) -> None:
        """The chat catches up: orders that were taken by a dead process come again."""
        for _ in range(4):
            await asyncio.sleep(61)
            while await office.deadlines.fire_due():
                pass
            while await office.poster.carry_out():
                pass

    @property
    def runs(self) -> Counter[tuple[str, int]]:
        """How often each run of each call had its effect."""
        return Counter(self.effects)


async def run(office: Office) -> None:
    """A whole process, until it is cancelled."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(office.worker.run(stop))
        group.create_task(office.deadlines.run(stop))
        group.create_task(office.poster.run(stop))


async def _no_follow() -> None:
    """The store reads the loop's clock."""


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run something in a loop whose time jumps."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(work)
