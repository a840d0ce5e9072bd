"""A child process with a deadline, bounded output, and an end that takes its children along."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adapters.workspace.capture import Capture
from core.errors import SetupRefused

GRACE = 2.0
"""Seconds between asking a process to end (TERM) and ending it (KILL)."""

FLOOD = 64 * 1024 * 1024
"""Bytes of output after which a process is stopped: it only burns time by then."""

Stopped = Literal["timeout", "flood"]


@dataclass(frozen=True, slots=True)
class Command:
    """What to start.

    Attributes:
        argv: the program by its full path and its arguments.
        env: its whole environment.
        cwd: where it starts.
        timeout: seconds until it is stopped.
        stdin: what it can read; it sees the end of input after that.
        wrapped: the process we start only watches the real one (a sandbox): TERM passes it by,
            so that the real one has its grace.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    timeout: float
    stdin: bytes = b""
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        exit_code: negative: the number of the signal that ended it.
        stopped: why we stopped it, if we did.
        cut: bytes left out, by stream.
    """

    exit_code: int
    stopped: Stopped | None = None
    cut: Mapping[str, int] = field(default_factory=dict[str, int])


async def run(command: Command) -> AsyncGenerator[str | Ended]:
    """Run a command: its output as it comes, both streams as a terminal shows them, then the end.

    Whatever still runs of it when the iterator is closed is stopped.

    Raises:
        SetupRefused: the program could not be started.
    """
    loop = asyncio.get_running_loop()
    try:
        _, watch = await loop.subprocess_exec(
            lambda: _Watch(loop, command),
            *command.argv,
            stdin=asyncio.subprocess.PIPE if command.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(command.env),
            cwd=command.cwd,
            start_new_session=True,
        )
    except OSError as error:
        name = Path(command.argv[0]).name
        raise SetupRefused(f"{name} could not be started: {error.strerror}.") from error
    try:
        while (piece := await watch.pieces.get()) is not None:
            yield piece
        for capture in watch.captures.values():
            rest, _ = watch.finish(capture)
            if rest:
                yield rest
        yield watch.ended()
    finally:
        try:
            await watch.end()
        finally:
            watch.close()


class _Watch(asyncio.SubprocessProtocol):
    """Watches one process. Deadlines are the loop's own timers, so a slow reader delays none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, command: Command) -> None:
        self.pieces = asyncio.Queue[str | None]()
        self.captures = {1: Capture("standard output"), 2: Capture("standard error")}
        self._cut: dict[str, int] = {}
        self._loop = loop
        self._command = command
        self._open = {1, 2}
        self._stopped: Stopped | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._over = asyncio.Event()
        self._exit: int | None = None
        self._pid = 0
        self._stopping = False
        self._descendants = _Descendants()
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self._pid = transport.get_pid()
        self._timers.append(
            self._loop.call_later(self._command.timeout, lambda: self.stop("timeout"))
        )
        if self._command.stdin:
            stdin = transport.get_pipe_transport(0)
            assert isinstance(stdin, asyncio.WriteTransport)
            stdin.write(self._command.stdin)
            stdin.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """A stream grew."""
        capture = self.captures[fd]
        text = capture.feed(data)
        if text:
            self.pieces.put_nowait(text)
        if capture.total > FLOOD:
            self.stop("flood")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A stream ended."""
        self._open.discard(fd)
        self._check_over()

    def process_exited(self) -> None:
        """The process ended; what it left behind ends with it."""
        assert self._transport is not None
        self._exit = self._transport.get_returncode()
        if not self._stopping:
            self.kill()
        self._timers.append(self._loop.call_later(GRACE, self._give_up_streams))
        self._check_over()

    def stop(self, why: Stopped | None) -> None:
        """Ask it to end, and end it after the grace."""
        if self._exit is not None or self._stopping:
            return
        self._stopped = why
        self._stopping = True
        self._descendants = _Descendants.of(self._pid)
        self._descendants.signal(signal.SIGTERM)
        if not self._command.wrapped:
            _signal_group(self._pid, signal.SIGTERM)
        self._timers.append(self._loop.call_later(GRACE, self.kill))

    async def end(self) -> None:
        """Stop it if it still runs, and wait until it is gone."""
        if self._over.is_set():
            return
        self.stop(self._stopped)
        try:
            async with asyncio.timeout(2 * GRACE):
                await self._over.wait()
        except TimeoutError:
            self.kill()
        except asyncio.CancelledError:
            self.kill()
            raise

    def kill(self) -> None:
        """End it, its group and those of its descendants that were asked to end, at once."""
        self._descendants.signal(signal.SIGKILL)
        _signal_group(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Let go of what is held open."""
        self._descendants.close()
        if self._transport is not None:
            self._transport.close()

    def finish(self, capture: Capture) -> tuple[str, int]:
        """The kept end of a stream; notes what was cut."""
        rest, cut = capture.finish()
        if cut:
            self._cut[capture.name] = cut
        return rest, cut

    def ended(self) -> Ended:
        """How it ended; -9 if even KILL was not answered in time."""
        code = -signal.SIGKILL if self._exit is None else self._exit
        return Ended(code, self._stopped, self._cut)

    def _give_up_streams(self) -> None:
        """Somebody who escaped the group still holds a stream open; that is not ours to await."""
        self._open.clear()
        self._check_over()

    def _check_over(self) -> None:
        if self._exit is None or self._open:
            return
        for timer in self._timers:
            timer.cancel()
        if not self._over.is_set():
            self.kill()
            self._over.set()
            self.pieces.put_nowait(None)


@dataclass(frozen=True, slots=True)
class _Descendants:
    """Handles of all children of a process and theirs, as long as /proc shows them (Linux).

    Handles, not numbers: a number may belong to somebody else by the time it is used.
    """

    handles: tuple[int, ...] = ()

    @classmethod
    def of(cls, pid: int) -> "_Descendants":
        """The descendants that a process has now."""
        handles: list[int] = []
        todo = [pid] if sys.platform == "linux" else []
        while todo:
            for task in _threads(todo.pop()):
                with suppress(OSError):
                    children = [int(child) for child in (task / "children").read_text().split()]
                    todo += children
                    handles += [os.pidfd_open(child) for child in children]
        return cls(tuple(handles))

    def signal(self, number: int) -> None:
        """Send all of them a signal."""
        for handle in self.handles:
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, number)

    def close(self) -> None:
        """Give the handles back."""
        for handle in self.handles:
            os.close(handle)


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
