"""The nouns of the model: a call, a reply, two workers, and the world that holds them.

States are the words of `core.calls`. Everything is a tuple, so that a world can be looked up among
those that were seen. A final call remembers nothing but its state: what else it knew matters to
nobody.
"""

from typing import Literal, NamedTuple

from core import calls
from core.calls import CallState, ReplyState

WAITING = CallState.WAITING.value
OPEN = CallState.OPEN.value
APPROVED = CallState.APPROVED.value
ALLOWED = CallState.ALLOWED.value
STARTED = CallState.STARTED.value
TASK = CallState.TASK.value
UNKNOWN = CallState.UNKNOWN.value
DONE = CallState.DONE.value
REJECTED = CallState.REJECTED.value
DENIED = CallState.DENIED.value
EXPIRED = CallState.EXPIRED.value
CANCELLED = CallState.CANCELLED.value
ABANDONED = CallState.ABANDONED.value
READY = ReplyState.READY.value
RUNNING = ReplyState.RUNNING.value
PARKED = ReplyState.PARKED.value

FINAL = frozenset(state.value for state in calls.FINAL)
ASKED = frozenset(state.value for state in calls.ASKED)
GRANTED = frozenset(state.value for state in calls.GRANTED)
MOVES = {state.value: frozenset(to.value for to in calls.MOVES[state]) for state in CallState}

Kind = Literal["auto", "timer", "human", "environment", "fault"]
"""Who makes a step: workers and pollers that simply go on, a deadline that passes, a person, the
world around, or something that breaks."""

Vote = tuple[str, int, int]
"""Who, and on the card of which turn and revision."""


class Spec(NamedTuple):
    """A call that the agent's model will ask for, and on what terms.

    `deniable`: the policy change of the scenario denies this tool.
    """

    first: str = OPEN
    quorum: int = 1
    external: bool = False
    idempotent: bool = False
    deniable: bool = False


class Scenario(NamedTuple):
    """What may happen in one exploration; the bounds keep it finite.

    `turns`: the calls of each model turn of the first reply; later replies ask for none.
    `runs`: starts of one call; `lapses`, `edits`: how many in all.
    """

    name: str
    turns: tuple[tuple[Spec, ...], ...]
    people: tuple[str, ...] = ("ana",)
    stop: bool = False
    policy: bool = False
    lapses: int = 0
    edits: int = 0
    messages: int = 2
    runs: int = 2


class Call(NamedTuple):
    """A call; `runs` is the number of its last run."""

    state: str
    revision: int = 0
    runs: int = 0
    votes: tuple[Vote, ...] = ()


class Reply(NamedTuple):
    """The session's active reply, with the calls of its present turn."""

    number: int
    state: str
    stop: bool = False
    turn: int = 0
    calls: tuple[Call, ...] = ()


class Worker(NamedTuple):
    """A worker and what it believes.

    `at`: idle, holds (a reply), model (its answer is awaited), pop (see `session-in-complete`).
    `live`: holds the fence that the ledger knows. `runs`: calls it is running, as (call, run).
    `copy`: the calls as it saw them last, where `state-apart` is broken.
    """

    at: str = "idle"
    live: bool = False
    reply: int = 0
    turn: int = 0
    runs: tuple[tuple[int, int], ...] = ()
    copy: tuple[Call, ...] = ()


IDLE = Worker()


class World(NamedTuple):
    """Everything.

    `heard`: messages accepted so far. `log`: closed replies with their outcome. `wake`: a hint is
    on its way. `policy`: revisions since the beginning. `spare`: lapses and edits still to come.
    """

    heard: int = 0
    log: tuple[tuple[int, str], ...] = ()
    queue: tuple[int, ...] = ()
    reply: Reply | None = None
    wake: bool = False
    policy: int = 0
    spare: tuple[int, int] = (0, 0)
    workers: tuple[Worker, Worker] = (IDLE, IDLE)


class Step(NamedTuple):
    """One thing that can happen next.

    `act` and what it is about: a worker, a call (by its place in the turn), a person, a number
    (of a message, turn, revision or run) and one more word. `wrong`: why it must not be possible.
    """

    act: str
    kind: Kind
    after: World
    wrong: str | None = None
    worker: int = -1
    call: int = -1
    who: str = ""
    number: int = -1
    word: str = ""

    def __str__(self) -> str:
        """For people: `ana approves B`."""
        parts = [self.who, self.act, "AB"[self.call] if self.call >= 0 else ""]
        parts += [str(self.number) if self.number >= 0 else "", self.word]
        return " ".join(part for part in parts if part)


def final(call: Call) -> bool:
    """Whether it never changes again."""
    return call.state in FINAL


def work(reply: Reply) -> bool:
    """Whether a worker should do something now: a stop, a grant, or nothing left to wait for."""
    states = {call.state for call in reply.calls}
    return reply.stop or bool(states & GRANTED) or not states & (ASKED | {STARTED})


def put(world: World, reply: Reply, *, may_wake: bool = True) -> World:
    """The world with this reply; a parked one that has work is woken."""
    if reply.state == PARKED and may_wake and work(reply):
        return world._replace(reply=reply._replace(state=READY), wake=True)
    return world._replace(reply=reply)


def with_call(reply: Reply, place: int, call: Call) -> Reply:
    """The reply with another call in that place."""
    return reply._replace(calls=(*reply.calls[:place], call, *reply.calls[place + 1 :]))


def with_worker(world: World, place: int, worker: Worker) -> World:
    """The world with another worker in that place."""
    other = world.workers[1 - place]
    return world._replace(workers=(worker, other) if place == 0 else (other, worker))


def nobody_holds(workers: tuple[Worker, Worker]) -> tuple[Worker, Worker]:
    """Workers whose fence is no longer the ledger's."""
    one, other = (w._replace(live=False) if w.live else w for w in workers)
    return one, other


def opened(world: World, number: int) -> World:
    """A message becomes the active reply."""
    return world._replace(reply=Reply(number, READY), wake=True)


def next_message(world: World) -> World:
    """The reply is over: the head of the queue is next."""
    if world.queue:
        return opened(world._replace(queue=world.queue[1:]), world.queue[0])
    return world._replace(reply=None, wake=False)


def denies(spec: Spec, policy: int) -> bool:
    """Whether that policy denies the call."""
    return spec.deniable and policy == 1


def sorted_workers(world: World) -> World:
    """The same world for an exploration: the two workers are alike."""
    one, other = world.workers
    return world if one <= other else world._replace(workers=(other, one))
