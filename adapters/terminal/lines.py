"""Lines from a keyboard, a pipe or a file, one when it is asked for."""

import asyncio
import os
import sys
import termios
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from adapters.terminal.payloads import MAX_LINE

_PIECE = 65536
_MOST_BYTES = 4 * MAX_LINE + 1


class Ended(Exception):
    """No more lines will come."""


class Lines(Protocol):
    """Where answers come from."""

    @property
    def is_terminal(self) -> bool:
        """Whether a person sits there."""
        ...

    async def next(self, wake: asyncio.Event) -> str | None:
        """The next line without its end, or None as soon as `wake` is set.

        Raises:
            Ended: no more lines will come.
        """
        ...

    def forget(self) -> None:
        """Drop what was typed before the present question was shown."""
        ...


def _standard_input() -> int:
    return sys.stdin.fileno()


@dataclass(slots=True)
class Typed:
    """Reads an open file descriptor, and only while somebody waits for a line.

    So an editor or pager can have the keyboard in between, and a wait can be given up without
    losing or misplacing what is typed later.
    """

    descriptor: int = field(default_factory=_standard_input)
    _buffer: bytearray = field(default_factory=bytearray)
    _ended: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether a person sits there."""
        return os.isatty(self.descriptor)

    async def next(self, wake: asyncio.Event) -> str | None:
        """The next line. Of a far too long line only the beginning is kept, still too long to be
        understood; its end never passes for a line of its own."""
        while not self._ended and b"\n" not in self._buffer:
            if not await self._readable(wake):
                return None
            piece = os.read(self.descriptor, _PIECE)
            self._ended = not piece
            self._buffer += piece
            if b"\n" not in self._buffer:
                del self._buffer[_MOST_BYTES:]
        if not self._buffer:
            raise Ended
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        return line.decode(errors="replace").rstrip("\r")

    def forget(self) -> None:
        """At a terminal, drop what was typed ahead: it was not meant for this question."""
        if self.is_terminal:
            self._buffer.clear()
            termios.tcflush(self.descriptor, termios.TCIFLUSH)

    async def _readable(self, wake: asyncio.Event) -> bool:
        """Wait for something to read; False: woken by something else."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()

        def arrived() -> None:
            ready.set()
            wake.set()

        try:
            loop.add_reader(self.descriptor, arrived)
        except PermissionError:
            return True  # a regular file: always readable, and epoll refuses it
        try:
            await wake.wait()
        finally:
            loop.remove_reader(self.descriptor)
        if ready.is_set():
            wake.clear()
        return ready.is_set()


@dataclass(slots=True)
class Written:
    """Lines that were written beforehand."""

    lines: list[str]
    is_terminal: bool = False

    async def next(self, wake: asyncio.Event) -> str | None:
        """The next of them."""
        if not self.lines:
            raise Ended
        return self.lines.pop(0)

    def forget(self) -> None:
        """Keep them: they were meant for questions to come."""


def written(lines: Iterable[str]) -> Written:
    """Lines written beforehand, without empty ones and `#` comments."""
    return Written([line for line in lines if line.strip() and not line.startswith("#")])
