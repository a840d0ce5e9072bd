"""Dialogs in which a person writes: a changed input, a task's result. Both are read back first."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from adapters.terminal.cards import Sheet, change_lines
from adapters.terminal.channel import Console
from adapters.terminal.editor import Checked, Faulty, check, edit, editor_command, pretty
from core.errors import InvalidInput
from core.tasks import TaskAnswer, read_task_answer
from core.text import show

Ask = Callable[[str], Awaitable[str]]
"""Puts a question and returns one line."""

YES = frozenset({"y", "yes"})
SUBMIT = frozenset({"s", "submit"})


@dataclass(frozen=True, slots=True)
class Changer:
    """Lets a person write.

    Attributes:
        interactive: a person sits there, so there is somebody to read back to and an editor may
            take the screen. A program that gives JSON means it: it is checked, shown, and taken.
    """

    console: Console
    environment: Mapping[str, str]
    interactive: bool

    async def change(self, sheet: Sheet, given: str | None, ask: Ask) -> str | None:
        """A changed input that the tool would take, or None: nothing was changed."""
        before = sheet.call.input
        text = given
        while True:
            if text is None:
                text = await self._write(sheet, ask)
            if not text:
                self.console.note("Nothing was changed. The question is still open.")
                return None
            checked = check(before, text, sheet.schema)
            if isinstance(checked, Checked):
                return await self._confirmed(sheet, checked, ask)
            self._say(checked)
            if not self.interactive:
                return None
            if await ask("Enter: write again · q: give up") != "":
                return None
            text = None if given is not None else await self._again(text)

    async def _again(self, text: str) -> str | None:
        """Open the editor once more on what was written, mistakes and all."""
        command = editor_command(self.environment)
        return None if command is None else await edit(text, command)

    async def _write(self, sheet: Sheet, ask: Ask) -> str | None:
        command = editor_command(self.environment) if self.interactive else None
        try:
            shown = pretty(sheet.call.input, sheet.schema)
        except InvalidInput as error:
            self.console.note(str(error))
            shown = "{}"
        if command is not None:
            return await edit(shown, command)
        self.console.write(shown)
        return await ask("The changed input as JSON on one line. Enter: give up")

    async def _confirmed(self, sheet: Sheet, checked: Checked, ask: Ask) -> str | None:
        if not checked.changes:
            self.console.note("Nothing was changed. To let it run as it is: approve")
            return None
        self.console.show_lines(change_lines(checked.changes, sheet.schema))
        if not self.interactive:
            return checked.raw
        count = len(checked.changes)
        words = f"Approve once with {'this change' if count == 1 else f'these {count} changes'}?"
        if (await ask(f"{words} yes/no")).lower() in YES:
            return checked.raw
        self.console.note("Not changed, not approved. The question is still open.")
        return None

    def _say(self, faulty: Faulty) -> None:
        self.console.note("The changed input does not fit:")
        self.console.write("\n".join(f"  {line}" for line in faulty.lines))

    async def result(self, sheet: Sheet, written: str, ask: Ask, exact: bool) -> TaskAnswer | None:
        """A task's result that was read back and submitted, or None: nothing was submitted.

        `exact`: a program gave the whole result, so there is nobody to read it back to.
        """
        text = written
        while True:
            if not text:
                text = await self._fields(sheet, ask)
            answer = TaskAnswer(text)
            read = read_task_answer(answer, sheet.result_schema)
            if read.faults:
                self.console.note("That does not fit: " + " ".join(read.faults))
            elif exact and not self.interactive:
                return answer
            else:
                self._read_back(read.text)
                if (await ask("submit · fix")).lower() in SUBMIT:
                    return answer
            if not self.interactive:
                self.console.note("Nothing was submitted. The task is still open.")
                return None
            if (await ask("Enter: write again · q: later")) != "":
                self.console.note("Nothing was submitted. The task is still open.")
                return None
            text = ""

    def _read_back(self, text: str) -> None:
        self.console.write("I understood:")
        self.console.write(show(text, limit=len(text) * 12 + 64).plain())

    async def _fields(self, sheet: Sheet, ask: Ask) -> str:
        """One question per field of the result; without fields, one line."""
        properties = (sheet.result_schema or {}).get("properties", {})
        required = (sheet.result_schema or {}).get("required", [])
        if not properties:
            return await ask("What came of it?")
        lines: list[str] = []
        for name, schema in properties.items():
            kind = schema.get("type", "text") if isinstance(schema, dict) else "text"
            words = {"boolean": "true/false", "string": "text"}.get(str(kind), str(kind))
            optional = "" if name in required else ", Enter: leave out"
            given = await ask(f"{name} ({words}{optional})")
            if given:
                lines.append(f"{name}: {given}")
        return "\n".join(lines)
