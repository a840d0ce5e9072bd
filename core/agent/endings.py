"""How a reply ends, and the message that says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.agent import notes
from core.agent.results import EXCEEDED_REPLY, INTERRUPTED_REPLY, STRUCTURED_REPLY, WAITING_TEXT
from core.agent.stamps import Stamps
from core.agent.structured import GRACE_ROUNDS
from core.agent.transcript import Transcript
from core.events import AgentEvent, ExceedMaxItersEvent, ReplyEndEvent
from core.messages import (
    ContentBlock,
    ErrorInfo,
    HintBlock,
    Msg,
    ReplyFinishedReason,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from core.state import AgentState


@dataclass(frozen=True, slots=True)
class End:
    """Why a reply ends and what it says last: blocks of the model, or a sentence of ours."""

    reason: ReplyFinishedReason
    says: Sequence[ContentBlock] | str
    error: ErrorInfo | None = None
    structured: dict[str, Any] | None = None


INTERRUPTED = End(ReplyFinishedReason.INTERRUPTED, INTERRUPTED_REPLY)
EXCEEDED = End(ReplyFinishedReason.EXCEED_MAX_ITERS, EXCEEDED_REPLY)


def end_of(
    state: AgentState, last_words: Sequence[ContentBlock] | None, max_iters: int
) -> End | None:
    """Whether a reply with nothing left to run is over. `last_words`: what its last model turn
    wrote, if that asked for no call."""
    reply = state.reply_context
    if reply.structured_schema is not None:
        if reply.structured_output is not None:
            done = ReplyFinishedReason.COMPLETED
            return End(done, STRUCTURED_REPLY, structured=reply.structured_output)
        return EXCEEDED if reply.cur_iter >= max_iters + GRACE_ROUNDS else None
    exceeded = reply.cur_iter > max_iters
    if last_words is None:
        return EXCEEDED if exceeded else None
    done = ReplyFinishedReason.EXCEED_MAX_ITERS if exceeded else ReplyFinishedReason.COMPLETED
    return End(done, last_words)


def last_words(transcript: Transcript) -> list[ContentBlock] | None:
    """What a model turn wrote for people at the end of the message, if it asked for no call."""
    words: list[ContentBlock] = []
    for block in reversed(transcript.message.content if transcript.message else ()):
        if isinstance(block, ToolCallBlock | ToolResultBlock | HintBlock):
            break
        if isinstance(block, TextBlock):
            words.insert(0, block)
    return words or None


def finish(end: End, name: str, state: AgentState, transcript: Transcript, stamps: Stamps) -> Msg:
    """End the reply in its state; the message to return."""
    now = stamps.now()
    notes.end(state)
    said = transcript.message
    if said is not None:
        said.finished_at = now
        said.finished_reason = end.reason
        said.structured_output = end.structured
        said.error = end.error
    says: Sequence[ContentBlock] = (
        [TextBlock(text=end.says, id=stamps.id(), created_at=now, finished_at=now)]
        if isinstance(end.says, str)
        else end.says
    )
    return Msg(
        id=state.reply_context.reply_id,
        name=name,
        role="assistant",
        content=list(says),
        created_at=now,
        finished_at=now,
        finished_reason=end.reason,
        usage=said.usage if said else None,
        structured_output=end.structured,
        error=end.error,
    )


def end_events(end: End, name: str, state: AgentState, stamps: Stamps) -> list[AgentEvent]:
    """The last events of a reply."""
    reply_id = state.reply_context.reply_id
    events: list[AgentEvent] = []
    if end.reason is ReplyFinishedReason.EXCEED_MAX_ITERS:
        events.append(stamps.event(ExceedMaxItersEvent, reply_id=reply_id, name=name))
    events.append(
        stamps.event(
            ReplyEndEvent,
            session_id=state.session_id,
            reply_id=reply_id,
            finished_reason=end.reason,
            error=end.error,
        )
    )
    return events


def waiting(name: str, state: AgentState, stamps: Stamps) -> Msg:
    """The notice of a parked reply: not part of the conversation, and not the end."""
    now = stamps.now()
    return Msg(
        id=state.reply_context.reply_id,
        name=name,
        role="assistant",
        content=[TextBlock(text=WAITING_TEXT, id=stamps.id(), created_at=now)],
        created_at=now,
    )
