"""How records stand in the store: as rows, the columns named here and nowhere else.

The scripts get these names in front of them. A row ends with its last column that is set: what a
parked call has stands before what comes later, so that waiting costs little room.
"""

from typing import Any

REPLY = (
    "v",
    "session_id",
    "tenant",
    "state",
    "accepted_at",
    "tag",
    "present",
    "fence",
    "turn",
    "tries",
    "claim_op",
    "turn_fence",
    "lease_until",
    "wake_at",
    "stop",
    "outcome",
    "closed_at",
    "closed_fence",
    "next_reply",
)
"""`tag`: what ties the sealed message to the request that wrote it."""

CALL = (
    "turn",
    "position",
    "tool",
    "state",
    "digest",
    "policy",
    "by",
    "at",
    "revision",
    "version",
    "runs",
    "reminded",
    "quorum",
    "cards",
    "input_tag",
    "approvers",
    "terms_quorum",
    "timeout_ms",
    "task_timeout_ms",
    "unknown_timeout_ms",
    "grant_lifetime_ms",
    "asked_at",
    "deadline",
    "because",
    "remind_ms",
    "escalate",
    "idempotent",
    "external",
    "alone",
    "escalated_to",
    "escalated",
    "content_tag",
    "original_tag",
    "votes",
    "grant_until",
    "run_op",
    "claimant",
    "decision",
    "result_tag",
    "done_run",
    "late",
)
"""`approvers` to `alone` (but times of asking and the reason) are its terms; `content_tag` is
missing while it is the input's; `escalated_to`: the set that was added to the approvers."""

AUDIT = (
    "at",
    "what",
    "actor",
    "op",
    "reply_id",
    "session_id",
    "tenant",
    "state",
    "changes",
    "call",
    "note",
)


def lua() -> str:
    """The columns as the scripts see them."""
    names = {"REPLY_COLUMNS": REPLY, "CALL_COLUMNS": CALL}
    rows = (f"local {name} = {{{_quoted(columns)}}}\n" for name, columns in names.items())
    return "".join(rows)


def _quoted(columns: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in columns)


def record(columns: tuple[str, ...], row: list[Any]) -> dict[str, Any]:
    """A row by the names of its columns; what is not set is left out."""
    return {name: value for name, value in zip(columns, row, strict=False) if value is not None}


def actor_row(actor: Any) -> list[str]:
    """An actor: kind, id, and name and surface if it has any."""
    row = [actor.kind, actor.id, actor.name, actor.surface]
    while not row[-1]:
        row.pop()
    return row


def given(**values: Any) -> dict[str, Any]:
    """What is set: Lua has no such thing as None."""
    return {name: value for name, value in values.items() if value is not None}
