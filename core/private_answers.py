"""The one exact private answer to each thing a person does: what was recorded, or why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import words
from core.authority import People
from core.calls import Actor, Call, CallState, DecisionKind
from core.ledger.answers import (
    AlreadyStopping,
    Counted,
    Granted,
    NothingToStop,
    Refused,
    Returned,
    Settled,
    StopAnswer,
    Stopping,
    Why,
    Yours,
)
from core.permissions.rule_strings import print_rule
from core.permissions.rules import PermissionRule

NO_SUCH_CALL = "There is no such call here. It may be older than seven days."
NO_SUCH_REPLY = "There is no such reply here. It may be older than seven days."
ONLY_PEOPLE = "Only a verified person can decide."
MAY_NOT_STOP = "Only who asked, the agent's owner or one of the approvers can stop this reply."
RULE_NOT_OFFERED = "This rule was not offered with the call, so it can't be accepted here."
RULE_NEEDS_MORE_PEOPLE = (
    "This call needs more than one person, so one alone can't allow the like of it for good."
)
CHANGED = "The call changed after this card was shown. Nothing was recorded; look at the new one."


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of an act, in words for the person who acted, and the call as it is now."""

    ok: bool
    said: str
    call: Call | None = None


Decided = Counted | Granted | Settled | Refused | Yours | Returned

_SETTLED = {
    CallState.DONE: "Recorded as done.",
    CallState.REJECTED: "Rejected. It will not run.",
    CallState.CANCELLED: "Cancelled. It will not run.",
    CallState.ABANDONED: "Given up. It will not be repeated.",
    CallState.DENIED: "The policy denies it. It will not run.",
    CallState.EXPIRED: "It had expired and was not run.",
}

_PAST = {
    DecisionKind.APPROVE: "approved",
    DecisionKind.MODIFY: "changed and approved",
    DecisionKind.REJECT: "rejected",
    DecisionKind.FULFIL: "answered",
    DecisionKind.CANCEL: "cancelled",
    DecisionKind.EXPIRE: "let expire",
    DecisionKind.DENY: "denied",
}

_REFUSED = {
    Why.NO_SUCH_CALL: NO_SUCH_CALL,
    Why.CHANGED: CHANGED,
    Why.EXPIRED: "This expired and was not run. The agent was told that nobody answered.",
    Why.NOT_CHECKED: words.could_not_check("it took too long"),
    Why.VOTED: words.ALREADY_VOTED,
    Why.STOPPED: "This reply is being stopped; nothing of it runs any more.",
    Why.POLICY_MOVED: "The policy changed meanwhile. Nothing was recorded; try again.",
    Why.LAPSED: "The approval had lapsed before the call could start; it is asked again.",
    Why.NOT_YET: "Another call of this reply has to be settled first.",
    Why.TOO_LATE: "Too late: the call is settled. What you sent was noted, not used.",
}


def of_decision(answer: Decided, identity: str, people: People) -> tuple[bool, str]:
    """Whether it was recorded, and what to tell the person."""
    if isinstance(answer, Counted):
        return True, f"Your approval is recorded ({answer.votes} of {answer.quorum})."
    if isinstance(answer, Granted):
        return True, "Approved for one run."
    if isinstance(answer, Settled):
        return True, _SETTLED.get(answer.state, f"The call is {answer.state.value}.")
    if isinstance(answer, Yours):
        return True, "The task is yours."
    if isinstance(answer, Returned):
        return True, "The task is free again."
    return False, _refusal(answer, people.voter(identity))


def _refusal(refused: Refused, voter: str) -> str:
    if refused.why is Why.TAKEN:
        return f"{_name(refused.by, voter)} has claimed this task."
    if refused.why is Why.NOT_ASKED and refused.decision is not None:
        verb = _PAST[refused.decision]
        return f"{_name(refused.decider, voter)} already {verb} this."
    if refused.why is Why.NOT_ASKED:
        return _nothing_asked(refused.state)
    return _REFUSED[refused.why]


def not_asked(call: Call) -> str:
    """What to tell who answers a question that is not put."""
    return _nothing_asked(call.state)


def _nothing_asked(state: CallState | None) -> str:
    return f"Nothing like that is asked here now: the call is {state.value if state else 'gone'}."


def _name(actor: Actor | None, voter: str) -> str:
    if actor is None:
        return "Somebody"
    if actor.kind == "person" and actor.id == voter:
        return "You"
    return actor.name or actor.id


def of_stop(answer: StopAnswer) -> tuple[bool, str]:
    """What to tell who stopped a reply."""
    if isinstance(answer, Stopping):
        running = len(answer.running)
        still = f" {running} call(s) run already and can't be taken back." if running else ""
        return True, f"Stopping; nothing more starts.{still}"
    if isinstance(answer, AlreadyStopping):
        return False, f"{answer.by.name or answer.by.id} is stopping it already."
    assert isinstance(answer, NothingToStop)
    return False, "Nothing to stop: the reply is not at work."


def rule_added(rule: PermissionRule, person: str, added: bool) -> str:
    """What to tell who put a rule on an allowlist."""
    if not added:
        return f"{print_rule(rule)} is on the allowlist of {person} already."
    return f"{print_rule(rule)} is now on the allowlist of {person}. This call still waits for you."


def result_does_not_fit(faults: Sequence[str]) -> str:
    """What to tell who submitted a result that the tool does not take."""
    return "The result does not fit, nothing was submitted: " + " ".join(faults)
