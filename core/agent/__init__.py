"""The agent: its loop, the questions it parks at, and the answers it goes on with."""

from core.agent.agent import Agent, Inputs
from core.agent.answers import Answer, joined
from core.agent.decisions import Decision, answer, approve, check_edit, expire, reject
from core.agent.journal import Journal, NoJournal, Refused, Started
from core.agent.judges import context_judge
from core.agent.judging import Court, Fate, Judge, JudgedCall, fingerprint
from core.agent.notes import NOTE
from core.agent.results import Outcome
from core.agent.running import interrupted, run_call
from core.agent.stamps import Stamps

__all__ = [
    "NOTE",
    "Agent",
    "Answer",
    "Court",
    "Decision",
    "Fate",
    "Inputs",
    "Journal",
    "Judge",
    "JudgedCall",
    "NoJournal",
    "Outcome",
    "Refused",
    "Stamps",
    "Started",
    "answer",
    "approve",
    "check_edit",
    "context_judge",
    "expire",
    "fingerprint",
    "interrupted",
    "joined",
    "reject",
    "run_call",
]
