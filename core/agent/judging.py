"""What may happen to a call now: found, read, checked, judged. Nothing runs here."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from pydantic import JsonValue

from core.agent import notes
from core.agent.results import (
    REJECTED_BEFORE,
    Outcome,
    closing,
    faults,
    plain,
)
from core.agent.stamps import Stamps, whole
from core.cards import check_judgeable
from core.errors import InvalidInput, InvalidSchema
from core.inputs import canonical_input, parse_input, validate_input
from core.messages import ToolCallBlock, ToolResultBlock, ToolResultState
from core.permissions.engine import Verdict
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.state import AgentState
from core.toolbox import Toolbox
from core.tools import Input, Tool

Judge: TypeAlias = Callable[[Tool, Input, AgentState], Verdict]
"""Who decides what may run: the permission engine, with the policy and the modes around it."""


class Fate(StrEnum):
    """What may happen to a call now."""

    RUN = "run"
    TASK = "task"
    ASK = "ask"
    REFUSED = "refused"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call and what may happen to it.

    Attributes:
        value: the input, read and checked; none where it could not be.
        verdict: what the judge said, if it was asked.
        result: of a refused call, its final result.
    """

    call: ToolCallBlock
    fate: Fate
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    verdict: Verdict | None = None
    result: ToolResultBlock | None = None


@dataclass(frozen=True, slots=True)
class Court:
    """What judging needs."""

    tools: Toolbox
    judge: Judge
    stamps: Stamps

    def try_call(self, call: ToolCallBlock, state: AgentState) -> JudgedCall:
        """Judge a call that the model has asked for."""
        return self._judged(call, state, approved=False)

    def try_approved(self, call: ToolCallBlock, state: AgentState) -> JudgedCall:
        """Judge an approved call once more before it runs: what is denied by now, or no longer
        fits, does not run. It is not asked again."""
        return self._judged(call, state, approved=True)

    def read(self, call: ToolCallBlock) -> tuple[Tool, dict[str, Any]] | str:
        """The tool and the input of a call, or what is wrong with it."""
        tool = self.tools.find(call.name)
        if tool is None:
            return f"There is no tool of the name {whole(call.name)}."
        try:
            value = parse_input(call.input)
            fields = validate_input(tool.input_schema, value)
        except (InvalidInput, InvalidSchema) as error:
            return str(error)
        return faults(call.name, fields) if fields else (tool, value)

    def _judged(self, call: ToolCallBlock, state: AgentState, *, approved: bool) -> JudgedCall:
        found = self.read(call)
        if isinstance(found, str):
            return self._failed(call, found)
        tool, value = found
        if not approved and fingerprint(call.name, value) in notes.rejected(state):
            return self._rejected_before(call)
        try:
            verdict = self.judge(tool, value, state)
        except Exception:  # noqa: BLE001 - a check that can't be made never lets a call through
            return self._failed(
                call, "The permission of this call could not be checked, so it was not run."
            )
        fate = _fate(verdict, tool, approved)
        result = None
        if fate in (Fate.ASK, Fate.TASK) and (unjudgeable := _too_long(call)):
            return self._failed(call, unjudgeable)
        if fate is Fate.REFUSED:
            result = closing(call, Outcome.DENIED, self.stamps, reason=verdict.message)
        return JudgedCall(call, fate, value, verdict, result)

    def _failed(self, call: ToolCallBlock, text: str) -> JudgedCall:
        return refused(call, plain(call, text, ToolResultState.ERROR, self.stamps))

    def _rejected_before(self, call: ToolCallBlock) -> JudgedCall:
        note: dict[str, JsonValue] = {"outcome": Outcome.REJECTED.value, "repeated": True}
        result = plain(call, REJECTED_BEFORE, ToolResultState.DENIED, self.stamps, note)
        return refused(call, result)


def refused(call: ToolCallBlock, result: ToolResultBlock) -> JudgedCall:
    """A call that ends here."""
    return JudgedCall(call, Fate.REFUSED, result=result)


def _fate(verdict: Verdict, tool: Tool, approved: bool) -> Fate:
    if verdict.behavior is PermissionBehavior.DENY:
        return Fate.REFUSED
    # A judge without an opinion is not a permission.
    if verdict.behavior is not PermissionBehavior.ALLOW and not approved:
        return Fate.ASK
    return Fate.TASK if tool.traits.external else Fate.RUN


def _too_long(call: ToolCallBlock) -> str:
    """Why people can't be asked about this call; empty: they can."""
    try:
        check_judgeable(call.input)
    except InvalidInput as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Calls that are worked on together, or one after the other."""

    concurrent: bool
    calls: tuple[ToolCallBlock, ...]

    @property
    def steps(self) -> Sequence[tuple[ToolCallBlock, ...]]:
        """Groups of calls that are judged and worked on at once."""
        return (self.calls,) if self.concurrent else tuple((call,) for call in self.calls)


def batches(calls: Sequence[ToolCallBlock], tools: Toolbox) -> Iterator[Batch]:
    """Consecutive calls that may run beside each other, as long as possible. An unknown tool
    stands in nobody's way."""
    group: list[ToolCallBlock] = []
    safe = True
    for call in calls:
        tool = tools.find(call.name)
        concurrent = tool is None or tool.traits.concurrency_safe
        if group and concurrent is not safe:
            yield Batch(safe, tuple(group))
            group = []
        safe = concurrent
        group.append(call)
    if group:
        yield Batch(safe, tuple(group))


def covered(tool: Tool, value: Input, rules: Sequence[PermissionRule]) -> bool:
    """Whether one of these rules, offered beside an earlier question, would allow this call too:
    then it waits for the answer instead of being asked about beside it."""
    ours = [rule for rule in rules if rule.tool_name == tool.name]
    if any(not rule.rule_content for rule in ours):
        return True
    try:
        return bool(ours) and tool.permissions.index(ours).find(value) is not None
    except Exception:  # noqa: BLE001 - not knowing means asking
        return False


def fingerprint(tool: str, value: Mapping[str, Any]) -> str:
    """One name for all calls of a tool that mean the same, spacing and key order aside."""
    spelled = f"{whole(tool)}\n{canonical_input(value)}"
    return hashlib.sha256(spelled.encode()).hexdigest()


def remember_rejection(state: AgentState, call: ToolCallBlock) -> None:
    """Note that this call, with the input it has now, must not be asked about again."""
    try:
        name = fingerprint(call.name, parse_input(call.input))
    except InvalidInput:
        return  # it never reaches the judge either
    notes.reject(state, name)
