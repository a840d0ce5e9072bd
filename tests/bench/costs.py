"""What people wait for: a card, and the command's help."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median

from core.cards import CallView, build_card
from core.inputs import Json
from tests.bench.figures import Figure, below

STARTS = 5
CARDS = 200
START_LIMIT = 0.5


def card_figures() -> list[Figure]:
    """Building the card of a short call, and of one with a file in it."""
    short = {"command": "kubectl delete pod web-7d4f9 -n staging"}
    long = {"file_path": "deploy/web.yaml", "content": "- name: web\n  port: 8080\n" * 400}
    return [
        Figure("card of a command", "µs", _median(lambda: build_card(_view("Bash", short), 0))),
        Figure("card of a 10 kB file", "µs", _median(lambda: build_card(_view("Write", long), 0))),
    ]


def start_figures() -> list[Figure]:
    """A fresh process each time."""
    command = [sys.executable, "-m", "bot", "--help"]

    def start() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    took = _median(start, STARTS)
    demand = below(START_LIMIT, f"< {START_LIMIT:g} s")
    return [Figure("keyturn --help, from a cold start", "ms", took, demand=demand)]


def _view(tool: str, value: Mapping[str, Json]) -> CallView:
    return CallView(
        tool=tool,
        agent="ops",
        requester="ana",
        raw_input="",
        input=value,
        digest="6f3c91de" + "0" * 56,
        revision=0,
        risk="medium",
        approvers="sre",
    )


def _median(work: Callable[[], object], rounds: int = CARDS) -> float:
    took: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        took.append(time.perf_counter() - begun)
    return median(took)
