"""Putting a reply together again: the conversation as it was written, and what the ledger knows of
its calls since.

The conversation never holds a decision, a run or a result that the ledger does not; this is where
the two meet, each time a worker takes the reply up.
"""

from collections.abc import Sequence

from core.agent.answers import Answer, joined
from core.agent.results import Outcome
from core.agent.transcript import Transcript, present_message
from core.calls import ASKED, AgentPayload, Call, CallState, Decision, DecisionKind, Json, Reply
from core.messages import ToolCallBlock, ToolCallState, ToolResultBlock
from core.permissions.rules import PermissionRule
from core.roster import AgentSpec
from core.state import AgentState

_OUTCOMES = {
    CallState.APPROVED: Outcome.APPROVED,
    CallState.ALLOWED: Outcome.APPROVED,
    CallState.TASK: Outcome.TASK,
    CallState.DONE: Outcome.DONE,
    CallState.REJECTED: Outcome.REJECTED,
    CallState.DENIED: Outcome.DENIED,
    CallState.EXPIRED: Outcome.EXPIRED,
    CallState.CANCELLED: Outcome.CANCELLED,
    CallState.ABANDONED: Outcome.UNKNOWN,
}


def conversation(
    reply: Reply, kept: AgentPayload | None, before: Reply | None, spec: AgentSpec
) -> tuple[AgentState, bool]:
    """The conversation with all that the ledger knows, and whether `reply` is in it yet.

    Args:
        kept: the conversation as it was last written.
        before: the reply that wrote it, where that is another one which the store had to end.
        spec: the agent as it is configured now.
    """
    if kept is None:
        fresh = AgentState(
            session_id=reply.session_id,
            permission_context=spec.permissions.model_copy(deep=True),
        )
        return fresh, False
    state = AgentState.model_validate(kept.state)
    state.permission_context.mode = spec.permissions.mode
    state.permission_context.working_directories = dict(spec.permissions.working_directories)
    if kept.reply_id == reply.reply_id:
        return rejoin(state, reply.present), True
    if not kept.complete:
        state = _settled(state, before)
    return state, False


def closed_conversation(
    reply: Reply, kept: AgentPayload | None, before: Reply | None
) -> AgentState:
    """The conversation after a reply that ends here without its agent."""
    if kept is None:
        return AgentState(session_id=reply.session_id)
    state = AgentState.model_validate(kept.state)
    if kept.complete:
        return state
    return _settled(state, reply if kept.reply_id == reply.reply_id else before)


def _settled(state: AgentState, reply: Reply | None) -> AgentState:
    """The conversation after a reply that has ended, whatever the agent could still write. Of what
    the ledger has forgotten (it keeps closed replies for seven days) the end is unknown."""
    state = rejoin(state, reply.present if reply else ())
    left = Transcript.read(state).open
    return joined(state, [Answer(call_id, Outcome.UNKNOWN) for call_id in left])


def rejoin(state: AgentState, calls: Sequence[Call]) -> AgentState:
    """`state` with what the ledger knows of the calls of its last turn.

    `state` must be freshly read and is not used afterwards. A call that people are asked about, or
    that runs, is awaited; one that waits behind others stays pending. What was granted under
    another policy is judged once more where it starts, by the journal.
    """
    awaited = {
        call.key.call_id
        for call in calls
        if call.state in (ASKED - {CallState.TASK}) | {CallState.STARTED}
    }
    message = present_message(state)
    for block in message.content if message else ():
        if isinstance(block, ToolCallBlock) and block.id in awaited:
            block.state = ToolCallState.ASKING
    return joined(state, [_answer(call) for call in calls if call.state in _OUTCOMES])


def _answer(call: Call) -> Answer:
    decision = call.decision
    kept = call.result or (call.content.get("result") if call.final else None)
    return Answer(
        call_id=call.key.call_id,
        outcome=_OUTCOMES[call.state],
        input=call.input if call.input != call.original_input else None,
        reason=decision.reason or None if decision else None,
        actor=decision.actor.id if decision else None,
        result=ToolResultBlock.model_validate(kept) if kept else None,
        rules=_accepted(call, decision),
    )


def _accepted(call: Call, decision: Decision | None) -> tuple[PermissionRule, ...]:
    """Rules that approvers ticked: those that as many people agreed to as the call needed."""
    if decision is None or decision.kind not in (DecisionKind.APPROVE, DecisionKind.MODIFY):
        return ()
    ticked = [vote.rules for vote in call.votes] or [decision.rules]
    agreed: list[Json] = []
    for rule in (rule for rules in ticked for rule in rules):
        if rule not in agreed and sum(rule in rules for rules in ticked) >= call.quorum:
            agreed.append(rule)
    return tuple(PermissionRule.model_validate(rule) for rule in agreed)
