"""From the ledger's call to what its card is built from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.authority import People
from core.binding import grounds
from core.calls import Because, Call, CallState, DecisionKind, Reply
from core.cards import CallView, Card, CardState, build_card
from core.errors import GroundsUnknown, InvalidInput
from core.inputs import parse_input
from core.ledger import Ledger
from core.messages import TextBlock, ToolResultBlock, ToolResultState
from core.permissions.rule_strings import print_rule
from core.permissions.rules import PermissionRule
from core.requests import Request
from core.roster import Roster
from core.tools import Tool

_STATES = {
    CallState.WAITING: CardState.PENDING,
    CallState.OPEN: CardState.PENDING,
    CallState.APPROVED: CardState.APPROVED,
    CallState.ALLOWED: CardState.APPROVED,
    CallState.STARTED: CardState.RUNNING,
    CallState.TASK: CardState.TASK,
    CallState.UNKNOWN: CardState.UNKNOWN,
    CallState.REJECTED: CardState.REJECTED,
    CallState.DENIED: CardState.DENIED,
    CallState.EXPIRED: CardState.EXPIRED,
    CallState.CANCELLED: CardState.CANCELLED,
    CallState.ABANDONED: CardState.ABANDONED,
}
_NOTES = {
    Because.NEW: "",
    Because.EDITED: "",
    Because.LAPSED: "Asked again: the approval was not used in time, and nothing was run.",
    Because.UNKNOWN: "A run of this call began, and how it ended can't be proven.",
    Because.TASK: "",
}
_APPROVALS = (DecisionKind.APPROVE, DecisionKind.MODIFY, DecisionKind.FULFIL)


@dataclass(frozen=True, slots=True)
class Gallery:
    """Draws the cards of calls as the ledger has them now."""

    ledger: Ledger
    roster: Roster
    people: People
    pepper: bytes = b""

    async def card(self, call: Call) -> Card | None:
        """The card of this call as it stands; none when its reply is gone."""
        reply = await self.ledger.reply(call.key.reply_id)
        if reply is None:
            return None
        return build_card(self.view(reply, call), await self.ledger.now())

    def view(self, reply: Reply, call: Call) -> CallView:
        """What the card of this call is built from."""
        request = Request.load(reply.message)
        spec = self.roster.get(request.agent)
        tool = spec.tool(call.tool) if spec else None
        value = _read(call.input)
        content = call.content
        decision = call.decision
        result = ToolResultBlock.model_validate(call.result) if call.result else None
        return CallView(
            tool=call.tool,
            agent=request.agent,
            requester=request.requester.name or request.requester.id,
            raw_input=call.input,
            input=value,
            digest=call.digest,
            revision=call.revision,
            risk=content.get("risk", "medium"),
            approvers=self._deciders(call),
            state=_state(call, result),
            schema=tool.input_schema if tool else None,
            title_template=content.get("title"),
            destination=tuple(content.get("destination", ())),
            undo=content.get("undo"),
            place=request.channel,
            why=content.get("why", ""),
            quorum=call.quorum,
            votes=tuple(vote.actor.name or vote.actor.id for vote in call.votes),
            deadline=call.deadline,
            asked_at=call.asked_at,
            context=_grounds(tool, value) if tool and not call.final else {},
            claim=content.get("claim", ""),
            previous=_read(call.original_input) if call.input != call.original_input else None,
            edited_by=_editor(call),
            offered_rules=tuple(_rules(content)),
            can_modify=tool is not None,
            decided_by=(decision.actor.name or decision.actor.id) if decision else "",
            decided_at=decision.at if decision else None,
            reason=decision.reason if decision else content.get("why", ""),
            note=_NOTES[call.because],
            claimant=(call.claimant.name or call.claimant.id) if call.claimant else "",
            result=_text(result) if result else "",
            pepper=self.pepper,
        )

    def _deciders(self, call: Call) -> str:
        fulfillers = call.content.get("fulfillers")
        if call.state is CallState.TASK and fulfillers:
            return str(fulfillers)
        return ", ".join(call.approvers)


def _grounds(tool: Tool, value: Mapping[str, Any]) -> Mapping[str, str]:
    try:
        return grounds(tool, value)
    except GroundsUnknown as error:
        return {"runs on": str(error)}


def _state(call: Call, result: ToolResultBlock | None) -> CardState:
    if call.state is not CallState.DONE:
        return _STATES[call.state]
    done_well = result is None or result.state is ToolResultState.SUCCESS
    return CardState.COMPLETED if done_well else CardState.FAILED


def _editor(call: Call) -> str:
    if call.because is not Because.EDITED or not call.votes:
        return ""
    first = call.votes[0].actor
    return first.name or first.id


def _rules(content: Mapping[str, Any]) -> list[str]:
    offers = content.get("suggested_rules", [])
    return [print_rule(PermissionRule.model_validate(rule)) for rule in offers]


def _read(raw: str) -> dict[str, Any]:
    try:
        return parse_input(raw)
    except InvalidInput:
        return {}


def _text(result: ToolResultBlock) -> str:
    if isinstance(result.output, str):
        return result.output
    return "\n".join(block.text for block in result.output if isinstance(block, TextBlock))
