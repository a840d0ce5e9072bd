"""What must hold of a rough world after its life, whatever went wrong in it."""

from collections.abc import Iterator
from typing import Any

from core.calls import FINAL, Call, CallState, Reply
from core.messages import Msg, ReplyFinishedReason, ToolCallBlock, ToolResultBlock
from core.state import AgentState
from tests.sim.rough import World

ASKS_PER_SECOND = 25
"""Most questions to the ledger per second of life, all processes together, on top of `ASKS`."""
ASKS = 2_000
MAY_END_AS = {
    "approve": {CallState.DONE, CallState.ABANDONED},
    "modify": {CallState.DONE, CallState.ABANDONED},
    "reject": {CallState.REJECTED},
    "abandon": {CallState.ABANDONED, CallState.DONE},
    "done": {CallState.DONE},
    "fulfil": {CallState.DONE},
}
AFTER_STOP = {
    act: MAY_END_AS[act] | {CallState.CANCELLED} for act in ("approve", "modify", "fulfil")
}
NOT_RUN = {CallState.REJECTED, CallState.DENIED, CallState.EXPIRED, CallState.CANCELLED}


async def broken(world: World) -> list[str]:
    """Every promise that was broken, in words; empty: all was kept."""
    first, second = await world.reply(0), await world.reply(1)
    found = [*_replies(world, first, second)]
    for call in first.calls:
        found += _call(world, call)
    found += [f"{run} had {n} effects" for run, n in world.runs.items() if n > 1]
    found += await _conversation(world, first)
    found += await _cards(world, first)
    found += await _history(world, first)
    lived = world.clock.monotonic()
    asked = sum(line.asked for line in world.lines)
    if asked > ASKS + ASKS_PER_SECOND * lived:
        found.append(f"the ledger was asked {asked} times in {lived:.0f} s")
    return found


async def asked_about(world: World) -> list[str]:
    """Calls whose run people had to be asked about."""
    return [
        f"{call.key.call_id} was given up"
        for call in (await world.reply(0)).calls
        if call.state is CallState.ABANDONED
    ]


def _replies(world: World, first: Reply, second: Reply) -> Iterator[str]:
    ends = ReplyFinishedReason
    wanted = (ends.INTERRUPTED if world.stopped else ends.COMPLETED, ends.COMPLETED)
    for name, reply, end in zip(("first", "second"), (first, second), wanted, strict=True):
        if reply.outcome is not end:
            yield f"the {name} reply ended as {reply.outcome}"
    if len(first.calls) != 7 and not world.stopped:
        yield f"the first reply has {len(first.calls)} calls"


def _call(world: World, call: Call) -> Iterator[str]:
    name = call.key.call_id
    effects = sum(n for (call_id, _), n in world.runs.items() if call_id == name)
    if not call.final:
        yield f"{name} has not ended: {call.state}"
    if effects > call.runs:
        yield f"{name} had {effects} effects in {call.runs} runs"
    if call.state is CallState.DONE and call.done_run and not (effects or world.stopped):
        yield f"{name} is done and had no effect"
    if call.state in NOT_RUN and effects:
        yield f"{name} is {call.state} and had an effect"
    if call.runs > 1 and not call.terms.idempotent and world.unknown != "again":
        yield f"{name} was run again unasked"
    may_end_as = MAY_END_AS | (AFTER_STOP if world.stopped else {})
    for act, call_id, revision in world.confirmed:
        if call_id == name and call.state not in may_end_as[act] and revision == call.revision:
            yield f"{act} of {name} was confirmed, and it ended as {call.state}"


async def _conversation(world: World, first: Reply) -> list[str]:
    """What the model is told agrees with the ledger, and with what happened."""
    session = await world.ledger.session(first.session_id)
    assert session is not None
    assert session.agent is not None
    messages = AgentState.model_validate(session.agent.state).context
    found: list[str] = []
    roles = [message.role for message in messages]
    silent = world.stopped and roles == ["user", "user", "assistant"]
    if roles != ["user", "assistant", "user", "assistant"] and not silent:
        found.append(f"the conversation is {roles}")
    for call in first.calls:
        found += _told(world, call, messages)
    return found


def _told(world: World, call: Call, messages: list[Msg]) -> Iterator[str]:
    name = call.key.call_id
    blocks = [block for message in messages for block in message.content]
    asked = [b for b in blocks if isinstance(b, ToolCallBlock) and b.id == name]
    results = [b for b in blocks if isinstance(b, ToolResultBlock) and b.id == name]
    if len(asked) != 1 or len(results) != 1:
        yield f"{name} is {len(asked)} times in the conversation, with {len(results)} results"
        return
    if asked[0].input != call.input:
        yield f"{name} has another input in the conversation"
    said = results[0].output
    text = said if isinstance(said, str) else "".join(getattr(b, "text", "") for b in said)
    happened = any(call_id == name for call_id, _ in world.effects)
    if "not run" in text and happened:
        yield f"{name} had an effect, and the model is told that it did not run"
    if text == f"effect of {name}" and not happened:
        yield f"{name} had no effect, and the model is told of one"


async def _cards(world: World, first: Reply) -> list[str]:
    """Every message shows the ledger's state; whoever was asked had a card."""
    _, office = world.process()
    found: list[str] = []
    for message, mark in world.board.marks.items():
        call = await world.ledger.call(mark.call)
        assert call is not None
        card = await office.gallery.card(call)
        shown = world.board.cards[message]
        if card is None or (shown.outcome, shown.buttons) != (card.outcome, card.buttons):
            found.append(f"{message} shows an old state of {mark.call.call_id}")
    shown_calls = {mark.call.call_id for mark in world.board.marks.values()}
    return found + [
        f"{act} of {name} without a card"
        for act, name, _ in world.confirmed
        if name not in shown_calls and not world.stopped
    ]


async def _history(world: World, first: Reply) -> list[str]:
    """A final state is reached once and never left."""
    ended: dict[str, str] = {}
    found: list[str] = []
    for record in await world.ledger.audit(first.reply_id):
        for name, before, after, _, _ in record.changes:
            if name in ended and after != ended[name]:
                found.append(f"{name} went from {before} to {after}")
            if CallState(after) in FINAL:
                ended[name] = after
    return found


def leaked(records: list[Any], secret: str) -> list[str]:
    """Log records that hold the secret."""
    return [record.getMessage() for record in records if secret in str(record.__dict__)]
