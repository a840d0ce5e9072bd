"""Questions: on what terms a call is asked, and what its card will say beside the input."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from core.calls import Escalation, Terms
from core.permissions.engine import Verdict
from core.policy import Gate
from core.roster import AgentSpec, TaskTerms
from core.tools import Tool, Traits

NO_TASK_TERMS = TaskTerms("")


def terms_of(gate: Gate, name: str, traits: Traits, spec: AgentSpec) -> Terms:
    """The terms that a call of this tool is asked and run on, fixed when its turn is written."""
    task = spec.tasks.get(name, NO_TASK_TERMS)
    escalate = gate.escalate
    return Terms(
        approvers=gate.approvers,
        quorum=gate.quorum,
        timeout_ms=_ms(gate.timeout),
        task_timeout_ms=_ms(task.timeout),
        unknown_timeout_ms=_ms(gate.unknown_timeout),
        grant_lifetime_ms=_ms(gate.grant_lifetime),
        remind_ms=tuple(map(_ms, gate.remind)),
        escalate=Escalation(_ms(escalate.after), escalate.to) if escalate else None,
        idempotent=traits.idempotent,
        external=traits.external,
        alone=not traits.concurrency_safe,
    )


def content_of(
    verdict: Verdict, gate: Gate, tool: Tool, value: Mapping[str, Any]
) -> dict[str, Any]:
    """What the card of this call says beside its input: facts of policy and tool, as JSON."""
    traits = tool.traits
    return {
        "why": verdict.reason,
        "cause": verdict.cause,
        "gate": gate.name,
        "risk": gate.risk or traits.risk,
        "title": traits.title,
        "destination": [name for name in traits.destination if name in value],
        "undo": traits.undo,
        "suggested_rules": [rule.model_dump(mode="json") for rule in verdict.suggested_rules],
    }


def channels_of(gate: Gate, spec: AgentSpec, routes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Where the cards of a call go: the gate's route, else the agent's, else the default route."""
    route = routes.get(gate.route or "")
    if route is None and spec.channels:
        return list(spec.channels)
    chosen = route if route is not None else routes.get("default", {})
    return [f"{surface}:{channel}" for surface, channel in sorted(chosen.items())]


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
