"""`keyturn chat`, `keyturn ask` and `keyturn stop`."""

import argparse
import os
import sys

from adapters.terminal.channel import Console, TerminalSurface, console_for
from bot.chat import Conversation, at_work
from bot.cli import DONE, REFUSED, UNAVAILABLE, USAGE, WAITING
from bot.commands.exchange import answers, output, reply_json, say
from bot.commands.opening import opened, work_off
from bot.settings.mistakes import suggestion
from bot.wiring import Keyturn
from core.calls import Reply, ReplyState
from core.ledger.answers import Full
from core.messages import ReplyFinishedReason, user_msg
from core.requests import Request


async def command(options: argparse.Namespace) -> int:
    """Run the one that was named."""
    if options.command == "chat":
        return await _chat(options)
    return await (_ask(options) if options.command == "ask" else _stop(options))


async def _chat(options: argparse.Namespace) -> int:
    console = output(argparse.Namespace(json=False))
    assert console is not None, "a chat is for people"
    async with opened(options, console) as keyturn:
        if not _has_agent(keyturn, options.agent):
            return USAGE
        lines = answers(options)
        for warning in keyturn.warnings:
            console.note(warning)
        console.note(f"{options.agent} listens. /help says what else there is.")
        talk = Conversation(
            keyturn=keyturn,
            request=_request(keyturn, options.agent, options.session),
            console=console,
            lines=lines,
            environment=dict(os.environ),
        )
        talk.reply_id = await _active(keyturn, talk.request)
        async with at_work(keyturn, TerminalSurface(console, keyturn.clock)):
            await talk.run()
    return DONE


async def _ask(options: argparse.Namespace) -> int:
    console = output(options)
    async with opened(options, console) as keyturn:
        if not _has_agent(keyturn, options.agent):
            return USAGE
        session = options.session or f"ask-{keyturn.ids.new()}"
        text = sys.stdin.read() if options.message == "-" else options.message
        request = _request(keyturn, options.agent, session)
        said = await keyturn.gateway.ask(request, user_msg(text), f"ask:{keyturn.ids.new()}")
        if isinstance(said, Full):
            print(f"{said.limit} messages wait already; try again later.", file=sys.stderr)
            return REFUSED
        if options.answer is None:
            reply = await work_off(keyturn, said.reply_id, console)
        else:
            reply = await _answered(options, keyturn, request, said.reply_id, console)
        if reply is None:
            return UNAVAILABLE
        return await _told(options, keyturn, reply)


async def _answered(
    options: argparse.Namespace,
    keyturn: Keyturn,
    request: Request,
    reply_id: str,
    console: Console | None,
) -> Reply | None:
    """Follow the reply, with answers from where `--answer` says, until it ends or they do."""
    shown = console or console_for(sys.stderr, dict(os.environ))
    talk = Conversation(
        keyturn=keyturn,
        request=request,
        console=shown,
        lines=answers(options),
        environment=dict(os.environ),
        until_closed=True,
        reply_id=reply_id,
    )
    async with at_work(keyturn, TerminalSurface(shown, keyturn.clock)):
        return await talk.run()


async def _told(options: argparse.Namespace, keyturn: Keyturn, reply: Reply) -> int:
    """Say how the reply stands, and what to do next."""
    if options.json:
        say(await reply_json(keyturn, reply))
    elif reply.state is ReplyState.PARKED:
        print(f"Waits for people. Reply {reply.reply_id}")
        print("See what: keyturn pending · decide: keyturn approve CODE, reject CODE, …")
    if reply.state is ReplyState.PARKED:
        return WAITING
    return DONE if reply.outcome is ReplyFinishedReason.COMPLETED else REFUSED


async def _stop(options: argparse.Namespace) -> int:
    console = output(options)
    async with opened(options, console) as keyturn:
        op = f"stop:{keyturn.ids.new()}"
        answered = await keyturn.gateway.stop(options.reply, keyturn.me, op)
        if answered.ok:
            await work_off(keyturn, options.reply, console)
        if options.json:
            say({"ok": answered.ok, "said": answered.said})
        else:
            print(answered.said)
        return DONE if answered.ok else REFUSED


def _request(keyturn: Keyturn, agent: str, session: str) -> Request:
    return Request(agent, f"{keyturn.me.id}/{session}", keyturn.me)


async def _active(keyturn: Keyturn, request: Request) -> str:
    """The reply that this conversation stopped at, if one is still going."""
    session = await keyturn.ledger.session(request.session_id)
    return (session.active or "") if session else ""


def _has_agent(keyturn: Keyturn, name: str) -> bool:
    if name in keyturn.roster:
        return True
    known = list(keyturn.roster)
    remedy = suggestion(name, known) or f"Known: {', '.join(known)}."
    print(f"There is no agent {name!a} in the configuration. {remedy}", file=sys.stderr)
    return False
