"""What no single step may do, what holds in every world, and what can always be reached."""

from tests.sim.model.world import (
    APPROVED,
    ASKED,
    EXPIRED,
    MOVES,
    OPEN,
    PARKED,
    RUNNING,
    STARTED,
    UNKNOWN,
    Call,
    Scenario,
    Step,
    World,
    final,
    work,
)


def wrong_step(before: World, step: Step) -> str | None:
    """What is wrong with this step, if anything."""
    old, new = before.reply, step.after.reply
    if old is None:
        return None
    if new is None or (new.number, new.turn) != (old.number, old.turn):
        done = all(map(final, old.calls))
        return None if done else "a reply went on over an open call"
    for was, call in zip(old.calls, new.calls, strict=True):
        if was is not call and (wrong := _wrong_move(step, was, call)):
            return wrong
    return None


def _wrong_move(step: Step, was: Call, call: Call) -> str | None:
    if was.state == call.state:
        kept = call.revision != was.revision or not set(was.votes) - set(call.votes)
        return None if kept or step.act in ("starts", "grant lapses") else "a vote was lost"
    if (was.state, call.state) == (STARTED, APPROVED):
        return "a call that may have run can run again on the same grant"
    taken_back = was.state == APPROVED and call.state in (OPEN, UNKNOWN, EXPIRED)
    if taken_back and step.act != "grant lapses":
        return "a confirmed decision was lost"
    if final(was):
        return f"a call left its final state: {was.state} to {call.state}"
    return None if call.state in MOVES[was.state] else f"a call went from {was} to {call}"


def wrong_world(_scenario: Scenario, world: World, without: str = "") -> str | None:
    """What is wrong with this world, if anything."""
    reply = world.reply
    seen = tuple(number for number, _ in world.log)
    seen += (reply.number,) if reply else ()
    if seen + world.queue != tuple(range(1, world.heard + 1)):
        return "messages lost, doubled or out of order"
    if reply and reply.state == PARKED and work(reply):
        return "parked although there is something to do"
    if reply and reply.state != RUNNING and any(c.state == STARTED for c in reply.calls):
        return "a call is running and nobody holds its reply"
    one, other = world.workers
    if (one.reply, one.turn) == (other.reply, other.turn) and set(one.runs) & set(other.runs):
        return "one grant, two runs"
    if one.live and other.live and without != "claim-by-request":
        return "two workers hold one reply"
    return None


def idle(world: World) -> bool:
    """Nothing is left to answer."""
    return world.reply is None and not world.queue


def asks_people(world: World) -> bool:
    """People are asked, and nobody works."""
    reply = world.reply
    if reply is None or reply.state != PARKED:
        return False
    return any(call.state in ASKED for call in reply.calls)
