"""`keyturn approve`, `reject`, `modify`, `cancel`, `settle`, `claim`, `return`, `fulfil`.

Each names its call by code. The code is the beginning of the digest, so it names the revision too:
a call that changed has another code, and an old one decides nothing.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from adapters.terminal.cards import Sheet
from adapters.terminal.changing import Changer
from adapters.terminal.channel import Console, console_for
from adapters.terminal.lines import Ended, Typed
from bot.chat import draw
from bot.cli import DONE, REFUSED
from bot.commands.exchange import given_input, output, reply_json, say
from bot.commands.opening import find_call, opened, work_off
from bot.wiring import Keyturn
from core import words
from core.private_answers import Answered
from core.tasks import TaskAnswer


@dataclass(frozen=True, slots=True)
class _Desk:
    """One call in front of one person."""

    options: argparse.Namespace
    keyturn: Keyturn
    sheet: Sheet
    console: Console

    @property
    def op(self) -> str:
        """One decision, one id, however often it is sent."""
        return f"cli:{self.options.command}:{self.sheet.call.digest}:{self.keyturn.me.id}"


async def command(options: argparse.Namespace) -> int:
    """Take the decision, then work on the reply until it ends or waits again."""
    console = output(options)
    async with opened(options, console) as keyturn:
        reply, call = await find_call(keyturn, options.call)
        shown = console or console_for(sys.stderr, dict(os.environ))
        desk = _Desk(options, keyturn, await draw(keyturn, reply, call), shown)
        answered = await _ACTIONS[options.command](desk)
        if answered is None:
            return REFUSED
        if not options.json:
            shown.note(answered.said)
        after = await work_off(keyturn, reply.reply_id, console) if answered.ok else reply
        if options.json:
            state = await reply_json(keyturn, after) if after is not None else {}
            say({"ok": answered.ok, "said": answered.said, **state})
        return DONE if answered.ok else REFUSED


async def _approve(desk: _Desk) -> Answered | None:
    call, sheet = desk.sheet.call, desk.sheet
    if sheet.review and not desk.options.reviewed:
        return Answered(
            False,
            f"{words.REVIEW_FIRST.split('. ')[0]}. Read it: keyturn show {sheet.code}"
            f" · then: keyturn approve {sheet.code} --reviewed",
        )
    wanted: list[int] = desk.options.always
    chosen = [sheet.rules[n - 1] for n in wanted if 0 < n <= len(sheet.rules)]
    if len(chosen) != len(wanted):
        return Answered(False, f"{len(sheet.rules)} rules are offered with this call.")
    for rule in chosen:
        added = await desk.keyturn.gateway.allow_always(call.key, desk.keyturn.me, rule)
        if not added.ok:
            return added
    return await desk.keyturn.gateway.approve(call.key, call.revision, desk.keyturn.me, desk.op)


async def _reject(desk: _Desk) -> Answered | None:
    call, reason = desk.sheet.call, desk.options.reason
    return await desk.keyturn.gateway.reject(
        call.key, call.revision, desk.keyturn.me, desk.op, reason
    )


async def _modify(desk: _Desk) -> Answered | None:
    call = desk.sheet.call
    given = given_input(desk.options.input)
    changed = await _changer(desk).change(desk.sheet, given, _ask(desk))
    if changed is None:
        return None
    return await desk.keyturn.gateway.modify(
        call.key, call.revision, desk.keyturn.me, desk.op, changed
    )


async def _fulfil(desk: _Desk) -> Answered | None:
    given = given_input(desk.options.input) or ""
    answer = await _changer(desk).result(desk.sheet, given, _ask(desk), exact=bool(given))
    return None if answer is None else await _give(desk, answer)


async def _give(desk: _Desk, answer: TaskAnswer) -> Answered:
    return await desk.keyturn.gateway.fulfil(desk.sheet.call.key, desk.keyturn.me, desk.op, answer)


async def _settle(desk: _Desk) -> Answered | None:
    """What became of a run whose end is not proven."""
    call, outcome = desk.sheet.call, desk.options.outcome
    gateway, me = desk.keyturn.gateway, desk.keyturn.me
    if outcome == "again":
        return await gateway.approve(call.key, call.revision, me, desk.op)
    if outcome == "abandon":
        return await gateway.reject(call.key, call.revision, me, desk.op)
    return await _give(desk, TaskAnswer("A person says that it was carried out."))


async def _cancel(desk: _Desk) -> Answered | None:
    return await desk.keyturn.gateway.cancel(desk.sheet.call.key, desk.keyturn.me, desk.op)


async def _claim(desk: _Desk) -> Answered | None:
    op = f"cli:{desk.keyturn.ids.new()}"
    return await desk.keyturn.gateway.claim_task(desk.sheet.call.key, desk.keyturn.me, op)


async def _return(desk: _Desk) -> Answered | None:
    op = f"cli:{desk.keyturn.ids.new()}"
    return await desk.keyturn.gateway.return_task(desk.sheet.call.key, desk.keyturn.me, op)


_ACTIONS: dict[str, Callable[[_Desk], Awaitable[Answered | None]]] = {
    "approve": _approve,
    "reject": _reject,
    "modify": _modify,
    "fulfil": _fulfil,
    "settle": _settle,
    "cancel": _cancel,
    "claim": _claim,
    "return": _return,
}


def _changer(desk: _Desk) -> Changer:
    interactive = sys.stdin.isatty() and not getattr(desk.options, "yes", False)
    return Changer(desk.console, dict(os.environ), interactive)


def _ask(desk: _Desk) -> Callable[[str], Awaitable[str]]:
    """A question on the terminal; the end of input is a no."""
    lines = Typed()

    async def ask(question: str) -> str:
        desk.console.write(question)
        try:
            return (await lines.next(asyncio.Event()) or "").strip()
        except Ended:
            return "no"

    return ask
