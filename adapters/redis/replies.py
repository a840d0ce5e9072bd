"""Answers of the scripts, read."""

from collections.abc import Callable, Mapping
from typing import Any

from adapters.redis.records import MISFITS, load
from core.calls import Actor, CallKey, CallState, DecisionKind, ReplyState
from core.errors import StoreDamaged
from core.ledger import answers
from core.messages import ReplyFinishedReason

_OF_REPLIES = frozenset({answers.Lost, answers.NotReady, answers.NothingToStop})
"""Answers whose state is a reply's; in all others it is a call's."""


def _actor(row: list[Any]) -> Actor:
    return Actor(*row)


def _key(value: Mapping[str, Any]) -> CallKey:
    return CallKey(**value)


_READ: Mapping[str, Callable[[Any], Any]] = {
    "why": answers.Why,
    "by": _actor,
    "decider": _actor,
    "decision": DecisionKind,
    "outcome": ReplyFinishedReason,
    "call": _key,
    "calls": tuple,
    "granted": tuple,
    "running": tuple,
    "withdrawn": tuple,
}


def answer_from(text: bytes) -> answers.Answer | None:
    """What a script answered; `null` is "no such reply".

    Raises:
        StoreDamaged: no answer of ours.
    """
    if text == b"null":
        return None
    value = load(text)
    try:
        kind = getattr(answers, value.pop("k"))
        if "state" in value:
            value["state"] = (ReplyState if kind in _OF_REPLIES else CallState)(value["state"])
        for name in value.keys() & _READ.keys():
            value[name] = _READ[name](value[name])
        answer: answers.Answer = kind(**value)
    except (AttributeError, *MISFITS) as wrong:
        raise StoreDamaged("An answer of the store can't be read.") from wrong
    return answer
