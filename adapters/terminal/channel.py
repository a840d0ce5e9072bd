"""What goes to the terminal: cards, notes, and what a reply is doing. Output of the terminal.

Every line passes `safe`, whoever wrote it, and colour is added behind that.
"""

import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from adapters.terminal.cards import Line, Sheet, card_lines, state_line
from adapters.terminal.colours import Palette, palette_for
from adapters.terminal.payloads import Said
from adapters.terminal.safe import MAX_WIDTH, MIN_WIDTH, printable, wrap
from core.cards import Card
from core.events import (
    AgentEvent,
    ReplyEndEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultEndEvent,
    ToolResultTextDeltaEvent,
)
from core.ledger import CardKey
from core.messages import ReplyFinishedReason, ToolResultState
from core.ports import Clock
from core.text import one_line

SHOWN_INPUT = 110
SHOWN_RESULT_LINES = 6
_GLYPHS = {
    ToolResultState.SUCCESS: "✔ done",
    ToolResultState.ERROR: "✖ failed",
    ToolResultState.DENIED: "⛔ not run",
    ToolResultState.INTERRUPTED: "■ interrupted",
    ToolResultState.RUNNING: "▶ running",
}
_ENDINGS = {
    ReplyFinishedReason.COMPLETED: "",
    ReplyFinishedReason.INTERRUPTED: "The reply was stopped.",
    ReplyFinishedReason.EXCEED_MAX_ITERS: "The agent used up its turns.",
    ReplyFinishedReason.ERROR: "The reply failed.",
}


@dataclass(slots=True)
class Console:
    """Writes to one stream."""

    stream: TextIO
    palette: Palette = field(default_factory=Palette)
    fixed_width: int | None = None

    @property
    def width(self) -> int:
        """Columns to write in."""
        if self.fixed_width is not None:
            return self.fixed_width
        return min(max(shutil.get_terminal_size((100, 24)).columns - 1, MIN_WIDTH), MAX_WIDTH)

    def write(self, text: str, colour: str = "") -> None:
        """Write paragraphs, wrapped."""
        for line in wrap(text, self.width):
            painted = self.palette.paint(line, colour) if colour else line
            self.stream.write(f"{painted}\n")
        self.stream.flush()

    def note(self, text: str) -> None:
        """Write our own words to the person."""
        for index, line in enumerate(wrap(text, self.width - 2)):
            lead = "» " if index == 0 else "  "
            self.stream.write(self.palette.paint(f"{lead}{line}", "cyan") + "\n")
        self.stream.flush()

    def show_sheet(self, sheet: Sheet) -> None:
        """Write the card of a sheet."""
        self._card(sheet.lines)

    def show_card(self, card: Card, now: int) -> None:
        """Write a card."""
        self._card(card_lines(card, now))

    def _card(self, lines: Iterable[Line]) -> None:
        self.stream.write("\n")
        self.show_lines(lines)

    def show_lines(self, lines: Iterable[Line]) -> None:
        """Write lines that were made for a card."""
        for line in lines:
            for piece in wrap(line.text, self.width, line.indent):
                self.stream.write(self.palette.paint(piece, line.colour) + "\n")
        self.stream.flush()

    def echo(self, said: Said, *, typed: bool = False) -> None:
        """Write an answer that nobody typed, so that the story can be read."""
        if not typed:
            rest = f" {said.text or said.input or ''}".rstrip()
            self.write(f"> {said.word.value}{rest}", "bold")


def console_for(stream: TextIO, environment: Mapping[str, str]) -> Console:
    """A console with colour if the stream is a terminal that wants it."""
    return Console(stream, palette_for(stream, environment))


def standard_console(environment: Mapping[str, str]) -> Console:
    """The console on standard output."""
    return console_for(sys.stdout, environment)


@dataclass(slots=True)
class TerminalSurface:
    """The surface that the outbox posts to: one line for each new state of a card.

    The card itself is shown when it is asked about (`listener`), so a post with `in_full` off says
    only that there is one.
    """

    console: Console
    clock: Clock
    in_full: bool = False
    _last: dict[CardKey, str] = field(default_factory=dict[CardKey, str])

    async def find(self, card: CardKey) -> tuple[str, ...]:
        """Nothing: what scrolled away can't be found, so it is shown again."""
        return ()

    async def post(self, card: CardKey, view: Card) -> str:
        """Show a new card."""
        self._last[card] = state_line(view)
        if self.in_full:
            now = int(self.clock.now().timestamp() * 1000)
            self.console.show_card(view, now)
        return f"{card.channel}#{view.code}"

    async def edit(self, card: CardKey, message: str, view: Card) -> None:
        """Say what became of it, once for each state."""
        line = state_line(view)
        if self._last.get(card) != line:
            self._last[card] = line
            self.console.write(line, "bold")

    async def notice(self, card: CardKey, kind: str, view: Card) -> None:
        """Remind."""
        words = {"remind": "Still waiting", "escalate": "Others may decide now too"}
        self.console.note(f"{words.get(kind, kind)}: {view.title} ({view.code})")


@dataclass(slots=True)
class _Running:
    """A call of the present turn."""

    name: str
    input: str = ""
    output: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Activity:
    """Turns the events of a reply into readable lines.

    Text is written as soon as a line of it is complete; a call when its input is, and again when
    it has ended, with the beginning of its result.
    """

    console: Console
    _text: dict[str, str] = field(default_factory=dict[str, str])
    _calls: dict[str, _Running] = field(default_factory=dict[str, _Running])

    def on(self, event: AgentEvent) -> None:
        """Write what this event adds."""
        match event:
            case TextBlockDeltaEvent():
                self._grow(event.block_id, event.delta)
            case TextBlockEndEvent():
                self._flush(event.block_id)
            case ReplyEndEvent():
                self._over(event)
            case _:
                self._on_call(event)

    def _on_call(self, event: AgentEvent) -> None:
        match event:
            case ToolCallStartEvent():
                self._calls[event.tool_call_id] = _Running(event.tool_call_name)
            case ToolCallDeltaEvent() if event.tool_call_id in self._calls:
                self._calls[event.tool_call_id].input += event.delta
            case ToolCallEndEvent() if event.tool_call_id in self._calls:
                self._wanted(self._calls[event.tool_call_id])
            case ToolResultTextDeltaEvent() if event.tool_call_id in self._calls:
                self._calls[event.tool_call_id].output.append(event.delta)
            case ToolResultEndEvent():
                self._ended(event)
            case _:
                pass

    def _grow(self, block: str, delta: str) -> None:
        *complete, rest = (self._text.get(block, "") + delta).split("\n")
        self._text[block] = rest
        for line in complete:
            self.console.write(line)

    def _flush(self, block: str) -> None:
        if rest := self._text.pop(block, ""):
            self.console.write(rest)

    def _wanted(self, call: _Running) -> None:
        self.console.write(
            f"▸ {one_line(call.name)} {one_line(call.input, limit=SHOWN_INPUT)}", "dim"
        )

    def _ended(self, event: ToolResultEndEvent) -> None:
        call = self._calls.pop(event.tool_call_id, None)
        name = one_line(call.name) if call else "call"
        self.console.write(f"  {_GLYPHS[event.state]}: {name}", "dim")
        lines = "".join(call.output).splitlines() if call else []
        for line in lines[:SHOWN_RESULT_LINES]:
            self.console.write(f"    {printable(line)}", "dim")
        if len(lines) > SHOWN_RESULT_LINES:
            self.console.write(f"    … {len(lines) - SHOWN_RESULT_LINES} more lines", "dim")

    def _over(self, event: ReplyEndEvent) -> None:
        words = _ENDINGS[event.finished_reason]
        if words:
            why = f" {one_line(event.error.message)}" if event.error else ""
            self.console.note(words + why)
