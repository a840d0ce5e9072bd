"""What the chat shows is recorded: every copy, compared with the ledger, acknowledged last."""

from dataclasses import replace

from core.calls import Call, Card
from core.ledger import answers as a
from core.ledger import requests as r
from core.transitions.draft import Draft, refused


def shown(draft: Draft, request: r.Shown) -> a.Recorded | a.Refused:
    """Messages show a version. Is it old, an edit is ordered."""
    call = draft.call(request.card.call)
    if call is None:
        return refused(a.Why.NO_SUCH_CALL, None)
    look_at = draft.now + r.LOOK_MS if request.repeated else None
    _add(draft, call, request.card.channel, request.messages, look_at)
    behind = request.version < call.version
    if behind:
        draft.order("edit", call, request.card.channel)
    return a.Recorded(behind)


def seen(draft: Draft, request: r.Seen) -> a.Recorded | a.Refused:
    """A message that is not recorded is adopted, and brought up to date."""
    call = draft.call(request.card.call)
    if call is None:
        return refused(a.Why.NO_SUCH_CALL, None)
    channel = request.card.channel
    if any(c.channel == channel and request.message in c.messages for c in call.cards):
        return a.Recorded(False)
    _add(draft, call, channel, (request.message,), None)
    draft.order("edit", call, channel)
    return a.Recorded(True)


def _add(
    draft: Draft, call: Call, channel: str, messages: tuple[str, ...], look_at: int | None
) -> None:
    cards = call.cards
    if all(card.channel != channel for card in cards):
        cards = (*cards, Card(channel))
    draft.quiet(
        replace(
            call,
            cards=tuple(
                replace(
                    card,
                    ordered=True,
                    messages=tuple(dict.fromkeys((*card.messages, *messages))),
                    look_at=look_at or card.look_at,
                )
                if card.channel == channel
                else card
                for card in cards
            ),
        )
    )
