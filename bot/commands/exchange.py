"""What commands take from people and programs, and what they give back to programs."""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.terminal.channel import Console, console_for
from adapters.terminal.lines import Lines, Typed, written
from adapters.terminal.payloads import MAX_LINE
from bot.chat import final_text
from bot.commands.opening import NotFound
from bot.wiring import Keyturn
from core.calls import Call, Reply, ReplyState
from core.cards import Card


def output(options: argparse.Namespace) -> Console | None:
    """Where people read, or nothing if a program does."""
    return None if options.json else console_for(sys.stdout, dict(os.environ))


def answers(options: argparse.Namespace) -> Lines:
    """Where answers come from: a file, or standard input.

    Raises:
        NotFound: there is no such file.
    """
    given: str | None = options.answer
    if given is None or given == "-":
        return Typed()
    try:
        return written(Path(given).read_text().splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"The answers in {given} can't be read: {error}.") from error


def given_input(given: str | None) -> str | None:
    """`--input`: JSON, `@FILE`, or `-` for standard input.

    Raises:
        NotFound: there is no such file, or it is too long.
    """
    if given is None or not (given == "-" or given.startswith("@")):
        return given
    try:
        text = sys.stdin.read(MAX_LINE + 1) if given == "-" else Path(given[1:]).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"The input in {given} can't be read: {error}.") from error
    if len(text) > MAX_LINE:
        raise NotFound(f"The input has more than {MAX_LINE} characters.")
    return text


def say(line: Mapping[str, Any]) -> None:
    """One JSON line on standard output."""
    print(json.dumps(line, ensure_ascii=True))


def card_json(call: Call, card: Card) -> dict[str, Any]:
    """A card for programs: what lists need, with arguments as they are drawn (secrets masked)."""
    return {
        "call": card.code,
        "reply": call.key.reply_id,
        "tool": call.tool,
        "title": card.title,
        "state": call.state.value,
        "risk": card.risk,
        "agent": card.agent,
        "asked_by": card.requester,
        "approvers": card.approvers,
        "why": card.why,
        "deadline_ms": card.deadline,
        "revision": call.revision,
        "digest": call.digest,
        "needs_review": card.needs_review,
        "arguments": {row.label: row.shown.text for row in card.arguments},
        "rules_offered": list(card.rules),
    }


async def reply_json(keyturn: Keyturn, reply: Reply) -> dict[str, Any]:
    """A reply for programs."""
    waiting = [
        call for call in await keyturn.gateway.pending() if call.key.reply_id == reply.reply_id
    ]
    cards = [(call, await keyturn.gallery.card(call)) for call in waiting]
    return {
        "reply": reply.reply_id,
        "state": reply.state.value,
        "outcome": reply.outcome.value if reply.outcome else None,
        "text": await final_text(keyturn, reply) if reply.state is ReplyState.CLOSED else "",
        "waiting": [card_json(call, card) for call, card in cards if card is not None],
    }
