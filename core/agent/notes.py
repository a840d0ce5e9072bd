"""What Keyturn keeps of the present reply inside the agent's state, where the reference keeps hands
off: whether it is still open, and what people rejected in it."""

from typing import Any, Final, TypeGuard, cast

from core.state import AgentState

NOTE: Final = "keyturn"
"""The key of what Keyturn adds to `middle_context`, and to the `metadata` of events and results."""


def begin(state: AgentState) -> None:
    """A new reply begins; what was kept of the one before goes."""
    state.middle_context[NOTE] = {"reply_id": state.reply_context.reply_id, "rejected": []}


def end(state: AgentState) -> None:
    """The reply has ended."""
    state.middle_context.pop(NOTE, None)


def is_open(state: AgentState) -> bool:
    """Whether the present reply began here and has not ended."""
    return _kept(state) is not None


def rejected(state: AgentState) -> frozenset[str]:
    """Fingerprints of the calls that people rejected in the present reply."""
    names: Any = (_kept(state) or {}).get("rejected")
    return frozenset(map(str, names if _is_list(names) else ()))


def reject(state: AgentState, fingerprint: str) -> None:
    """People rejected this call."""
    kept = sorted(rejected(state) | {fingerprint})
    state.middle_context[NOTE] = {"reply_id": state.reply_context.reply_id, "rejected": kept}


def _kept(state: AgentState) -> dict[str, Any] | None:
    found: Any = state.middle_context.get(NOTE)
    if not isinstance(found, dict):
        return None
    kept = cast("dict[str, Any]", found)
    return kept if kept.get("reply_id") == state.reply_context.reply_id else None


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
