"""A person at a terminal in an office: what the listener's tests are told with."""

import asyncio
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adapters.memory.ledger import MemoryLedger
from adapters.models.scripted import Call, Say
from adapters.terminal.cards import Sheet, sheet_of
from adapters.terminal.changing import Changer
from adapters.terminal.channel import Console
from adapters.terminal.lines import Ended
from adapters.terminal.listener import Listener, Outcome
from core.calls import ASKED, Actor, CallKey, CallState
from core.functions import tool
from core.permissions.rules import PermissionRule
from core.policy import Gate, Gates, Policy
from core.tools import Risk, Tool
from tests.stories.office import ANA, CountedIds, Office, OpenOffice, PatientClock


@dataclass
class Typist:
    """Types the given lines, one for each question; a callable acts first and types its answer."""

    lines: list[str | Callable[[], str]]
    is_terminal: bool = True
    forgotten: int = 0

    async def next(self, wake: asyncio.Event) -> str | None:
        if not self.lines:
            raise Ended
        line = self.lines.pop(0)
        return line if isinstance(line, str) else line()

    def forget(self) -> None:
        self.forgotten += 1


@dataclass
class Desk:
    """One person, one terminal, one office."""

    office: Office
    person: Actor = ANA
    stream: io.StringIO = field(default_factory=io.StringIO)
    environment: dict[str, str] = field(default_factory=lambda: {"EDITOR": "false"})

    @property
    def screen(self) -> str:
        return self.stream.getvalue()

    async def sheet(self, key: CallKey) -> Sheet | None:
        call = await self.office.ledger.call(key)
        reply = await self.office.ledger.reply(key.reply_id)
        if call is None or reply is None or call.state not in ASKED:
            return None
        made = self.office.spec.tool(call.tool)
        return sheet_of(
            call,
            self.office.gallery.view(reply, call),
            await self.office.ledger.now(),
            [PermissionRule.model_validate(rule) for rule in call.content["suggested_rules"]],
            made.traits.result_schema if made and call.state is CallState.TASK else None,
        )

    async def answer(self, *lines: str | Callable[[], str], typed: bool = True) -> Outcome:
        """Ask the person about the one open call; then let the office work."""
        typist = Typist(list(lines), is_terminal=typed)
        console = Console(self.stream, fixed_width=96)
        listener = Listener(
            gateway=self.office.gateway,
            sheets=self.sheet,
            console=console,
            lines=typist,
            changer=Changer(console, self.environment, typed),
            actor=self.person,
            ids=self.office.ids,
        )
        outcome = await listener.ask_about((await self.office.asked()).key)
        await self.office.settle()
        return outcome


def desk(tools: list[Tool], call: Call, *, risk: Risk | None = None) -> Desk:
    """A desk in a new office whose agent makes one call."""
    clock, ids = PatientClock(), CountedIds()
    policy = Policy(Gates(Gate("default", "sre", risk=risk)), revision=1)
    opened = OpenOffice(MemoryLedger(clock, ids), clock, ids)
    return Desk(opened([[Say("I will."), call], [Say("All done.")]], tools, policy))


class Mailer:
    """A tool that leaves traces."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

        @tool(title="Write to {to}", destination=("to",))
        def mail(to: str, text: str = "", copies: int = 0, password: str = "") -> str:
            """Write to somebody."""
            self.sent.append({"to": to, "text": text, "copies": copies, "password": password})
            return "sent"

        self.mail = mail
