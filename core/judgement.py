"""Judging the calls of one reply: the engine with policy, modes and allowlist around it."""

from dataclasses import dataclass

from core.agent.judging import Judge
from core.authority import People
from core.permissions.engine import Rulebook, Verdict, compile_context, judge
from core.policy import Policy
from core.ports import Preferences
from core.requests import Request
from core.state import AgentState
from core.tools import Input, Tool


@dataclass(frozen=True, slots=True)
class RulebookMaker:
    """Puts together what holds for one requester now."""

    policy: Policy
    people: People
    preferences: Preferences

    async def make(self, request: Request, state: AgentState) -> Rulebook:
        """The rulebook for the calls of this request, under the requester's mode and allowlist."""
        person = self.people.voter(request.requester.id)
        entries = await self.preferences.allowlist(person)
        return compile_context(
            state.permission_context,
            self.policy,
            await self.preferences.mode(person),
            [entry.rule for entry in entries],
            agent=request.agent,
            channel=request.channel or None,
        )


def judge_with(rulebook: Rulebook) -> Judge:
    """The judge that the loop asks, under this rulebook."""

    def judged(tool: Tool, value: Input, _state: AgentState) -> Verdict:
        return judge(rulebook, tool, value)

    return judged
