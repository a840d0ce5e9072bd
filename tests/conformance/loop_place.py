"""The agent that plays a row of `reference_loop`: its tools, its model, its processes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.models.scripted import Call, Fail, Part, Say, ScriptedModel, Think
from core.agent import Agent, context_judge
from core.errors import KeyturnError
from core.events import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from core.messages import (
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    user_msg,
)
from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import NO_OPINION, safety_ask
from core.permissions.rules import PermissionBehavior, PermissionMode, PermissionRule
from core.state import AgentState
from core.toolbox import Toolbox
from core.tools import Input, PermissionDecision, Tool, Traits
from tests.conformance.outcome import Row
from tests.core.agent.samples import ANY_OBJECT, POLICY, SampleTool


class NotRun(Exception):
    """A row asks for something that this runner does not know."""


@dataclass
class Step:
    """What one step brought here, in the shape of the cases."""

    events: list[dict[str, Any]]
    raised: str | None
    executed: list[list[Any]]
    model_calls: int
    cur_iter: int
    awaiting: bool
    context: list[dict[str, Any]]
    rules: dict[str, Any]
    choices: list[str | None] = field(default_factory=list[str | None])


class Place:
    """The agent of one row, and the processes it lives in."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._ran: list[tuple[str, dict[str, Any]]] = []
        self._tools = [_tool(each, self._ran) for each in row["tools"]]
        self._model = ScriptedModel([_turn(each) for each in row["model_script"]], piece=0)
        state = AgentState()
        state.permission_context.mode = PermissionMode(row["options"].get("mode", "default"))
        self._agent = self._made(state, self._tools)

    def _made(self, state: AgentState, tools: Sequence[Tool]) -> Agent:
        max_iters = self._row["options"].get("max_iters", 50)
        return Agent(
            "Friday", self._model, Toolbox(tools), context_judge(POLICY), state, "", max_iters
        )

    async def take(self, given: dict[str, Any]) -> Step | None:
        """One step; none if there is nothing to compare after it."""
        kind = given["kind"]
        if kind == "reload":
            state = AgentState.model_validate_json(self._agent.state.model_dump_json())
            tools = [] if given.get("drop_tools") else self._tools
            self._agent = self._made(state, tools)
            return None
        if kind == "edit_state":
            self._edit(given)
            return None
        before, asked = len(self._ran), self._model.turns_taken
        events: list[dict[str, Any]] = []
        raised = None
        try:
            if kind == "observe":
                await self._agent.observe(user_msg(given["text"]))
            else:
                inputs = _input(given, self._agent)
                stream = self._agent.reply_stream(inputs, yield_final_msg=True)
                events.extend([_plain(event) async for event in stream])
        except KeyturnError as error:
            raised = type(error).__name__
        return self._step(events, raised, before, asked)

    def _step(
        self, events: list[dict[str, Any]], raised: str | None, before: int, asked: int
    ) -> Step:
        state = self._agent.state
        reply_id = state.reply_context.reply_id
        return Step(
            events,
            raised,
            [[name, value] for name, value in self._ran[before:]],
            self._model.turns_taken - asked,
            state.reply_context.cur_iter,
            bool(self._agent.awaiting),
            [_message(each, reply_id) for each in state.context],
            state.permission_context.model_dump(mode="json"),
        )

    def _edit(self, given: dict[str, Any]) -> None:
        state = self._agent.state
        if set(given) - {"kind", "call_states", "mode", "rules"}:
            raise NotRun(f"edit {given}")
        for call in self._agent.awaiting:
            wanted = given.get("call_states", {}).get(call.id)
            call.state = ToolCallState(wanted) if wanted else call.state
        if "mode" in given:
            state.permission_context.mode = PermissionMode(given["mode"])
        for each in given.get("rules", ()):
            rule = PermissionRule.model_validate(each)
            filed = getattr(state.permission_context, f"{rule.behavior.value}_rules")
            filed.setdefault(rule.tool_name, []).append(rule)


def _tool(given: dict[str, Any], ran: list[tuple[str, dict[str, Any]]]) -> SampleTool:
    own = NO_OPINION
    if given.get("immune"):
        own = safety_ask("the sample says so")
    elif "permission" in given:
        behavior = PermissionBehavior(given["permission"])
        own = PermissionDecision(behavior, given.get("message", "the sample says so"))
    traits = Traits(
        read_only=given.get("read_only", False),
        concurrency_safe=given.get("concurrent", True),
        external=given.get("external", False),
    )
    made = SampleTool(given["name"], own, traits, given.get("schema", ANY_OBJECT), ran=ran)
    if given.get("perm_raises"):
        made.permissions = Broken(given["name"])
    return made


class Broken(FunctionPermissions):
    """Permissions that can't be found out."""

    def check_read_only(self, value: Input) -> bool:
        """Not even this."""
        raise RuntimeError("the check is broken")


def _turn(given: Sequence[Any]) -> list[Part]:
    parts: list[Part] = []
    for each in given:
        if isinstance(each, str):
            parts.append(Say(each))
        elif "tool" in each:
            parts.append(Call(each["tool"], each["input"], each["id"]))
        elif "raise" in each:
            parts.append(Fail(message=each["raise"]))
        elif "thinking" in each:
            parts.append(Think(each["thinking"]))
        else:
            raise NotRun(f"the model says {each}")
    return parts


def _input(given: dict[str, Any], agent: Agent) -> Any:
    reply_id = given.get("reply_id", agent.state.reply_context.reply_id)
    match given["kind"]:
        case "message":
            return user_msg(given["text"])
        case "none":
            return None
        case "interrupt":
            return UserInterruptEvent(reply_id=reply_id)
        case "confirm":
            results = [_confirmation(each, agent) for each in given["results"]]
            return UserConfirmResultEvent(reply_id=reply_id, confirm_results=results)
        case "external":
            done = [_done(each) for each in given["results"]]
            return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=done)
    raise NotRun(f"the input {given['kind']}")


def _confirmation(given: dict[str, Any], agent: Agent) -> ConfirmResult:
    blocks = agent.state.context[-1].content if agent.state.context else []
    known = {each.id: each for each in blocks if isinstance(each, ToolCallBlock)}
    call = known.get(given["id"]) or ToolCallBlock(id=given["id"], name="ask", input="{}")
    changed: dict[str, Any] = {key: each for key, each in given.items() if key in ("input", "name")}
    rules = [PermissionRule.model_validate(each) for each in given.get("rules") or ()]
    return ConfirmResult(
        confirmed=given["confirmed"],
        tool_call=call.model_copy(update=changed),
        rules=rules or None,
    )


def _done(given: dict[str, Any]) -> ToolResultBlock:
    return ToolResultBlock(
        id=given["id"],
        name=given["name"],
        output=given["output"],
        state=ToolResultState(given["state"]),
        metadata=given.get("metadata", {}),
    )


def _plain(event: AgentEvent | Msg) -> dict[str, Any]:
    if isinstance(event, Msg):
        shown = event.model_dump(mode="json", include={"finished_reason", "role", "name"})
        return {"msg": {**shown, "text": event.text()}}
    if isinstance(event, RequireUserConfirmEvent) and len(event.tool_calls) != 1:
        raise AssertionError("one call per question")
    return event.model_dump(mode="json")


def _message(msg: Msg, reply_id: str) -> dict[str, Any]:
    return {
        "role": msg.role,
        "name": msg.name,
        "is_current_reply": msg.id == reply_id,
        "blocks": [_block(each) for each in msg.content],
    }


def _block(block: Any) -> dict[str, Any]:
    shown: dict[str, Any] = block.model_dump(mode="json")
    if isinstance(block, ToolCallBlock):
        shown["n_suggested"] = len(block.suggested_rules)
    elif isinstance(block, ToolResultBlock) and isinstance(block.output, list):
        shown["output"] = [each.get("text", each) for each in shown["output"]]
    return shown
