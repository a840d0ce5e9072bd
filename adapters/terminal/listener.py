"""Asks a person at the terminal about one call after another, and hands the answers to the gateway.

What a line means is read in `payloads`; who may decide, and whether an answer still counts, is the
gateway's to say. Nothing here approves by itself: no line, a line that is not understood, the end
of input and every failure leave the call as it is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from adapters.terminal.cards import Sheet
from adapters.terminal.changing import Changer
from adapters.terminal.channel import Console
from adapters.terminal.lines import Ended, Lines
from adapters.terminal.payloads import NotUnderstood, Said, Word, read_line
from core import words
from core.calls import Actor, Call, CallKey
from core.digest import retyped
from core.permissions.rules import PermissionRule
from core.ports import Ids
from core.private_answers import Answered
from core.tasks import TaskAnswer

YES = frozenset({"y", "yes"})


class Outcome(StrEnum):
    """What came of asking about one call."""

    ANSWERED = "answered"
    LATER = "later"
    MOVED = "moved"
    """It changed while it was asked about; look again."""
    QUIT = "quit"


class Decisions(Protocol):
    """The part of the gateway that answers go to."""

    async def approve(
        self,
        key: CallKey,
        revision: int,
        actor: Actor,
        op: str,
        rules: Sequence[PermissionRule] = (),
    ) -> Answered:
        """Approve for one run."""
        ...

    async def reject(
        self, key: CallKey, revision: int, actor: Actor, op: str, reason: str = ""
    ) -> Answered:
        """Reject."""
        ...

    async def modify(
        self, key: CallKey, revision: int, actor: Actor, op: str, new_input: str
    ) -> Answered:
        """Change the input and approve it so."""
        ...

    async def allow_always(self, key: CallKey, actor: Actor, rule: PermissionRule) -> Answered:
        """Put an offered rule on the requester's allowlist."""
        ...

    async def fulfil(self, key: CallKey, actor: Actor, op: str, answer: TaskAnswer) -> Answered:
        """Give the result of a task."""
        ...

    async def claim_task(self, key: CallKey, actor: Actor, op: str) -> Answered:
        """Take a task on."""
        ...

    async def return_task(self, key: CallKey, actor: Actor, op: str) -> Answered:
        """Hand a task back."""
        ...

    async def cancel(self, key: CallKey, actor: Actor, op: str, reason: str = "") -> Answered:
        """Withdraw a call."""
        ...

    async def stop(self, reply_id: str, actor: Actor, op: str) -> Answered:
        """End a reply."""
        ...


Sheets = Callable[[CallKey], Awaitable[Sheet | None]]
"""The present card of a call as terminal text, or None if nothing is asked any more."""


@dataclass(slots=True)
class Listener:
    """Asks `actor` about calls.

    Args:
        wake: set by whoever changes what is asked, so that a wait for a line ends.
    """

    gateway: Decisions
    sheets: Sheets
    console: Console
    lines: Lines
    changer: Changer
    actor: Actor
    ids: Ids
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    _early: list[Said] = field(default_factory=list[Said])

    async def ask_about(self, key: CallKey) -> Outcome:
        """Show the call, and take answers until one counts or the person moves on."""
        sheet = await self.sheets(key)
        if sheet is None:
            return Outcome.MOVED
        self.lines.forget()
        self.console.show_sheet(sheet)
        while True:
            self.console.write(sheet.prompt)
            try:
                said = await self._said(sheet)
            except Ended:
                self.console.note("No more answers. What is open stays open: keyturn pending")
                return Outcome.QUIT
            if said is None:
                if await self._moved(sheet):
                    return Outcome.MOVED
                continue
            if outcome := await self._act(sheet, said):
                return outcome
            if await self._moved(sheet):
                return Outcome.MOVED

    async def _said(self, sheet: Sheet) -> Said | None:
        """The next answer to this question; None: woken, or a line that answers nothing."""
        early = next((said for said in self._early if _is_about(said, sheet)), None)
        if early is not None:
            self._early.remove(early)
            self.console.echo(early)
            return early
        line = await self.lines.next(self.wake)
        if line is None:
            return None
        read = read_line(line)
        if isinstance(read, NotUnderstood):
            self.console.note(read.why)
            return None
        self.console.echo(read, typed=self.lines.is_terminal)
        if not _is_about(read, sheet):
            self._early.append(read)
            self.console.note("Kept for the call it names; this question is still open.")
            return None
        return read

    async def _moved(self, sheet: Sheet) -> bool:
        """Whether the question on this sheet is no longer the one that is asked."""
        self.wake.clear()
        now = await self.sheets(sheet.call.key)
        return now is None or (now.call.revision, now.call.state) != (
            sheet.call.revision,
            sheet.call.state,
        )

    async def _act(self, sheet: Sheet, said: Said) -> Outcome | None:
        """Do what was said; None: ask on."""
        if said.word is Word.LATER:
            return Outcome.LATER
        if said.word is Word.QUIT:
            return Outcome.QUIT
        if said.word is Word.HELP:
            self.console.write(sheet.help)
            return None
        if said.word is not Word.STOP and said.word not in sheet.words:
            self.console.note(f"{said.word.value} does not fit here. {sheet.prompt}")
            return None
        return await self._decide(sheet, said)

    async def _decide(self, sheet: Sheet, said: Said) -> Outcome | None:
        actions: dict[Word, Callable[[Sheet, Said], Awaitable[Outcome | None]]] = {
            Word.APPROVE: self._approve,
            Word.AGAIN: self._approve,
            Word.REVIEW: self._review,
            Word.MODIFY: self._modify,
            Word.REJECT: self._reject,
            Word.ABANDON: self._reject,
            Word.ALWAYS: self._always,
            Word.CLAIM: self._claim,
            Word.RETURN: self._return,
            Word.FULFIL: self._fulfil,
            Word.DONE: self._fulfil,
            Word.CANCEL: self._cancel,
            Word.STOP: self._stop,
        }
        return await actions[said.word](sheet, said)

    async def _approve(self, sheet: Sheet, said: Said) -> Outcome | None:
        if sheet.review and not said.reviewed:
            self.console.note(f"{words.REVIEW_FIRST.split('. ')[0]}. Say: review")
            return None
        # Who names the call by its code has typed the code.
        if sheet.retype and not said.call and not await self._retyped(sheet, "High risk."):
            return None
        return await self._approved(sheet)

    async def _retyped(self, sheet: Sheet, why: str) -> bool:
        """Whether the person retypes the code of this call."""
        typed = await self._line(f"{why} Retype the first 4 digits of #{sheet.code} to approve")
        if retyped(sheet.call.digest, typed):
            return True
        self.console.note("That is not the code. Not approved; the question is still open.")
        return False

    async def _approved(self, sheet: Sheet) -> Outcome | None:
        call = sheet.call
        answered = await self.gateway.approve(call.key, call.revision, self.actor, self._op())
        return self._told(answered)

    async def _review(self, sheet: Sheet, _said: Said) -> Outcome | None:
        """Every page in turn; only the last one can be approved."""
        for number, page in enumerate(sheet.pages, start=1):
            self.console.write(page)
            if number < len(sheet.pages):
                words = f"Page {number} of {len(sheet.pages)}. Enter: next page · q: back"
                if await self._line(words) != "":
                    return None
        if sheet.retype:
            sure = await self._retyped(sheet, "You have read all of it.")
        else:
            typed = await self._line("You have read all of it. Approve once? yes/no")
            sure = typed.lower() in YES
            if not sure:
                self.console.note("Not approved. The question is still open.")
        return await self._approved(sheet) if sure else None

    async def _reject(self, sheet: Sheet, said: Said) -> Outcome | None:
        reason = said.text
        if not reason and self.lines.is_terminal:
            reason = await self._line("Why? The agent is told. Enter: no reason")
        call = sheet.call
        return self._told(
            await self.gateway.reject(call.key, call.revision, self.actor, self._op(), reason)
        )

    async def _modify(self, sheet: Sheet, said: Said) -> Outcome | None:
        changed = await self.changer.change(sheet, said.input, self._line)
        if changed is None:
            return None
        call = sheet.call
        answered = await self.gateway.modify(
            call.key, call.revision, self.actor, self._op(), changed
        )
        return self._told(answered)

    async def _always(self, sheet: Sheet, said: Said) -> Outcome | None:
        """Only what was named by number is accepted; this call is still asked about."""
        if not said.rules:
            self.console.write(sheet.offers)
            return None
        chosen = [sheet.rules[n - 1] for n in said.rules if 0 < n <= len(sheet.rules)]
        if len(chosen) != len(said.rules):
            self.console.note(f"There are {len(sheet.rules)} rules to choose from.")
            return None
        for rule in chosen:
            answered = await self.gateway.allow_always(sheet.call.key, self.actor, rule)
            self.console.note(answered.said)
        return None

    async def _claim(self, sheet: Sheet, _said: Said) -> Outcome | None:
        answered = await self.gateway.claim_task(sheet.call.key, self.actor, self._op())
        self.console.note(answered.said)
        return None

    async def _return(self, sheet: Sheet, _said: Said) -> Outcome | None:
        answered = await self.gateway.return_task(sheet.call.key, self.actor, self._op())
        return self._told(answered, Outcome.LATER)

    async def _fulfil(self, sheet: Sheet, said: Said) -> Outcome | None:
        """Read the answer back; only Submit gives it."""
        written = said.input or said.text
        answer = await self.changer.result(sheet, written, self._line, bool(said.input))
        if answer is None:
            return None
        return self._told(await self.gateway.fulfil(sheet.call.key, self.actor, self._op(), answer))

    async def _cancel(self, sheet: Sheet, said: Said) -> Outcome | None:
        answered = await self.gateway.cancel(sheet.call.key, self.actor, self._op(), said.text)
        return self._told(answered)

    async def _stop(self, sheet: Sheet, _said: Said) -> Outcome | None:
        answered = await self.gateway.stop(sheet.call.key.reply_id, self.actor, self._op())
        return self._told(answered)

    def _told(self, answered: Answered, outcome: Outcome = Outcome.ANSWERED) -> Outcome | None:
        self.console.note(answered.said)
        return outcome if answered.ok else None

    async def _line(self, question: str) -> str:
        """One plain line in the middle of a dialog. The end of input counts as a refusal."""
        self.console.write(question)
        while True:
            try:
                line = await self.lines.next(self.wake)
            except Ended:
                return "no"
            if line is not None:
                return line.strip()
            self.wake.clear()

    def _op(self) -> str:
        return f"terminal:{self.ids.new()}"


def _is_about(said: Said, sheet: Sheet) -> bool:
    """Whether an answer that names a call or a tool names this one."""
    if said.call:
        return sheet.call.digest.startswith(said.call)
    return not said.tool or said.tool == sheet.call.tool


def open_calls(calls: Sequence[Call]) -> list[Call]:
    """In the order in which they are asked: oldest first, then as the model wrote them."""
    return sorted(calls, key=_order)


def _order(call: Call) -> tuple[int, int]:
    return call.asked_at or 0, call.position
