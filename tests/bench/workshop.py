"""One of our agents at work: alone, and in a worker that writes each step to a ledger in memory."""

from dataclasses import dataclass

from adapters.memory.ledger import MemoryLedger
from adapters.memory.preferences import MemoryPreferences
from core.agent import Agent, context_judge
from core.authority import People
from core.calls import Actor, Reply
from core.functions import tool
from core.judgement import RulebookMaker
from core.ledger import Accept
from core.ledger.answers import Begun
from core.messages import user_msg
from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import allowed
from core.policy import Gate, Gates, Policy
from core.ports import Model
from core.requests import Request
from core.roster import AgentSpec
from core.toolbox import Toolbox
from core.worker import Bench, Worker
from tests.stories.office import CountedIds, Heard, PatientClock

POLICY = Policy(Gates(Gate("default", "everyone")), revision=1)
_REQUEST = Request("bench", "thread", Actor("person", "terminal:rita", "Rita", "terminal"))


@tool(permissions=FunctionPermissions("look", own=allowed("it may always run")))
async def look(x: str) -> str:
    """Look at something.

    Args:
        x: what.
    """
    return f"looked at {x}"


@tool
async def act(x: str) -> str:
    """Do something.

    Args:
        x: what.
    """
    return f"did {x}"


def agent_alone(model: Model, max_iters: int = 50) -> Agent:
    """An agent that keeps its state in memory."""
    tools = Toolbox([look, act])
    return Agent("bench", model, tools, context_judge(POLICY), max_iters=max_iters)


@dataclass(slots=True)
class Workshop:
    """A worker with one agent and an empty ledger."""

    model: Model
    max_iters: int = 50

    async def work(self) -> Reply:
        """Take one message and drive its reply until it ends or parks."""
        clock, ids = PatientClock(), CountedIds()
        ledger = MemoryLedger(clock, ids)
        spec = AgentSpec(
            "bench", self.model, (look, act), max_iters=self.max_iters, channels=("chat:1",)
        )
        rulebooks = RulebookMaker(POLICY, People(), MemoryPreferences(clock))
        bench = Bench(ledger, {"bench": spec}, rulebooks, Heard(), clock, ids, "local")
        await ledger.publish_policy(bench.policy)
        accepted = await ledger.accept(
            Accept(
                op=ids.new(),
                session_id=_REQUEST.session_id,
                tenant="local",
                actor=_REQUEST.requester,
                message=_REQUEST.dump(user_msg("go")),
            )
        )
        assert isinstance(accepted, Begun)
        await Worker(bench, "w1").take_up(accepted.reply_id)
        reply = await ledger.reply(accepted.reply_id)
        assert reply is not None
        return reply
