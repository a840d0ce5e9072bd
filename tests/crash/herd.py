"""The gateway processes: a few that live at any time, and a new one for each that died.

They are started from a server process that has everything imported, and each is a process of its
own: what a SIGKILL leaves of one is what it leaves of any gateway.
"""

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.crash.fate import POINTS, Fate, Reaper, Victim
from tests.crash.gateway import Orders, main

SIZE = 3
ANSWER_S = 8.0
_VICTIMS: tuple[Victim, ...] = ("gateway", "gateway", "gateway", "gateway", "server", "both")
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.crash.gateway"])


@dataclass(slots=True)
class Herd:
    """Gateways that come and go.

    Attributes:
        points: where they may die.
        calm: from now on new ones have no fate.
    """

    folder: Path
    dice: random.Random
    points: tuple[str, ...] = POINTS
    fault: str = ""
    calm: bool = False
    started: int = 0
    crashed: list[str] = field(default_factory=list[str])
    _living: dict[str, BaseProcess] = field(default_factory=dict[str, BaseProcess])

    def tend(self) -> None:
        """Bury the dead, and start others in their place."""
        for name, process in list(self._living.items()):
            if process.is_alive():
                continue
            if process.exitcode not in (-9, 0):
                self.crashed.append(f"gateway {name} ended by itself with {process.exitcode}")
            process.join()
            process.close()
            del self._living[name]
            (self.folder / f"{name}.sock").unlink(missing_ok=True)
        while len(self._living) < SIZE:
            self._start()

    def _start(self) -> None:
        self.started += 1
        told = Orders(self.folder, f"g{self.started}", self._fate(), self.fault)
        process = _FORKS.Process(target=main, args=(told,), daemon=True)
        process.start()
        self._living[told.name] = process

    def _fate(self) -> Fate:
        if self.calm or self.dice.random() < 0.2:
            return Fate()
        point = self.dice.choice(self.points)
        return Fate(point, self.dice.randint(1, 6), self.dice.choice(_VICTIMS))

    def strike(self, reaper: Reaper) -> None:
        """Kill one of them, the server, or both, whatever they do right now."""
        process = self.dice.choice(list(self._living.values()))
        if process.is_alive() and process.pid is not None:
            reaper.strike(self.dice.choice(_VICTIMS), "any time", process.pid)

    def end(self) -> None:
        """Kill them all."""
        for process in self._living.values():
            process.kill()
            process.join()
            process.close()
        self._living.clear()

    async def tell(self, act: dict[str, Any]) -> dict[str, Any] | None:
        """What one of them answers; None: it died over it, or nobody can take it now."""
        name = self.dice.choice(list(self._living) or [""])
        with suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await asyncio.open_unix_connection(self.folder / f"{name}.sock")
                try:
                    writer.write(json.dumps(act).encode() + b"\n")
                    said: dict[str, Any] = json.loads(await reader.readline())
                    return said
                finally:
                    writer.close()
        return None

    async def insist(self, act: dict[str, Any]) -> dict[str, Any]:
        """The same act again, until somebody answers it."""
        while True:
            said = await self.tell(act)
            if said is not None and said.get("error") != "StoreUnavailable":
                return said
            await asyncio.sleep(0.05 + self.dice.random() / 5)
