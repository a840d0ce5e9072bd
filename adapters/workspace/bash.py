"""The tool `Bash`: one shell command in the workspace, with a deadline and bounded output."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from adapters.workspace import grounds, process
from adapters.workspace.directory import Directory
from adapters.workspace.process import Command, Ended
from adapters.workspace.sandbox import PATH, Sandbox
from core.errors import SetupRefused, ToolFailed
from core.messages import TextBlock, ToolResultState
from core.tools import Chunk, Input, Run, ToolPermissions, Traits

DEFAULT_TIMEOUT = 120_000
MAX_TIMEOUT = 600_000
"""Milliseconds, as the reference has them."""

MAX_COMMAND = 128 * 1024 - 1
"""Bytes of one argument of a program. Source: Linux, execve(2), MAX_ARG_STRLEN."""

_DESCRIPTION = """\
Run a command with bash in the workspace and return its output.

Each call starts in the workspace directory with a fresh shell: variables and `cd` do not carry \
over. The environment is empty but for PATH and a safety setting of git. Background processes end \
with the call. Output beyond 64 KiB per stream is cut in the middle. Use Read, Write, Edit, Glob \
and Grep for files."""

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "minLength": 1, "description": "The command to run."},
        "description": {
            "type": "string",
            "description": "What the command does, in five to ten words.",
        },
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_TIMEOUT,
            "description": f"Milliseconds until it is stopped; {DEFAULT_TIMEOUT} if not given.",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Bash:
    """Runs shell commands.

    Args:
        directory: the workspace.
        permissions: how shell commands are judged.
        sandbox: how they are confined.
    """

    directory: Directory
    permissions: ToolPermissions
    sandbox: Sandbox = field(default_factory=Sandbox)
    name: str = "Bash"
    description: str = _DESCRIPTION
    input_schema: Mapping[str, Any] = field(default_factory=lambda: _SCHEMA)
    traits: Traits = field(
        default_factory=lambda: Traits(concurrency_safe=False, title="Run {command}")
    )

    def context(self, value: Input) -> Mapping[str, str]:
        """What the effect depends on besides the command: directory, programs, environment."""
        command = value.get("command")
        text = command if isinstance(command, str) else ""
        return grounds.of_command(text, self.directory.root, self.sandbox.environment())

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        """Run the command; the result is an error unless it exits with 0.

        The last chunk's metadata holds `exit_code`, `stopped` ("timeout", "flood" or null) and
        `cut`, the bytes left out by stream.

        Raises:
            ToolFailed: the command can't be handed to a shell, or no shell could be started.
        """
        command = await asyncio.to_thread(self._command, value)
        silent = True
        try:
            async with aclosing(process.run(command)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Ended):
                        yield _result(piece, command.timeout, silent=silent)
                    else:
                        silent = False
                        yield Chunk((TextBlock(text=piece),))
        except SetupRefused as error:
            raise ToolFailed(str(error)) from error

    def _command(self, value: Input) -> Command:
        text: str = value["command"]
        try:
            size = len(text.encode())
        except UnicodeError as error:
            raise ToolFailed("The command holds half a character (a lone surrogate).") from error
        if "\0" in text or size > MAX_COMMAND:
            raise ToolFailed(f"A command may have {MAX_COMMAND} bytes and no NUL character.")
        shell = shutil.which("bash", path=PATH)
        if shell is None:
            raise ToolFailed("bash is not installed on this machine.")
        # The dashes end bash's own options: a command that begins with "-" stays a command.
        argv: tuple[str, ...] = (shell, "--norc", "--noprofile", "-c", "--", text)
        try:
            argv = self.sandbox.wrap(self.directory, argv)
        except SetupRefused as error:
            raise ToolFailed(str(error)) from error
        return Command(
            argv=argv,
            env=self.sandbox.environment(),
            cwd=self.directory.root,
            timeout=value.get("timeout", DEFAULT_TIMEOUT) / 1000,
            wrapped=self.sandbox.kind == "bubblewrap",
        )


def _result(ended: Ended, timeout: float, *, silent: bool) -> Chunk:
    if ended.stopped == "timeout":
        note = f"[stopped: it ran longer than {timeout:g} s]"
    elif ended.stopped == "flood":
        note = f"[stopped: it wrote more than {process.FLOOD // 1024**2} MiB]"
    elif ended.exit_code:
        note = f"[{_exit(ended.exit_code)}]"
    else:
        note = "[no output]" if silent else ""
    well = ended.stopped is None and ended.exit_code == 0
    lead = "" if silent or not note else "\n"
    return Chunk(
        content=(TextBlock(text=lead + note),) if note else (),
        state=ToolResultState.SUCCESS if well else ToolResultState.ERROR,
        metadata={
            "exit_code": ended.exit_code,
            "stopped": ended.stopped,
            "cut": dict(ended.cut),
        },
    )


def _exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
