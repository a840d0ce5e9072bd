"""The neutral card: what every surface shows of a parked call, in the order it is shown.

A card is a view, built from the stored call whenever it is drawn; nothing is ever read back from
it. Every text of others in it was drawn by `core.text` and is literal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from core.digest import Action
from core.inputs import Json, Schema
from core.text import Shown
from core.tools import Risk


class CardState(StrEnum):
    """What a card says about its call."""

    PENDING = "pending"
    RECORDING = "recording"
    APPROVED = "approved"
    RUNNING = "running"
    TASK = "task"
    COMPLETED = "completed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    DENIED = "denied"
    EXPIRED = "expired"
    LAPSED = "lapsed"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    ABANDONED = "abandoned"


GLYPHS: Mapping[CardState, str] = {
    CardState.PENDING: "🔑",
    CardState.RECORDING: "⏳",
    CardState.APPROVED: "✅",
    CardState.RUNNING: "▶",
    CardState.TASK: "🙋",
    CardState.COMPLETED: "✔",
    CardState.FAILED: "✖",
    CardState.UNKNOWN: "❓",
    CardState.REJECTED: "⛔",
    CardState.DENIED: "⛔",
    CardState.EXPIRED: "⌛",
    CardState.LAPSED: "⌛",
    CardState.CANCELLED: "⏹",
    CardState.REPLACED: "↪",
    CardState.ABANDONED: "❓",
}
"""One sign per state, beside its words: never the only carrier of meaning."""


@dataclass(frozen=True, slots=True)
class CallView:
    """Everything a card is built from: the stored call, its tool and its gate.

    Names of people, agents and sets may come from outside and are drawn like any other text.
    Times are whole milliseconds since 1970 (UTC), durations whole milliseconds.

    Attributes:
        input: the parsed `raw_input`.
        schema: JSON schema of the tool's input; says which fields are secret.
        title_template: "Refund {amount} to {customer}", from the tool or the operator.
        destination: arguments that say where the effect lands.
        why: the policy's reason for asking, in words for people.
        votes: people who approved this revision so far.
        context: what else was bound: working directory, resolved program.
        claim: the agent's own words about the call.
        previous: the input before the latest edit, if there was one, by `edited_by`.
        offered_rules: rules that "Always allow…" would offer, in words for people.
        can_modify: whether the input can be edited in a dialog.
        claimant: of a task, who has taken it on.
        result: what the tool answered.
        reason: why it was rejected, denied, cancelled, or failed.
        note: why it is asked again, if it is.
        pepper: keys the short hashes of masked secrets.
    """

    tool: str
    agent: str
    requester: str
    raw_input: str
    input: Mapping[str, Json]
    digest: str
    revision: int
    risk: Risk
    approvers: str
    state: CardState = CardState.PENDING
    schema: Schema | None = None
    title_template: str | None = None
    destination: tuple[str, ...] = ()
    undo: str | None = None
    place: str = ""
    why: str = ""
    quorum: int = 1
    votes: tuple[str, ...] = ()
    deadline: int | None = None
    asked_at: int | None = None
    context: Mapping[str, str] = field(default_factory=dict[str, str])
    claim: str = ""
    previous: Mapping[str, Json] | None = None
    edited_by: str = ""
    offered_rules: tuple[str, ...] = ()
    can_modify: bool = True
    self_approval: bool = False
    decided_by: str = ""
    decided_at: int | None = None
    reason: str = ""
    note: str = ""
    duration: int | None = None
    claimant: str = ""
    result: str = ""
    pepper: bytes = b""


@dataclass(frozen=True, slots=True)
class Row:
    """One argument, or one line of context. `folded` rows show a beginning only."""

    label: str
    shown: Shown
    destination: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One difference that an edit made. `old` is None if added, `new` is None if removed."""

    label: str
    old: Shown | None
    new: Shown | None


@dataclass(frozen=True, slots=True)
class Button:
    """A button. `confirm` asks once more; `in_menu` ones go into the overflow menu."""

    action: Action
    label: str
    style: Literal["plain", "primary", "danger"] = "plain"
    in_menu: bool = False
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A call as people see it. Fields stand in the order in which they are shown.

    `fallback` is the plain text for notifications and screen readers: title without values, risk,
    people, deadline, code and state, never an argument. If `needs_review`, there is no Approve
    here but Review…, and `review_reasons` says why. `retype` asks for the code at approval.
    """

    title: str
    risk: Risk
    agent: str
    requester: str
    place: str
    deadline: int | None
    why: str
    approvers: str
    warnings: tuple[str, ...]
    arguments: tuple[Row, ...]
    context: tuple[Row, ...]
    changes: tuple[ChangeRow, ...]
    undo: str
    rules: tuple[str, ...]
    claim: Shown | None
    code: str
    revision: int
    state: CardState
    outcome: tuple[str, ...]
    result: Shown | None
    buttons: tuple[Button, ...]
    needs_review: bool
    review_reasons: tuple[str, ...]
    retype: bool
    fallback: str
