"""The judge of an agent that stands alone: the rules and the mode in its own state."""

from typing import TypeAlias

from core.agent.judging import Judge
from core.permissions.engine import Rulebook, Verdict, compile_context, judge
from core.permissions.rules import AutoRunMode, PermissionContext
from core.policy import Policy
from core.state import AgentState
from core.tools import Input, Tool

_Shape: TypeAlias = tuple[object, ...]


def context_judge(policy: Policy, auto_run: AutoRunMode = AutoRunMode.USE_ALLOWLIST) -> Judge:
    """Judges by the permission context of the state, under a policy that does not change. Rules
    are made ready once and again when the context has changed."""
    kept: tuple[_Shape, Rulebook] | None = None

    def judged(tool: Tool, value: Input, state: AgentState) -> Verdict:
        nonlocal kept
        shape = _shape(state.permission_context)
        if kept is None or kept[0] != shape:
            kept = (shape, compile_context(state.permission_context, policy, auto_run))
        return judge(kept[1], tool, value)

    return judged


def _shape(context: PermissionContext) -> _Shape:
    rules = (context.allow_rules, context.deny_rules, context.ask_rules)
    return (
        context.mode,
        tuple((path, each.path) for path, each in context.working_directories.items()),
        *(
            tuple(
                (name, rule.tool_name, rule.rule_content, rule.behavior)
                for name, filed in kind.items()
                for rule in filed
            )
            for kind in rules
        ),
    )
