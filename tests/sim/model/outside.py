"""What happens around the workers: messages, timers, people."""

from collections.abc import Iterator

from tests.sim.model.world import (
    ABANDONED,
    ALLOWED,
    APPROVED,
    CANCELLED,
    DONE,
    EXPIRED,
    OPEN,
    PARKED,
    READY,
    REJECTED,
    RUNNING,
    STARTED,
    TASK,
    UNKNOWN,
    Call,
    Reply,
    Scenario,
    Spec,
    Step,
    World,
    final,
    nobody_holds,
    opened,
    put,
    with_call,
)


def messages(scenario: Scenario, world: World, without: str) -> Iterator[Step]:
    """A message comes; the policy changes."""
    for number in range(1, min(world.heard + 1, scenario.messages) + 1):
        again = number <= world.heard
        if again and not (without == "message-once" and len(world.queue) < 2):
            continue
        heard = world._replace(heard=max(world.heard, number))
        after = heard._replace(queue=(*world.queue, number))
        if world.reply is None and not world.queue:
            after = opened(heard, number)
        yield Step("message", "environment", after, number=number)
    if scenario.policy and world.policy == 0:
        yield Step("policy denies", "environment", world._replace(policy=1))


def timers(
    scenario: Scenario, world: World, specs: tuple[Spec, ...], without: str
) -> Iterator[Step]:
    """A deadline may pass, and a lease may end, at any moment at which it is set."""
    reply = world.reply
    if reply is None:
        return
    if reply.state == READY and world.wake:
        yield Step("wake-up lost", "fault", world._replace(wake=False))
    elif reply.state == READY and without != "ready-backstop":
        yield Step("backstop wakes", "auto", world._replace(wake=True))
    if reply.state == RUNNING:
        calls = tuple(
            _run_lost(scenario, reply, call, spec, without)
            for call, spec in zip(reply.calls, specs, strict=True)
        )
        left = world._replace(workers=nobody_holds(world.workers))
        after = put(left, reply._replace(calls=calls, state=PARKED))
        yield Step("lease ends", "auto", after)
    for place, call in enumerate(reply.calls):
        yield from _call_timers(world, reply, place, call, without)


def _run_lost(scenario: Scenario, reply: Reply, call: Call, spec: Spec, without: str) -> Call:
    if call.state != STARTED:
        return call
    if without == "lease-makes-unknown":
        return call._replace(state=APPROVED)
    if reply.stop:
        return Call(ABANDONED)
    if spec.idempotent and call.runs < scenario.runs:
        return call._replace(state=ALLOWED)
    return Call(UNKNOWN, call.revision + 1, call.runs)


def _call_timers(
    world: World, reply: Reply, place: int, call: Call, without: str
) -> Iterator[Step]:
    state = call.state
    if state in (OPEN, TASK) or (state == UNKNOWN and without != "unknown-deadline"):
        ended = Call(ABANDONED if state == UNKNOWN else EXPIRED)
        yield Step("expires", "timer", settle(world, reply, place, ended, without), call=place)
    others_open = any(other.state == OPEN for other in reply.calls)
    if without == "expire-per-call" and state == APPROVED and others_open:
        after = settle(world, reply, place, Call(EXPIRED), without)
        yield Step("reply expires, with it", "timer", after, call=place)
    lapses, edits = world.spare
    granted = state == APPROVED or (state == ALLOWED and call.runs > 0)
    if granted and lapses and without != "write-ahead":
        asked = Call(UNKNOWN if call.runs else OPEN, call.revision + 1, call.runs)
        if without == "lapse-asks-again":
            asked = Call(APPROVED, call.revision, call.runs)
        spent = world._replace(spare=(lapses - 1, edits))
        after = settle(spent, reply, place, asked, without)
        yield Step("grant lapses", "environment", after, call=place)


def people(
    scenario: Scenario, world: World, specs: tuple[Spec, ...], without: str
) -> Iterator[Step]:
    """People press what they see, and what they saw."""
    reply = world.reply
    if reply is None:
        return
    for place, call in enumerate(reply.calls):
        if call.state in (OPEN, UNKNOWN):
            yield from _clicks(scenario, world, reply, place, specs[place], without)
        if scenario.stop and call.state in (OPEN, APPROVED, TASK, UNKNOWN):
            after = settle(world, reply, place, _withdrawn(call), without)
            yield Step("cancels", "human", after, call=place, who="requester")
        if call.state in (TASK, UNKNOWN):
            after = settle(world, reply, place, Call(DONE), without)
            yield Step("fulfils", "human", after, call=place, who=scenario.people[0])
    aimed = reply.number == 1 or without == "stop-names-reply"
    if scenario.stop and aimed and not reply.stop:
        yield _stop(world, reply, without)


def _stop(world: World, reply: Reply, without: str) -> Step:
    keeps = {STARTED} | ({APPROVED} if without == "stop-cancels-grants" else set())
    calls = tuple(
        call if final(call) or call.state in keeps else _withdrawn(call) for call in reply.calls
    )
    after = put(world, reply._replace(stop=True, calls=calls))
    wrong = "a stop aimed at reply 1 hit another reply" if reply.number != 1 else None
    return Step("stops reply", "human", after, wrong, who="requester", number=1)


def _withdrawn(call: Call) -> Call:
    """What had begun and is not proven stays so, whether it was to run again or not."""
    return Call(ABANDONED if call.runs else CANCELLED)


def _clicks(
    scenario: Scenario, world: World, reply: Reply, place: int, spec: Spec, without: str
) -> Iterator[Step]:
    call = reply.calls[place]
    for who in scenario.people:
        if without == "decide-per-call" and reply.state != PARKED:
            wrong = "a decision on an open call was refused"
            yield Step("approves", "human", world, wrong, call=place, who=who)
            continue
        for turn, revision in _cards(scenario, reply, place, without):
            after = _approved(scenario, world, reply, place, (who, turn, revision), without)
            if after is not None and len(call.votes) < spec.quorum:
                old = (turn, revision) != (reply.turn, call.revision)
                word = f"on the card of turn {turn}" if old else ""
                yield Step("approves", "human", after, None, -1, place, who, revision, word)
        refused = Call(ABANDONED if call.state == UNKNOWN else REJECTED)
        after = settle(world, reply, place, refused, without)
        yield Step("rejects", "human", after, call=place, who=who, number=call.revision)
        if call.state == OPEN and world.spare[1]:
            yield _edited(world, reply, place, who, spec)


def _cards(scenario: Scenario, reply: Reply, place: int, without: str) -> Iterator[tuple[int, int]]:
    """Turns and revisions of cards whose buttons still reach this call."""
    call = reply.calls[place]
    for turn in range(1, reply.turn + 1):
        here = turn == reply.turn
        if not here and (without != "call-key-turn" or place >= len(scenario.turns[turn - 1])):
            continue
        for revision in range(call.revision + 1):
            if revision == call.revision or without == "vote-revision" or not here:
                yield turn, revision


def _approved(
    scenario: Scenario,
    world: World,
    reply: Reply,
    place: int,
    vote: tuple[str, int, int],
    without: str,
) -> World | None:
    call, spec = reply.calls[place], scenario.turns[reply.turn - 1][place]
    again = vote[0] in {voter for voter, _, _ in call.votes}
    if call.runs >= scenario.runs or (again and without != "one-vote-each"):
        return None
    votes = tuple(sorted((*call.votes, vote)))
    state = APPROVED if len(votes) >= spec.quorum else call.state
    return settle(world, reply, place, call._replace(state=state, votes=votes), without)


def _edited(world: World, reply: Reply, place: int, who: str, spec: Spec) -> Step:
    call = reply.calls[place]
    revision = call.revision + 1
    state = APPROVED if spec.quorum == 1 else OPEN
    mine = Call(state, revision, call.runs, ((who, reply.turn, revision),))
    spent = world._replace(spare=(world.spare[0], world.spare[1] - 1))
    after = put(spent, with_call(reply, place, mine))
    return Step("edits", "human", after, call=place, who=who, number=call.revision)


def settle(world: World, reply: Reply, place: int, call: Call, without: str) -> World:
    """A call has changed; what it makes of the reply follows."""
    may_wake = without != "wake-on-any-answer" or call.state == APPROVED
    return put(world, with_call(reply, place, call), may_wake=may_wake)
