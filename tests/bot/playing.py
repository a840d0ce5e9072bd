"""Playing `keyturn` as a person would: a real process, its output, answers one at a time."""

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


def environment() -> dict[str, str]:
    """What the process is given: nothing of the developer's own set-up."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "EDITOR": "false"}


def keyturn(*arguments: str, given: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )


@dataclass
class Played:
    """A process that is being played with."""

    arguments: tuple[str, ...]
    output: str = ""
    _process: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bot", *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=environment(),
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._seen = 0

    def until(self, *markers: str) -> str:
        """Wait until one of `markers` is in the output, behind the last one found; which it was.
        `""` if the process ended first."""
        end = time.monotonic() + PATIENCE
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while time.monotonic() < end:
                found = [(self.output.find(m, self._seen), m) for m in markers]
                found = sorted(pair for pair in found if pair[0] >= 0)
                if found:
                    self._seen = found[0][0] + len(found[0][1])
                    return found[0][1]
                selector.select(0.5)
                piece = self._process.stdout.read()
                if piece == b"" and self._process.poll() is not None:
                    return ""
                self.output += (piece or b"").decode(errors="replace")
        raise AssertionError(f"waited in vain for {markers}; saw:\n{self.output[-3000:]}")

    def answer(self, line: str) -> None:
        """Give one line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """kill -9, this process and nothing else."""
        self._process.kill()
        self.close()

    def close(self) -> int:
        """Wait for the end; the exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(PATIENCE)
        self._process.stdout.close()
        return code


def play_demo(folder: Path, gone: Callable[[], bool]) -> str:
    """Play the demo to its end, approving everything, whatever state it is found in; its output.

    `gone` says whether the deletion has happened: what a person would look up when asked about a
    run whose end is not proven.
    """
    played = Played(("demo", "--dir", str(folder), "--answer", "-"))
    approve, settle, task = "[a]pprove once", "done (it was carried out)", "[f]ulfil"
    while marker := played.until(approve, settle, task, "» The end.", "played to its end"):
        if marker == approve:
            played.answer('{"answer": "approve"}')
        elif marker == task:
            played.answer('{"answer": "fulfil", "input": {"confirmed": true}}')
        elif marker == settle:
            said = '"done", "text": "it was done"' if gone() else '"again"'
            played.answer(f'{{"answer": {said}}}')
        else:
            break
    assert played.close() == 0, played.output[-3000:]
    return played.output
