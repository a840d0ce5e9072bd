"""What workers do. A worker tries whatever it could believe to be right, however old its view;
only the guards of the ledger stop it."""

from collections.abc import Iterator

from tests.sim.model.outside import settle
from tests.sim.model.world import (
    ABANDONED,
    ALLOWED,
    APPROVED,
    ASKED,
    DENIED,
    DONE,
    GRANTED,
    IDLE,
    OPEN,
    PARKED,
    READY,
    RUNNING,
    STARTED,
    TASK,
    WAITING,
    Call,
    Reply,
    Scenario,
    Spec,
    Step,
    Worker,
    World,
    denies,
    final,
    next_message,
    nobody_holds,
    with_worker,
    work,
)


def workers(
    scenario: Scenario, world: World, specs: tuple[Spec, ...], without: str
) -> Iterator[Step]:
    """What either worker does next; the second does nothing of its own when both are alike."""
    for place, me in enumerate(world.workers):
        if place and me == world.workers[0]:
            continue
        if me.at == "idle":
            yield from _claims(world, place, without)
            continue
        crashed = with_worker(world, place, IDLE)
        yield Step("worker crashes", "fault", crashed, worker=place, word=me.at)
        if me.at == "pop":
            after = with_worker(next_message(world), place, IDLE)
            yield Step("opens the next message", "auto", after, worker=place)
            continue
        for run in me.runs:
            yield _finishes(world, place, run, without)
        reply = world.reply
        here = reply is not None and reply.number == me.reply and reply.state == RUNNING
        if reply is not None and here and (me.live or without == "fence"):
            yield from _holds(scenario, world, reply, place, specs, without)
        elif not me.runs:
            yield Step("lets go", "auto", with_worker(world, place, IDLE), worker=place)


def _claims(world: World, place: int, without: str) -> Iterator[Step]:
    reply = world.reply
    if reply is None:
        return
    begun = any(call.state in (APPROVED, STARTED) for call in reply.calls)
    shared = without == "claim-by-request" and reply.state == RUNNING and begun
    if not (reply.state == READY and world.wake) and not shared:
        return
    others = world if shared else world._replace(workers=nobody_holds(world.workers))
    copy = reply.calls if without == "state-apart" else ()
    mine = Worker("holds", True, reply.number, reply.turn, copy=copy)
    held = others._replace(reply=reply._replace(state=RUNNING), wake=False)
    yield Step("claims", "auto", with_worker(held, place, mine), worker=place)


def _holds(
    scenario: Scenario,
    world: World,
    reply: Reply,
    place: int,
    specs: tuple[Spec, ...],
    without: str,
) -> Iterator[Step]:
    me = world.workers[place]
    done = all(map(final, reply.calls))
    if me.at == "model":
        yield from _model_answers(scenario, world, reply, place, without)
        return
    if done and reply.stop:
        yield _completes(world, reply, place, without)
    elif done:
        asked = with_worker(world, place, me._replace(at="model"))
        yield Step("asks the model", "auto", asked, worker=place)
    if without == "turn-once" and specs:
        calls = tuple(Call(spec.first) for spec in specs)
        late = world._replace(reply=reply._replace(calls=calls))
        yield Step("late copy of turn", "fault", late, worker=place, number=reply.turn)
    yield from _releases(world, reply, place, without)
    for at in range(len(reply.calls)):
        yield from _calls(world, reply, place, at, specs[at], without)


def _model_answers(
    scenario: Scenario, world: World, reply: Reply, place: int, without: str
) -> Iterator[Step]:
    me, turns = world.workers[place], scenario.turns
    done = all(map(final, reply.calls))
    more = reply.number == 1 and reply.turn < len(turns)
    may = not reply.stop or without == "no-turn-after-stop"
    if more and may and done and me.turn == reply.turn:
        calls = tuple(
            Call(DENIED if denies(spec, world.policy) else spec.first) for spec in turns[reply.turn]
        )
        written = world._replace(reply=reply._replace(turn=reply.turn + 1, calls=calls))
        copy = calls if without == "state-apart" else ()
        mine = me._replace(at="holds", turn=me.turn + 1, copy=copy)
        after = with_worker(written, place, mine)
        wrong = "new questions after a stop" if reply.stop else None
        yield Step("writes turn", "auto", after, wrong, place, number=reply.turn + 1)
    if done and (reply.number != 1 or me.turn >= 1 or reply.stop):
        yield _completes(world, reply, place, without)


def _completes(world: World, reply: Reply, place: int, without: str) -> Step:
    me = world.workers[place]
    stopped = reply.stop and without != "stop-wins-complete"
    wrong = None
    if me.turn != reply.turn:
        wrong = "agent state was overwritten by an older copy"
    elif reply.stop and not stopped:
        wrong = "an accepted stop was lost"
    outcome = "stopped" if stopped else "finished"
    closed = world._replace(log=(*world.log, (reply.number, outcome)))
    if without == "session-in-complete":
        after = with_worker(closed._replace(reply=None, wake=False), place, Worker("pop"))
    else:
        after = with_worker(next_message(closed), place, IDLE)
    return Step("completes", "auto", after, wrong, place, number=me.turn, word=outcome)


def _releases(world: World, reply: Reply, place: int, without: str) -> Iterator[Step]:
    me = world.workers[place]
    runs = any(call.state == STARTED for call in reply.calls)
    if not runs:
        ready = world._replace(reply=reply._replace(state=READY), wake=True)
        yield Step("hands back", "environment", with_worker(ready, place, IDLE), worker=place)
    seen = me.copy or reply.calls
    open_calls = not all(map(final, reply.calls))
    idle = not work(reply._replace(calls=seen))
    if not idle and not (without == "release-conditional" and open_calls):
        return
    if runs and without != "release-not-while-running":
        return
    calls = seen if without == "state-apart" else reply.calls
    parked = reply._replace(state=PARKED, calls=calls)
    gone = world._replace(workers=nobody_holds(world.workers), reply=parked)
    yield Step("releases", "auto", with_worker(gone, place, IDLE), worker=place)
    yield Step("late copy of release", "fault", gone, worker=place)


def _calls(
    world: World, reply: Reply, place: int, at: int, spec: Spec, without: str
) -> Iterator[Step]:
    me, call = world.workers[place], reply.calls[at]
    waited_for = ASKED | GRANTED | {STARTED}
    if call.state == WAITING and not any(c.state in waited_for for c in reply.calls):
        for state in (DENIED,) if denies(spec, world.policy) else (OPEN, ALLOWED, DENIED):
            after = settle(world, reply, at, Call(state), without)
            yield Step("checks", "auto", after, None, place, at, word=state)
    shared = without == "claim-by-request" and me.live and not me.runs
    again = shared and call.state == STARTED
    after_stop = reply.stop and without != "stop-cancels-grants"
    if (call.state not in GRANTED and not again) or after_stop:
        return
    if denies(spec, world.policy) and without != "policy-refusal-ends":
        after = settle(world, reply, at, Call(ABANDONED if call.runs else DENIED), without)
        yield Step("refuses", "auto", after, worker=place, call=at)
    unvoted = call.state == APPROVED and not call.votes
    if not unvoted and at not in {running for running, _ in me.runs}:
        yield from _starts(world, reply, place, at, spec, without)


def _starts(
    world: World, reply: Reply, place: int, at: int, spec: Spec, without: str
) -> Iterator[Step]:
    call = reply.calls[at]
    for revision in range(call.revision + 1):
        for policy in range(world.policy + 1):
            old = revision != call.revision and without != "digest-at-start"
            moved = policy != world.policy and without != "policy-at-start"
            if old or moved or denies(spec, policy):
                continue
            wrong = _wrong_start(world, reply, at, spec, revision)
            if spec.external:
                task = settle(world, reply, at, Call(TASK, call.revision + 1), without)
                yield Step("offers the task", "auto", task, wrong, place, at, number=revision)
            else:
                yield _started(world, reply, place, at, wrong, without)


def _started(
    world: World, reply: Reply, place: int, at: int, wrong: str | None, without: str
) -> Step:
    me, call = world.workers[place], reply.calls[at]
    again = call.state == STARTED
    run = call.runs + (0 if again else 1)
    new = call if without == "write-ahead" or again else Call(STARTED, call.revision, run)
    mine = me._replace(runs=tuple(sorted((*me.runs, (at, run)))))
    if mine.copy:
        mine = mine._replace(copy=(*mine.copy[:at], new, *mine.copy[at + 1 :]))
    after = with_worker(settle(world, reply, at, new, without), place, mine)
    return Step("starts", "auto", after, wrong, place, at, number=run)


def _wrong_start(world: World, reply: Reply, at: int, spec: Spec, revision: int) -> str | None:
    call = reply.calls[at]
    voters = {who for who, *card in call.votes if card == [reply.turn, call.revision]}
    valid = len(voters) == len(call.votes) and len(voters) >= spec.quorum
    if denies(spec, world.policy):
        return "started although the policy denies it"
    if revision != call.revision:
        return "ran another input than the approved one"
    if reply.stop:
        return "started after a stop"
    if call.state == APPROVED and not valid:
        return "started without a valid approval"
    return None


def _finishes(world: World, place: int, ended: tuple[int, int], without: str) -> Step:
    """A tool came to an end. Its own run counts, not who holds the reply now."""
    at, run = ended
    me, reply = world.workers[place], world.reply
    back = me._replace(runs=tuple(other for other in me.runs if other != ended))
    if not me.live and not back.runs:
        back = IDLE
    late = Step("finishes too late", "auto", with_worker(world, place, back), None, place, at)
    late = late._replace(number=run)
    if reply is None or (reply.number, reply.turn) != (me.reply, me.turn):
        return late
    call = reply.calls[at]
    if final(call):
        return late
    same = call.runs == run or without == "write-ahead"
    other = without == "finish-names-run" and call.state == STARTED
    if (without == "late-proof-counts" and call.state in GRANTED) or not (same or other):
        wrong = "a proven result is thrown away and the call runs again" if same else None
        return late._replace(wrong=wrong)
    if back.copy:
        back = back._replace(copy=(*back.copy[:at], Call(DONE), *back.copy[at + 1 :]))
    after = with_worker(settle(world, reply, at, Call(DONE), without), place, back)
    wrong = None if same else "the result of one run was recorded for another"
    return Step("finishes", "auto", after, wrong, place, at, number=run)
