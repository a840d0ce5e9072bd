"""Figures: what was measured, what was demanded of it, and how people and programs read it."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Unit = Literal["s", "ms", "µs", "bytes", "times"]

_SECONDS: dict[str, float] = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
_HEADS = ("figure", "ours", "theirs", "ratio", "demanded", "met")


@dataclass(frozen=True, slots=True)
class Demand:
    """What a figure has to be.

    Attributes:
        text: in words for people.
        holds: whether this figure meets it.
    """

    text: str
    holds: Callable[["Figure"], bool]


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured.

    Attributes:
        ours: in seconds, bytes, or times.
        theirs: agentscope at the same work, if it does such work.
        unit: how it is shown to people; `results.jsonl` has seconds.
    """

    name: str
    unit: Unit
    ours: float
    theirs: float | None = None
    demand: Demand | None = None

    @property
    def ratio(self) -> float | None:
        """How many times less than theirs ours is."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def met(self) -> bool | None:
        """Whether it is as demanded; none if nothing is."""
        return None if self.demand is None else self.demand.holds(self)


def times_less(factor: float) -> Demand:
    """Ours is at most the `factor`-th part of theirs."""
    return Demand(f"ratio ≥ {factor:g}", lambda figure: (figure.ratio or 0) >= factor)


def below(limit: float, text: str) -> Demand:
    """Ours stays below a limit."""
    return Demand(text, lambda figure: figure.ours < limit)


def as_json(figure: Figure) -> dict[str, Any]:
    """A line for programs; times in seconds."""
    fields = asdict(figure)
    del fields["demand"]
    if figure.unit in _SECONDS:
        fields["unit"] = "s"
    demanded = figure.demand.text if figure.demand else None
    return {**fields, "ratio": figure.ratio, "demanded": demanded, "met": figure.met}


def write(path: Path, head: dict[str, Any], figures: Sequence[Figure]) -> None:
    """One JSON object a line: the run, then its figures."""
    lines = [head, *map(as_json, figures)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def table(figures: Sequence[Figure]) -> Iterator[str]:
    """The figures for people, a line each, after the heads."""
    rows = [_HEADS, *map(_row, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    for row in rows:
        name, *numbers, demanded, met = row
        middle = "  ".join(
            f"{text:>{width}}" for text, width in zip(numbers, widths[1:4], strict=True)
        )
        yield f"{name:<{widths[0]}}  {middle}  {demanded:<{widths[4]}}  {met}".rstrip()


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        _shown(figure.ours, figure.unit),
        "" if figure.theirs is None else _shown(figure.theirs, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.{0 if figure.ratio >= 10 else 2}f}",
        "" if figure.demand is None else figure.demand.text,
        "" if figure.met is None else ("yes" if figure.met else "NO"),
    )


def _shown(value: float, unit: Unit) -> str:
    if unit == "bytes":
        return f"{value:.0f} B"
    if unit == "times":
        return f"{value:.2f}"
    scaled = value / _SECONDS[unit]
    return f"{scaled:,.{2 if scaled < 10 else 0}f} {unit}"
