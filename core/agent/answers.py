"""What became of calls, and how that is put into the message of their reply."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.agent.judging import remember_rejection
from core.agent.results import Outcome, closing
from core.agent.stamps import Stamps
from core.agent.transcript import Transcript, present_message
from core.errors import UnknownCall
from core.messages import ToolCallBlock, ToolCallState, ToolResultBlock
from core.permissions.rules import PermissionRule
from core.state import AgentState


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one call's question, task or run.

    Attributes:
        input: of an approval that changed the input, the new raw input.
        reason: why it was rejected, in the person's words; why policy denies it.
        actor: who answered, for the record; the model is not told.
        result: of a call that is done, its result.
    """

    call_id: str
    outcome: Outcome
    input: str | None = None
    reason: str | None = None
    actor: str | None = None
    result: ToolResultBlock | None = None
    rules: tuple[PermissionRule, ...] = ()


def put(
    answers: Iterable[Answer], transcript: Transcript, state: AgentState, stamps: Stamps
) -> list[ToolResultBlock]:
    """Write answers into the message of the reply; what ended by that. A call that is finished
    stays as it is."""
    ended: list[ToolResultBlock] = []
    for given in answers:
        call = transcript.open.get(given.call_id)
        if call is None:
            continue
        result = _result(given, call, state, stamps)
        if result is not None:
            transcript.finish(call, result)
            ended.append(result)
    return ended


def _result(
    given: Answer, call: ToolCallBlock, state: AgentState, stamps: Stamps
) -> ToolResultBlock | None:
    if given.input is not None:
        call.input = given.input
    for rule in given.rules:
        _add_rule(state, rule)
    if given.outcome is Outcome.APPROVED:
        call.state = ToolCallState.ALLOWED
        return None
    if given.outcome is Outcome.TASK:
        call.state = ToolCallState.SUBMITTED
        return None
    if given.result is not None:
        finished = given.result.finished_at or stamps.now()
        return given.result.model_copy(update={"finished_at": finished})
    if given.outcome is Outcome.REJECTED:
        remember_rejection(state, call)
    return closing(call, given.outcome, stamps, reason=given.reason, actor=given.actor)


def _add_rule(state: AgentState, rule: PermissionRule) -> None:
    kept = state.permission_context.allow_rules.setdefault(rule.tool_name, [])
    if all(covers(rule) != covers(other) for other in kept):
        kept.append(rule)


def joined(
    state: AgentState, answers: Iterable[Answer], stamps: Stamps | None = None
) -> AgentState:
    """The conversation of `state` with what a ledger knows of its calls, as a new state.

    Answers for calls that are finished in it change nothing, so joining twice is joining once.

    Raises:
        UnknownCall: the present reply has no such call.
    """
    message = present_message(state)
    old = Transcript.read(state)
    given = tuple(answers)
    if any(answer.call_id not in old.calls for answer in given):
        raise UnknownCall("The ledger knows a call that the reply does not have.")
    if message is None or not given:
        return state
    touched = {answer.call_id for answer in given} & old.open.keys()
    blocks = [
        block.model_copy() if getattr(block, "id", None) in touched else block
        for block in message.content
    ]
    copied = state.model_copy(
        update={
            "context": [*state.context[:-1], message.model_copy(update={"content": blocks})],
            "reply_context": state.reply_context.model_copy(),
            "middle_context": dict(state.middle_context),
            "permission_context": state.permission_context.model_copy(
                update={
                    "allow_rules": {
                        name: list(rules)
                        for name, rules in state.permission_context.allow_rules.items()
                    }
                }
            ),
        }
    )
    put(given, Transcript.read(copied), copied, stamps or Stamps())
    return copied


def covers(rule: PermissionRule) -> tuple[str, str | None, str]:
    """What makes two rules the same rule, whoever made them."""
    return (rule.tool_name, rule.rule_content, rule.behavior.value)
