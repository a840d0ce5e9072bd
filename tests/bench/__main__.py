"""`python -m tests.bench`: Keyturn beside agentscope 2.0. Exit status 1 if a demand is missed.

Run it by `make bench`, which makes the environment that has both.
"""

import asyncio
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench import exchange
from tests.bench.costs import card_figures, start_figures
from tests.bench.figures import Figure, table, write
from tests.bench.loops import loop_figures
from tests.bench.parking import parking_figures
from tests.bench.permissions import command_figures, rule_figures

RESULTS = Path(__file__).with_name("results.jsonl")
BUSY = 0.5
"""Load per core from which times are not to be trusted."""

LEGEND = (
    "Medians; ours and theirs take turns in one process. Ratio: theirs by ours, so more is better.",
    "Times are worth something on a quiet machine only, ratios on any.",
)


def main() -> int:
    """Measure, tell, and check that both understand each other."""
    busy = _load()
    print(f"Keyturn beside agentscope {version('agentscope')}. This takes about two minutes.\n")
    figures = asyncio.run(_measured())
    print("\n".join(table(figures)), end="\n\n")
    print("\n".join(LEGEND))
    busy = max(busy, _load())
    if busy > BUSY:
        print(f"The machine was busy: a load of {busy:.1f} for each core.")
    write(RESULTS, _head(busy), figures)
    print(f"As JSON lines: {RESULTS}\n\nWhat one writes, the other reads:")
    understood = exchange.main() == 0
    return _ended(figures, understood=understood)


async def _measured() -> list[Figure]:
    figures = await parking_figures()
    figures += await loop_figures()
    figures += await rule_figures()
    figures += await command_figures()
    return figures + card_figures() + start_figures()


def _load() -> float:
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _head(busy: float) -> dict[str, Any]:
    return {
        "agentscope": version("agentscope"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load_per_core": round(busy, 2),
    }


def _ended(figures: Sequence[Figure], *, understood: bool) -> int:
    missed = [figure.name for figure in figures if figure.met is False]
    if not understood:
        missed.append("what one writes, the other reads")
    if missed:
        print(f"\nMissed: {'; '.join(missed)}")
        return 1
    print("\nEverything that was demanded is met.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
