"""The transitions of the ledger as plain functions: a draft and a request in, an answer out.

They are the specification in Python. The store in memory runs them; the Redis store has the same
rules as scripts, and a test lets both walk side by side.
"""

from collections.abc import Callable, Mapping
from typing import Any

from core.ledger import requests as r
from core.ledger.answers import Answer, Full, Refused, Why
from core.transitions import cards, messages, people, timers, worker
from core.transitions.draft import Draft

TRANSITIONS: Mapping[type, Callable[[Draft, Any], Answer]] = {
    r.Accept: messages.accept,
    r.StopReply: messages.stop,
    r.CancelCall: messages.cancel,
    r.Claim: worker.claim,
    r.Renew: worker.renew,
    r.WriteTurn: worker.turn,
    r.Check: worker.check,
    r.Start: worker.start,
    r.Refuse: worker.refuse,
    r.Finish: worker.finish,
    r.Release: worker.release,
    r.HandBack: worker.hand_back,
    r.Complete: worker.complete,
    r.Approve: people.approve,
    r.Reject: people.reject,
    r.Modify: people.modify,
    r.Fulfil: people.fulfil,
    r.ClaimTask: people.claim_task,
    r.ReturnTask: people.return_task,
    r.Fire: timers.fire,
    r.Shown: cards.shown,
    r.Seen: cards.seen,
}

BY_PEOPLE = (
    r.Accept,
    r.StopReply,
    r.CancelCall,
    r.Approve,
    r.Reject,
    r.Modify,
    r.Fulfil,
    r.ClaimTask,
    r.ReturnTask,
)
BY_STATE = (r.Claim, r.Renew, r.WriteTurn, r.Start, r.Finish, r.Complete, r.Shown, r.Seen)
"""Replayed from what the records say, not from a kept answer."""


def keeps_answer(request: object, answer: Answer, wrote: bool) -> bool:
    """Whether the answer is kept under the request's op, to be given again.

    A person's refusal is kept as well: the person has read it. Not so "could not check": the
    same click may be tried again with a fresh check. A worker's refusal may be asked again.
    """
    if isinstance(request, BY_STATE):
        return False
    if isinstance(answer, Refused) and answer.why is Why.NOT_CHECKED:
        return False
    return wrote or isinstance(answer, Full) or isinstance(request, BY_PEOPLE)


def step(draft: Draft, request: object) -> Answer:
    """Make one transition in the draft, and what ends every transition."""
    answer = TRANSITIONS[type(request)](draft, request)
    if draft.wrote:
        draft.settle()
    return answer
