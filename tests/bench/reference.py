"""agentscope 2.0 at the same work: a scripted model, an allowed tool, a parked reply, rules."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from agentscope.agent import Agent
from agentscope.agent._config import ReActConfig
from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
)
from agentscope.tool import Bash, FunctionTool, Toolkit

Check: TypeAlias = Callable[[str], Awaitable[str]]
"""What is to happen to a command: allow, deny or ask."""


class Scripted(ChatModelBase):
    """Says what it was given, turn by turn."""

    def __init__(self, turns: list[list[tuple[str, str, str]]]) -> None:
        super().__init__(
            CredentialBase(),
            "scripted",
            self.Parameters(),
            stream=True,
            max_retries=0,
            context_size=10_000_000,
        )
        self.formatter = OpenAIChatFormatter()
        self.turns = turns
        self.asked_at: list[float] = []

    async def _call_api(self, *_args: Any, **_kwargs: Any) -> AsyncGenerator[ChatResponse, None]:
        turn = len(self.asked_at)
        self.asked_at.append(time.perf_counter())
        calls = self.turns[turn] if turn < len(self.turns) else []

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            blocks: list[Any] = [
                ToolCallBlock(id=call_id, name=name, input=raw) for call_id, name, raw in calls
            ]
            yield ChatResponse(content=blocks or [TextBlock(text="done")], is_last=True)

        return stream()

    async def count_tokens(self, *_args: Any, **_kwargs: Any) -> int:
        """Free of charge: what is measured is the loop."""
        return 0


def allowed_tool() -> FunctionTool:
    """A function that may always run."""

    async def look(x: str) -> str:
        """Look at something.

        Args:
            x: what.
        """
        return f"looked at {x}"

    allow = PermissionDecision(behavior=PermissionBehavior.ALLOW, message="fine")
    return FunctionTool(look, permission=allow)


def asking_tool() -> FunctionTool:
    """A function that a person must confirm."""

    async def act(x: str) -> str:
        """Do something.

        Args:
            x: what.
        """
        return f"did {x}"

    return FunctionTool(act)


async def loop_times(turns: int) -> list[float]:
    """Seconds from one model turn to the next, each with one allowed call."""
    script = [[(f"c{n}", "look", '{"x": "a"}')] for n in range(turns)]
    model = Scripted(script)
    agent = Agent(
        "bench",
        "",
        model,
        Toolkit(tools=[allowed_tool()]),
        react_config=ReActConfig(max_iters=turns + 1),
    )
    await agent.reply(UserMsg("user", "go"))
    return [
        after - before for before, after in zip(model.asked_at, model.asked_at[1:], strict=False)
    ]


async def parked_bytes() -> int:
    """Bytes of the state of a reply that waits with two calls."""
    script = [[("c1", "act", '{"x": "a"}'), ("c2", "act", '{"x": "b"}')]]
    agent = Agent("bench", "", Scripted(script), Toolkit(tools=[asking_tool()]))
    await agent.reply(UserMsg("user", "go"))
    return len(agent.state.model_dump_json().encode())


def checker(contents: Sequence[str]) -> Check:
    """The permission check of a Bash call under these allow rules."""
    rules = [
        PermissionRule(
            tool_name="Bash", rule_content=text, behavior=PermissionBehavior.ALLOW, source="bench"
        )
        for text in contents
    ]
    engine = PermissionEngine(PermissionContext(allow_rules={"Bash": rules}))
    tool = Bash()

    async def check(command: str) -> str:
        decision = await engine.check_permission(tool, {"command": command})
        return str(decision.behavior.value)

    return check
