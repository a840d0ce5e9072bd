"""A conversation at the terminal: messages to an agent, and answers to what its calls ask."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.terminal.cards import Sheet, sheet_of
from adapters.terminal.changing import Changer
from adapters.terminal.channel import Console, TerminalSurface
from adapters.terminal.lines import Ended, Lines
from adapters.terminal.listener import Listener, Outcome, open_calls
from bot.wiring import Keyturn
from core.authority import Standing
from core.calls import ASKED, Call, CallKey, CallState, Reply, ReplyState
from core.ledger.answers import Begun, Full, Queued
from core.messages import TextBlock, ToolResultBlock, user_msg
from core.permissions.rules import PermissionRule
from core.requests import Request
from core.state import AgentState

WATCH_S = 0.2
SETTLE_S = 10.0
WORKERS = 4
_BUSY_HELP = "The agent is at work. stop: end the reply · quit: leave, it goes on at the next start"
_IDLE_HELP = """\
Write a message to the agent. Or:
  /pending  ask again about what you left for later
  /stop     stop the present reply
  /quit     leave; everything open stays open"""


@asynccontextmanager
async def at_work(keyturn: Keyturn, surface: TerminalSurface) -> AsyncGenerator[None]:
    """Workers, deadlines and the outbox, for as long as the block lasts.

    Leaving waits for none of them: whatever one of them held is taken up again by its lease.
    """
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(keyturn.worker(n).run(stop)) for n in range(WORKERS)]
        tasks.append(group.create_task(keyturn.deadlines().run(stop)))
        tasks.append(group.create_task(keyturn.poster({"terminal": surface}).run(stop)))
        try:
            yield
        finally:
            # Both: the store's client can lose a cancellation that comes with an answer.
            stop.set()
            for task in tasks:
                task.cancel()


@dataclass(slots=True)
class Conversation:
    """One session at the terminal.

    Args:
        until_closed: leave as soon as the reply has ended.
    """

    keyturn: Keyturn
    request: Request
    console: Console
    lines: Lines
    environment: dict[str, str]
    until_closed: bool = False
    reply_id: str = ""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _left: set[tuple[CallKey, int]] = field(default_factory=set[tuple[CallKey, int]])
    _told: set[CallKey] = field(default_factory=set[CallKey])
    _seen: object = None

    async def run(self) -> Reply | None:
        """Talk until the person leaves, or the reply has ended; the reply as it then is."""
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(self._watch())
            try:
                await self._talk()
                await self._settle()
            finally:
                watcher.cancel()
        return await self._reply()

    async def send(self, text: str, op: str) -> bool:
        """Give the agent a message. False: its queue is full."""
        said = await self.keyturn.gateway.ask(self.request, user_msg(text), op)
        if isinstance(said, Full):
            self.console.note(f"{said.limit} messages wait already; this one was not taken.")
            return False
        if isinstance(said, Queued):
            self.console.note(f"Your message waits its turn (place {said.place}).")
        assert isinstance(said, Begun | Queued), "asking has three answers"
        self.reply_id = said.reply_id
        return True

    async def _talk(self) -> None:
        while True:
            self._wake.clear()
            question = await self._next_question()
            if question is not None:
                if await self._asked(question) is Outcome.QUIT:
                    return
            elif await self._is_busy():
                if not await self._wait():
                    return
            elif self.until_closed or not await self._message():
                return

    async def _settle(self) -> None:
        """Let what runs come to its end before leaving, within reason: a run that is broken off
        would have to be asked about."""
        left = SETTLE_S
        while left > 0 and (reply := await self._reply()) and reply.state is ReplyState.RUNNING:
            await self.keyturn.clock.sleep(WATCH_S)
            left -= WATCH_S

    async def _asked(self, call: Call) -> Outcome:
        outcome = await self._listener().ask_about(call.key)
        if outcome in (Outcome.LATER, Outcome.ANSWERED):
            self._left.add((call.key, call.revision))
        return outcome

    async def _next_question(self) -> Call | None:
        """The oldest open call that this person may decide and has not put off."""
        for call in await self._open_calls():
            if (call.key, call.revision) in self._left:
                continue
            standing = await self.keyturn.gateway.standing(call.key, self.keyturn.me)
            if standing.standing is Standing.YES:
                return call
            if call.key not in self._told:
                self._told.add(call.key)
                await self._tell(call, standing.reason)
        return None

    async def _open_calls(self) -> list[Call]:
        """What is asked in this reply, oldest first."""
        pending = await self.keyturn.gateway.pending()
        return open_calls([call for call in pending if call.key.reply_id == self.reply_id])

    async def _tell(self, call: Call, why: str) -> None:
        card = await self.keyturn.gallery.card(call)
        if card is not None:
            self.console.show_card(card, await self.keyturn.ledger.now())
            self.console.note(why)

    async def _is_busy(self) -> bool:
        """Whether workers have the reply, or will have it without this person."""
        reply = await self._reply()
        return reply is not None and reply.state not in (ReplyState.CLOSED, ReplyState.PARKED)

    async def _wait(self) -> bool:
        """Wait until something changes; at a terminal, take commands meanwhile. False: leave."""
        if not self.lines.is_terminal:
            await self._wake.wait()
            return True
        try:
            line = await self.lines.next(self._wake)
        except Ended:
            return False
        if line is None or not line.strip():
            return True
        word = line.strip().lower().lstrip("/")
        if word == "stop":
            await self._stop()
        elif word not in ("quit", "q", "exit"):
            self.console.note(_BUSY_HELP)
        return word not in ("quit", "q", "exit")

    async def _message(self) -> bool:
        """Take the next message or command. False: leave."""
        if self.lines.is_terminal:
            self.console.write("you>", "bold")
        try:
            line = await self.lines.next(self._wake)
        except Ended:
            return False
        text = (line or "").strip()
        if text.startswith("/"):
            return await self._command(text)
        if text:
            await self.send(text, f"terminal:{self.keyturn.ids.new()}")
        return True

    async def _command(self, text: str) -> bool:
        word = text.lower()
        if word in ("/quit", "/q", "/exit"):
            return False
        if word == "/pending":
            self._left.clear()
        elif word == "/stop":
            await self._stop()
        else:
            self.console.note(_IDLE_HELP)
        return True

    async def _stop(self) -> None:
        op = f"terminal:{self.keyturn.ids.new()}"
        answered = await self.keyturn.gateway.stop(self.reply_id, self.keyturn.me, op)
        self.console.note(answered.said)

    async def _watch(self) -> None:
        """Wake whoever waits when the ledger shows something else than before."""
        while True:
            now = await self._fingerprint()
            if now != self._seen:
                self._seen = now
                self._wake.set()
            await self.keyturn.clock.sleep(WATCH_S)

    async def _fingerprint(self) -> object:
        reply = await self._reply()
        if reply is None:
            return None
        calls = [(call.key, call.version) for call in reply.present]
        return reply.reply_id, reply.state, reply.turn, tuple(calls)

    async def _reply(self) -> Reply | None:
        return await self.keyturn.ledger.reply(self.reply_id) if self.reply_id else None

    def _listener(self) -> Listener:
        return Listener(
            gateway=self.keyturn.gateway,
            sheets=sheets_of(self.keyturn),
            console=self.console,
            lines=self.lines,
            changer=Changer(self.console, self.environment, self.lines.is_terminal),
            actor=self.keyturn.me,
            ids=self.keyturn.ids,
            wake=self._wake,
        )


def sheets_of(keyturn: Keyturn) -> Callable[[CallKey], Awaitable[Sheet | None]]:
    """How a terminal draws the calls of this Keyturn."""

    async def sheet(key: CallKey) -> Sheet | None:
        call = await keyturn.ledger.call(key)
        reply = await keyturn.ledger.reply(key.reply_id)
        if call is None or reply is None or call.state not in ASKED:
            return None
        return await draw(keyturn, reply, call)

    return sheet


async def draw(keyturn: Keyturn, reply: Reply, call: Call) -> Sheet:
    """The sheet of a call, whatever its state."""
    spec = keyturn.roster.get(Request.load(reply.message).agent)
    tool = spec.tool(call.tool) if spec else None
    offered = call.content.get("suggested_rules", [])
    return sheet_of(
        call,
        keyturn.gallery.view(reply, call),
        await keyturn.ledger.now(),
        [PermissionRule.model_validate(rule) for rule in offered],
        tool.traits.result_schema if tool and call.state is CallState.TASK else None,
    )


async def final_text(keyturn: Keyturn, reply: Reply) -> str:
    """What the agent said last in this reply, from the session's state; empty if that moved on."""
    session = await keyturn.ledger.session(reply.session_id)
    if session is None or session.agent is None or session.agent.reply_id != reply.reply_id:
        return ""
    context = AgentState.model_validate(session.agent.state).context
    if not context or context[-1].role != "assistant":
        return ""
    content = context[-1].content
    results = [n for n, block in enumerate(content) if isinstance(block, ToolResultBlock)]
    after = content[results[-1] + 1 :] if results else content
    return "\n".join(block.text for block in after if isinstance(block, TextBlock))
