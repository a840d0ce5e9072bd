"""How a process of the campaign dies: at a named point, by its own hand, with SIGKILL."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adapters.redis.embedded import EmbeddedServer

Victim = Literal["gateway", "server", "both"]
STEPS = (
    "Accept",
    "Claim",
    "WriteTurn",
    "Start",
    "Finish",
    "Release",
    "Complete",
    "Approve",
    "Reject",
    "Modify",
    "Fulfil",
    "Fire",
    "Renew",
    "Shown",
    "orders",
    "effect",
    "post",
    "edit",
    "ack",
)
POINTS = tuple(f"{when}:{step}" for step in STEPS for when in ("before", "after"))
"""Before and after each step that a gateway takes: of the ledger, the tools, the board, the answer
to a person."""


@dataclass(slots=True)
class Fate:
    """Strikes when `point` is reached for the `left`-th time; an empty point never does."""

    point: str = ""
    left: int = 1
    victim: Victim = "gateway"


@dataclass(frozen=True, slots=True)
class Reaper:
    """Kills, and keeps a list of it that outlives whoever was killed."""

    folder: Path

    @property
    def server(self) -> EmbeddedServer:
        """The store of the campaign."""
        return EmbeddedServer(self.folder / "data")

    def reach(self, point: str, fate: Fate) -> None:
        """A gateway has come to a named point."""
        if point != fate.point:
            return
        fate.left -= 1
        if fate.left == 0:
            self.strike(fate.victim, point, os.getpid())

    def strike(self, victim: Victim, where: str, gateway: int) -> None:
        """Kill now."""
        server = None if victim == "gateway" else self.server.pid()
        if victim == "server" and server is None:
            return
        append(self.folder / "kills", f"{victim} {where}\n")
        for pid in (server, None if victim == "server" else gateway):
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def kills(self) -> list[tuple[str, str]]:
        """Who was killed, and where, so far."""
        with suppress(FileNotFoundError):
            lines = (self.folder / "kills").read_text().splitlines()
            return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]
        return []


def append(file: Path, line: str) -> None:
    """Add a line that is on the disk when this returns."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
