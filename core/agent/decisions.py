"""Decisions and results as the wire carries them: how they are written, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from core.agent.answers import Answer, covers
from core.agent.judging import Court
from core.agent.notes import NOTE
from core.agent.results import Outcome, faults
from core.agent.stamps import whole
from core.agent.transcript import Transcript
from core.edits import edit_errors
from core.errors import ForeignReply, NotWaiting, ResumeRefused, UnknownCall
from core.events import ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent
from core.inputs import validate_input
from core.messages import ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState
from core.permissions.rules import PermissionRule
from core.state import AgentState

ResultEvent: TypeAlias = UserConfirmResultEvent | ExternalExecutionResultEvent


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as the wire carries it, and what the wire has no field for."""

    result: ConfirmResult
    note: Mapping[str, JsonValue]


def approve(
    call: ToolCallBlock,
    *,
    input: str | None = None,  # noqa: A002 - the word of the wire
    rules: Sequence[PermissionRule] = (),
    actor: str | None = None,
) -> Decision:
    """Yes to a call, perhaps with a changed input and with offered rules that were ticked."""
    block = call if input is None else call.model_copy(update={"input": input})
    result = ConfirmResult(confirmed=True, tool_call=block, rules=list(rules) or None)
    return Decision(result, _note(Outcome.APPROVED, None, actor))


def reject(call: ToolCallBlock, *, reason: str | None = None, actor: str | None = None) -> Decision:
    """No to a call, perhaps with a reason that the model is told."""
    result = ConfirmResult(confirmed=False, tool_call=call)
    return Decision(result, _note(Outcome.REJECTED, reason, actor))


def expire(call: ToolCallBlock) -> Decision:
    """Nobody answered in time."""
    return Decision(ConfirmResult(confirmed=False, tool_call=call), _note(Outcome.EXPIRED))


def answer(reply_id: str, *decisions: Decision) -> UserConfirmResultEvent:
    """The event that carries these decisions. Reason, outcome and actor travel in its metadata,
    by call id: a plain event of the reference is an approval or a rejection without a reason."""
    notes: dict[str, JsonValue] = {d.result.tool_call.id: dict(d.note) for d in decisions}
    return UserConfirmResultEvent(
        reply_id=reply_id,
        confirm_results=[decision.result for decision in decisions],
        metadata={NOTE: notes} if notes else {},
    )


def _note(
    outcome: Outcome, reason: str | None = None, actor: str | None = None
) -> dict[str, JsonValue]:
    said = {"outcome": outcome.value, "reason": reason, "actor": actor}
    return {key: value for key, value in said.items() if value is not None}


def read_answers(
    event: ResultEvent, transcript: Transcript, state: AgentState, court: Court
) -> list[Answer]:
    """The answers in an event, all of them checked; if one can't be taken, none is.

    Raises:
        ForeignReply: it is about another reply.
        NotWaiting: nothing, or not this call, waits for such an answer.
        UnknownCall: the reply has no such call.
        ResumeRefused: two answers for one call, another tool, a rule that was not offered, an
            edit that does not fit or is not permitted, a result without an end.
    """
    confirms = isinstance(event, UserConfirmResultEvent)
    wanted = ToolCallState.ASKING if confirms else ToolCallState.SUBMITTED
    waiting = {call.id: call for call in transcript.open.values() if call.state is wanted}
    if not waiting:
        what = "a decision" if confirms else "the result of a task"
        raise NotWaiting(f"No call of this reply waits for {what}.")
    if event.reply_id != state.reply_context.reply_id:
        raise ForeignReply("This answer is about another reply than the one that waits here.")
    ids = (
        [result.tool_call.id for result in event.confirm_results]
        if isinstance(event, UserConfirmResultEvent)
        else [result.id for result in event.execution_results]
    )
    _check_ids(ids, waiting, transcript)
    if isinstance(event, UserConfirmResultEvent):
        return _decisions(event, waiting, state, court)
    return [_fulfilment(result, waiting[result.id], court) for result in event.execution_results]


def _check_ids(
    ids: Sequence[str], waiting: Mapping[str, ToolCallBlock], transcript: Transcript
) -> None:
    for call_id in ids:
        if call_id in waiting:
            continue
        if call_id in transcript.calls:
            raise NotWaiting("A call of this answer does not wait for it, or no longer.")
        raise UnknownCall("This answer names a call that the reply does not have.")
    if len(set(ids)) != len(ids):
        raise ResumeRefused("This answer names one call twice; nothing of it was taken.")


def _decisions(
    event: UserConfirmResultEvent,
    waiting: Mapping[str, ToolCallBlock],
    state: AgentState,
    court: Court,
) -> list[Answer]:
    notes = event.metadata.get(NOTE, {})
    if not isinstance(notes, dict):
        raise ResumeRefused("The metadata of this answer can't be read.")
    answers: list[Answer] = []
    for result in event.confirm_results:
        call = waiting[result.tool_call.id]
        said = _said(notes.get(call.id, {}), confirmed=result.confirmed)
        answers.append(
            _approval(result, call, said, state, court)
            if result.confirmed
            else Answer(call.id, said[0], reason=said[1], actor=said[2])
        )
    return answers


_Said: TypeAlias = tuple[Outcome, str | None, str | None]


def _said(note: JsonValue, *, confirmed: bool) -> _Said:
    """Outcome, reason and actor, as far as they are told."""
    if not isinstance(note, dict):
        raise ResumeRefused("The metadata of this answer can't be read.")
    usual = Outcome.APPROVED if confirmed else Outcome.REJECTED
    possible = {Outcome.APPROVED} if confirmed else {Outcome.REJECTED, Outcome.EXPIRED}
    outcome, reason, actor = note.get("outcome", usual), note.get("reason"), note.get("actor")
    if outcome not in possible:
        raise ResumeRefused("The metadata of this answer contradicts it.")
    if not all(part is None or isinstance(part, str) for part in (reason, actor)):
        raise ResumeRefused("The metadata of this answer can't be read.")
    return (
        Outcome(str(outcome)),
        None if reason is None else whole(str(reason)),
        None if actor is None else whole(str(actor)),
    )


def _approval(
    result: ConfirmResult, call: ToolCallBlock, said: _Said, state: AgentState, court: Court
) -> Answer:
    if result.tool_call.name != call.name:
        raise ResumeRefused("An answer may not turn a call into one of another tool.")
    rules = tuple(result.rules or ())
    offered = {covers(rule) for rule in call.suggested_rules}
    if not all(covers(rule) in offered for rule in rules):
        raise ResumeRefused("This answer holds a rule that was not offered with the call.")
    changed = None if result.tool_call.input == call.input else result.tool_call.input
    if changed is not None:
        check_edit(call, changed, state, court)
    return Answer(call.id, Outcome.APPROVED, changed, reason=said[1], actor=said[2], rules=rules)


def check_edit(call: ToolCallBlock, new_input: str, state: AgentState, court: Court) -> None:
    """Whether a person may put this input in the place of what the model wrote.

    Raises:
        ResumeRefused: it is no input of this tool, or would not be permitted. The message is for
            the person who edited.
    """
    judged = court.try_approved(call.model_copy(update={"input": new_input}), state)
    if judged.result is not None:
        raise ResumeRefused(f"The changed input was not taken. {judged.result.output}")
    found = court.read(call)
    if isinstance(found, str):
        return  # what the model wrote no longer fits; what the person wrote does
    tool, old = found
    if fields := edit_errors(old, dict(judged.value), tool.input_schema):
        raise ResumeRefused(f"The changed input was not taken. {faults(call.name, fields)}")


def _fulfilment(result: ToolResultBlock, call: ToolCallBlock, court: Court) -> Answer:
    if result.name != call.name:
        raise ResumeRefused("This result is of another tool than the call it names.")
    if result.state is ToolResultState.RUNNING:
        raise ResumeRefused("This result says that the task still runs; send it when it is done.")
    tool = court.tools.find(call.name)
    schema = tool.traits.result_schema if tool else None
    metadata = {key: value for key, value in result.metadata.items() if key != NOTE}
    if schema is not None and result.state is ToolResultState.SUCCESS:
        fields = validate_input(schema, metadata)
        if fields:
            first = fields[0]
            raise ResumeRefused(f"The result does not fit: {first.pointer} {first.message}.")
    return Answer(call.id, Outcome.DONE, result=result.model_copy(update={"metadata": metadata}))
