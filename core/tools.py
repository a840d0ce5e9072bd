"""Tools: what an agent can call, and what Keyturn has to know of each.

A tool says three things about itself: how its input is shaped (a JSON schema), what it is like
(`Traits`), and what its permissions are (`ToolPermissions`: its own opinion of a call and how its
rules are written). Running it yields chunks.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from core.messages import DataBlock, TextBlock, ToolResultState
from core.permissions.rules import PermissionBehavior, PermissionContext, PermissionRule

Risk = Literal["low", "medium", "high"]
Input = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a tool is like, as the operator or its author declares it.

    Attributes:
        read_only: changes nothing; allowed without asking unless a rule or gate says otherwise.
        requires_confirmation: always asks, whatever mode or allow rule.
        idempotent: doing it twice is doing it once; may be retried after a lost run.
        concurrency_safe: may run beside other calls of the same turn.
        external: done by people; the result comes back as a task's answer.
        result_schema: JSON schema of an external result, if one is declared.
        title: template over arguments for the first line of a card, "Refund {amount} to {who}".
        destination: arguments that say where the effect lands; never folded.
        undo: how the effect can be taken back, in words for people.
    """

    read_only: bool = False
    requires_confirmation: bool = False
    idempotent: bool = False
    concurrency_safe: bool = True
    external: bool = False
    result_schema: Mapping[str, Any] | None = None
    title: str | None = None
    destination: tuple[str, ...] = ()
    undo: str | None = None
    risk: Risk = "medium"


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """An opinion or a verdict about one call.

    Attributes:
        reason: the rule, mode or check that made it, in words for people.
        bypass_immune: a safety ask, which allow rules and `run_everything` can't silence.
        yields: of a safety ask: an allow rule with a pattern that covers the call answers it; a
            rule for the whole tool does not.
    """

    behavior: PermissionBehavior
    message: str
    reason: str | None = None
    suggested_rules: tuple[PermissionRule, ...] = ()
    bypass_immune: bool = False
    yields: bool = False


class RuleIndex(Protocol):
    """Rules of one tool and one behaviour, made ready for many look-ups."""

    def find(self, value: Input) -> PermissionRule | None:
        """The rule that covers this call, or none."""
        ...


class ToolPermissions(Protocol):
    """How calls of one tool are judged."""

    def check_read_only(self, value: Input) -> bool:
        """Whether this very call only reads."""
        ...

    def opinion(self, value: Input, context: PermissionContext) -> PermissionDecision:
        """What the tool itself thinks of the call; `passthrough` is no opinion."""
        ...

    def check_rule(self, rule: PermissionRule) -> None:
        """Refuse a rule that can't work.

        Raises:
            RuleRefused: says what is wrong with it and what to write instead.
        """
        ...

    def index(self, rules: Sequence[PermissionRule]) -> RuleIndex:
        """Prepare rules, all of one behaviour, for look-ups. Never raises on a bad rule: an
        allow rule that can't be read covers nothing, a deny or ask rule covers everything."""
        ...

    def suggest(self, value: Input) -> list[PermissionRule]:
        """Allow rules to offer beside this call, narrowest first; often none."""
        ...


@runtime_checkable
class DivisiblePermissions(Protocol):
    """Permissions of a tool one call of which can do several things."""

    def parts(self, value: Input) -> Sequence[Input]:
        """The call as one that does each of them alone; none if that can't be told."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a tool's result. A chunk with a final `state` is the last one."""

    content: tuple[TextBlock | DataBlock, ...] = ()
    state: ToolResultState = ToolResultState.RUNNING
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Run:
    """Which run of which call this is; `key` is the same for all runs of one call."""

    reply_id: str
    call_id: str
    number: int = 1

    @property
    def key(self) -> str:
        """The idempotency key that a tool may hand on."""
        return f"{self.reply_id}:{self.call_id}"


class Tool(Protocol):
    """Something an agent can call."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What the model is told about it."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """JSON schema of its input: an object."""
        ...

    @property
    def traits(self) -> Traits:
        """What it is like."""
        ...

    @property
    def permissions(self) -> ToolPermissions:
        """How its calls are judged."""
        ...

    def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Do it. An exception becomes an error result for the model. External tools never run."""
        ...
