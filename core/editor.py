"""Editing a call: whether a person's input may take the place of the model's.

An edited call is a new call in everything but its name: it is read, checked against the schema,
judged by deny rules and policy, and bound anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.binding import BOUND, Binder
from core.calls import Call, Reply
from core.cards import check_judgeable
from core.edits import edit_errors
from core.errors import GroundsUnknown, InvalidInput, KeyturnError
from core.inputs import parse_input
from core.judgement import RulebookMaker
from core.ledger import Ledger
from core.permissions.engine import Verdict, gate_for, judge
from core.permissions.rules import PermissionBehavior
from core.policy import Gate
from core.questions import content_of
from core.requests import Request
from core.roster import Roster
from core.state import AgentState
from core.tools import Tool

_RISKS = ("low", "medium", "high")


class EditRefused(KeyturnError):
    """This input can't take the place of the old one. The message is for the editor."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that may be recorded."""

    digest: str
    content: Mapping[str, Any]
    quorum: int


@dataclass(frozen=True, slots=True)
class Editor:
    """Checks edits against the agents, the policy and the session of now."""

    ledger: Ledger
    roster: Roster
    rulebooks: RulebookMaker

    async def edit(self, reply: Reply, call: Call, raw: str) -> Edit:
        """The edit, checked.

        Raises:
            EditRefused: says what is wrong with it.
        """
        request = Request.load(reply.message)
        spec = self.roster.get(request.agent)
        tool = spec.tool(call.tool) if spec else None
        if spec is None or tool is None:
            raise EditRefused("The agent no longer has this tool, so its calls can't be changed.")
        value = read_edit(tool, call.input, raw)
        session = await self.ledger.session(reply.session_id)
        kept: Mapping[str, Any] = session.agent.state if session and session.agent else {}
        rulebook = await self.rulebooks.make(request, AgentState.model_validate(kept))
        verdict = judge(rulebook, tool, value)
        gate = verdict.gate or gate_for(rulebook, tool, value)
        _require_permitted(verdict, gate, call)
        binder = Binder(reply.tenant, reply.reply_id, request.agent, request.session)
        key = call.key
        try:
            bound = binder.digest(tool, key.call_id, key.turn, call.revision + 1, raw, value)
        except GroundsUnknown as error:
            raise EditRefused(str(error)) from error
        return Edit(
            digest=bound,
            content={
                **call.content,
                **content_of(verdict, gate, tool, value),
                BOUND: call.revision + 1,
            },
            quorum=_quorum(call, tool, gate),
        )


def read_edit(tool: Tool, old: str, raw: str) -> dict[str, Any]:
    """The input that a person wrote in the place of `old`.

    Raises:
        EditRefused: it is too long, hides something, is not JSON or does not fit the schema.
    """
    try:
        check_judgeable(raw)
        value = parse_input(raw)
        before = parse_input(old)
    except InvalidInput as error:
        raise EditRefused(str(error)) from error
    faults = edit_errors(before, value, tool.input_schema)
    if faults:
        lines = [f"{fault.pointer or 'The input'} {fault.message}" for fault in faults]
        raise EditRefused("The input does not fit. " + "; ".join(lines))
    return value


def _require_permitted(verdict: Verdict, gate: Gate, call: Call) -> None:
    if verdict.behavior is PermissionBehavior.DENY:
        raise EditRefused(f"The changed call is not permitted: {verdict.reason}.")
    if gate.approvers != call.terms.approvers:  # an escalation adds people to this call only
        raise EditRefused(
            f"The changed call belongs to other approvers ({gate.approvers}). "
            "Reject it, and let the agent ask for the changed call."
        )


def _quorum(call: Call, tool: Tool, gate: Gate) -> int:
    """A second person is needed when the edit raises the risk or the gate wants it."""
    before = _RISKS.index(call.content.get("risk", "medium"))
    after = _RISKS.index(gate.risk or tool.traits.risk)
    least = 2 if after > before or gate.second_person_for_edits else 1
    return max(call.quorum, gate.quorum, least)
