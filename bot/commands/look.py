"""`keyturn pending`, `keyturn tasks` and `keyturn show`: looking, not touching."""

import argparse
import os
import sys

from adapters.terminal.channel import console_for
from bot.chat import draw
from bot.cli import DONE
from bot.commands.exchange import card_json, say
from bot.commands.opening import find_call, opened
from bot.wiring import Keyturn
from core import words
from core.calls import Call, CallState, Reply


async def command(options: argparse.Namespace) -> int:
    """Run the one that was named."""
    async with opened(options) as keyturn:
        if options.command == "show":
            return await _show(options, keyturn)
        only_tasks = options.command == "tasks"
        return await _list(options, keyturn, only_tasks=only_tasks)


async def _list(options: argparse.Namespace, keyturn: Keyturn, *, only_tasks: bool) -> int:
    console = console_for(sys.stdout, dict(os.environ))
    calls = await keyturn.gateway.pending()
    calls = tuple(c for c in calls if not only_tasks or c.state is CallState.TASK)
    if not calls and not options.json:
        console.write("No task waits for people." if only_tasks else "Nothing waits for people.")
    for call in calls:
        card = await keyturn.gallery.card(call)
        if card is None:
            continue
        if options.json:
            say(card_json(call, card))
            continue
        now = await keyturn.ledger.now()
        console.write(f"{words.code_line(card.code)}  {card.title}", "bold")
        until = f" · {words.deadline_line(card.deadline, now)}" if card.deadline else ""
        who = f" · claimed by {call.claimant.name or call.claimant.id}" if call.claimant else ""
        console.write(
            f"           {card.risk} risk · agent {card.agent} · asked by {card.requester}"
            f" · {card.approvers}{until}{who}"
        )
    return DONE


async def _show(options: argparse.Namespace, keyturn: Keyturn) -> int:
    """A reply by its id, or an open call by its code."""
    reply = await keyturn.ledger.reply(options.what)
    if reply is not None:
        for call in reply.calls:
            await _one(options, keyturn, reply, call)
        if not reply.calls and not options.json:
            print(f"Reply {reply.reply_id} is {reply.state.value} and has made no call yet.")
        return DONE
    found, call = await find_call(keyturn, options.what)
    await _one(options, keyturn, found, call)
    return DONE


async def _one(options: argparse.Namespace, keyturn: Keyturn, reply: Reply, call: Call) -> None:
    sheet = await draw(keyturn, reply, call)
    if options.json:
        card = await keyturn.gallery.card(call)
        assert card is not None, "its reply was just read"
        say({**card_json(call, card), "full": "\n".join(sheet.pages)})
        return
    console = console_for(sys.stdout, dict(os.environ))
    console.show_sheet(sheet)
    console.write("\nEvery byte of the input:")
    console.write("\n".join(sheet.pages))
