"""A person at a real terminal: the demo played through a pseudo-terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.bot.playing import PATIENCE, ROOT, environment


class Person:
    """Sits at a pseudo-terminal and types."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bot", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={**environment(), "TERM": "xterm", **variables},
            start_new_session=True,
        )
        os.close(slave)
        self.raw = ""
        self._seen = 0

    @property
    def screen(self) -> str:
        return re.sub(r"\x1b\[\d+m", "", self.raw).replace("\r\n", "\n")

    def until(self, marker: str) -> None:
        end = time.monotonic() + PATIENCE
        while (at := self.screen.find(marker, self._seen)) < 0:
            assert time.monotonic() < end, f"waited in vain for {marker!r}:\n{self.screen[-2000:]}"
            if select.select([self._master], [], [], 0.5)[0]:
                try:
                    self.raw += os.read(self._master, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"it ended without {marker!r}:\n{self.screen}") from None
        self._seen = at + len(marker)

    def types(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\n")

    def ends(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                piece = os.read(self._master, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            self.raw += piece.decode(errors="replace")
        os.close(self._master)
        return self.process.wait(PATIENCE)


_ENTER = ("[a]pprove once", "note (text")
"""Questions that are answered with a bare Enter in the story below."""


def test_the_demo_is_played_by_hand(tmp_path: Path) -> None:
    """Edit in $EDITOR and confirm, reject with a reason, answer a task field by field, submit."""
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "file.write_text(file.read_text().replace('logs/app.log.2 ', ''))\n"
    )
    person = Person(
        "demo", "--dir", str(tmp_path / "d"), EDITOR=f"{sys.executable} {editor}", NO_COLOR=""
    )

    for question, typed in (
        ("[a]pprove once", ""),
        ("Nothing was said, so nothing was decided.", "m"),
        ("Approve once with this change? yes/no", "yes"),
        ("Edit config/logs.conf", ""),
        ("[a]pprove once", "r"),
        ("Why?", "30 is right"),
        ("[f]ulfil", "f"),
        ("confirmed (true/false)", "true"),
        ("note (text", ""),
        ("I understood:", ""),
        ("submit · fix", "submit"),
        ("Done. In short:", ""),
    ):
        person.until(question)
        if typed or question in _ENTER:
            person.types(typed)

    assert person.ends() == 0
    logs = {file.name for file in (tmp_path / "d/work/logs").iterdir()}
    assert "app.log.2" in logs
    assert "app.log.3" not in logs
    assert "keep = 30" in (tmp_path / "d/work/config/logs.conf").read_text()
    assert "\x1b[" in person.raw


def test_read_back_and_fix_submits_nothing(tmp_path: Path) -> None:
    """Only submit fulfils: fix, and leaving, keep the task open."""
    person = Person("demo", "--dir", str(tmp_path))
    for _ in range(2):
        person.until("[a]pprove once")
        person.types("a")
    person.until("[f]ulfil")

    person.types("fulfil confirmed: true")
    person.until("submit · fix")
    person.types("fix")
    person.until("Enter: write again")
    person.types("q")
    person.until("Nothing was submitted.")
    person.types("quit")

    assert person.ends() == 4


def test_an_interrupt_leaves_everything_open(tmp_path: Path) -> None:
    """Ctrl-C at a question: exit code 130, one sentence, nothing decided."""
    person = Person("demo", "--dir", str(tmp_path))
    person.until("[a]pprove once")

    person.process.send_signal(signal.SIGINT)

    assert person.ends() == 130
    assert "Interrupted." in person.screen
    assert "Traceback" not in person.screen
    assert (tmp_path / "work/logs/app.log.4").exists()
