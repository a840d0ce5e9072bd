"""`keyturn demo`: plays the story, with a person or with answers written beforehand."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from adapters.terminal.channel import Console, TerminalSurface, console_for
from adapters.terminal.lines import Lines, Typed, written
from adapters.workspace.directory import Directory
from adapters.workspace.sandbox import PATH, Sandbox
from bot.chat import Conversation, at_work, final_text
from bot.cli import DONE, UNAVAILABLE, WAITING
from bot.commands.exchange import answers
from bot.commands.opening import Hears, unwrapped
from bot.demo.files import prepare
from bot.demo.scripts import SCRIPTS
from bot.demo.story import REQUEST
from bot.machine import login_name
from bot.settings import read_settings
from bot.store import forget_store
from bot.wiring import Keyturn, Outside, open_keyturn
from core.calls import Actor, Reply, ReplyState
from core.errors import SetupRefused
from core.requests import Request

REQUESTER = Actor("person", "demo:colleague", "a colleague", "terminal")
OP = "demo:request"
LEASE_MS = 3_000
"""Short, so that nobody waits long for a demo that was killed to go on."""
_NO_SANDBOX = (
    "The sandbox is OFF: {why} So this demo runs the agent's commands as you, unconfined"
    ' (its configuration says sandbox = "none"). Only the demo\'s script and your edits decide what'
    " they are."
)
_INTRODUCTION = """\
An agent is asked to clean up a server. It works on real files below {work}. \
Whatever only reads runs at once; whatever changes something asks you here. Interrupt it where you \
like, even with kill -9: the next `keyturn demo` goes on."""


async def command(options: argparse.Namespace) -> int:
    """Play the demo, or go on with the one that was interrupted."""
    console = console_for(sys.stdout, dict(os.environ))
    folder = options.dir.resolve()
    if options.fresh:
        forget_store(folder / "data")
    try:
        (folder / "work").mkdir(parents=True, exist_ok=True)
        why = no_sandbox_because(folder / "work")
        sandbox = "none" if why else "bubblewrap"
        file = prepare(folder, login_name(), sandbox, fresh=options.fresh)
    except OSError as error:
        raise SetupRefused(f"{folder} can't be used: {error.strerror}. Try --dir DIR.") from error
    console.note(_INTRODUCTION.format(work=folder / "work"))
    if why:
        console.note(_NO_SANDBOX.format(why=why))
    with unwrapped():
        outside = Outside(file, dict(os.environ), Hears(console), LEASE_MS)
        async with open_keyturn(read_settings(file), outside) as keyturn:
            return await _play(options, keyturn, console)


def no_sandbox_because(work: Path) -> str:
    """Why commands can't be confined on this machine; empty if they can."""
    if not shutil.which("bwrap", path=PATH):
        return "bubblewrap is not installed on this machine (apt install bubblewrap)."
    try:
        Sandbox().check(Directory(work))
    except (SetupRefused, OSError, subprocess.SubprocessError):
        return "bubblewrap can't make a sandbox here (no unprivileged user namespaces)."
    return ""


async def _play(options: argparse.Namespace, keyturn: Keyturn, console: Console) -> int:
    talk = Conversation(
        keyturn=keyturn,
        request=Request("ops", "demo", REQUESTER),
        console=console,
        lines=_lines(options),
        environment=dict(os.environ),
        until_closed=True,
    )
    console.write(f"\n{REQUESTER.name}: {REQUEST}\n")
    await talk.send(REQUEST, OP)
    before = await keyturn.ledger.reply(talk.reply_id)
    if before is not None and before.state is ReplyState.CLOSED:
        return await _seen_before(keyturn, console, before)
    if before is not None and before.turn:
        console.note("Going on where the last demo was interrupted.")
    async with at_work(keyturn, TerminalSurface(console, keyturn.clock)):
        reply = await talk.run()
    return _over(console, reply, options.dir)


async def _seen_before(keyturn: Keyturn, console: Console, reply: Reply) -> int:
    console.write(await final_text(keyturn, reply))
    console.note("This demo was played to its end. Start anew: keyturn demo --fresh")
    return DONE


def _over(console: Console, reply: Reply | None, folder: Path) -> int:
    if reply is None:
        return UNAVAILABLE
    if reply.state is ReplyState.CLOSED:
        console.note(f"The end. See what is left of the files: {folder / 'work'}")
        return DONE
    console.note("Still open. Go on: keyturn demo")
    return WAITING


def _lines(options: argparse.Namespace) -> Lines:
    """Where answers come from. Without a terminal and without answers, a script plays."""
    if options.answer is not None:
        return answers(options)
    if options.script is not None or not sys.stdin.isatty():
        return written(SCRIPTS[options.script or "mixed"])
    return Typed()
