"""What came of one row, and the sums of a group."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["equal", "stricter", "looser", "wrong", "not_run"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One row compared.

    Attributes:
        kind: `equal`; `stricter` with the departure that core/README.md names; `looser`: we allow,
            run or offer what the reference does not; `wrong`: different and neither, or stricter
            without a name.
        note: for people: which row, what was expected, what came.
    """

    kind: Kind
    departure: str = ""
    note: str = ""


EQUAL = Outcome("equal")


def stricter(departure: str | None, note: str) -> Outcome:
    """Stricter, if some rule names the departure."""
    if departure is None:
        return Outcome("wrong", note=f"stricter without a name: {note}")
    return Outcome("stricter", departure, note)


def looser(note: str) -> Outcome:
    """A fault, always."""
    return Outcome("looser", note=note)


def wrong(note: str) -> Outcome:
    """A fault, always."""
    return Outcome("wrong", note=note)


def same(expected: object, actual: object, where: str) -> Outcome:
    """Equal or wrong."""
    if expected == actual:
        return EQUAL
    return wrong(f"{where}: expected {expected!r}, came {actual!r}")


@dataclass
class Tally:
    """The sums of one group."""

    name: str
    kinds: Counter[Kind] = field(default_factory=Counter[Kind])
    departures: Counter[str] = field(default_factory=Counter[str])
    notes: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])

    def add(self, outcome: Outcome) -> None:
        """Count one row."""
        self.kinds[outcome.kind] += 1
        if outcome.kind == "equal" and outcome.note:
            self.notes.append(outcome.note)
        elif outcome.kind == "stricter":
            self.departures[outcome.departure] += 1
        elif outcome.kind in ("looser", "wrong"):
            self.faults.append(f"{outcome.kind}: {outcome.note}")

    @property
    def failed(self) -> bool:
        """Whether anything in it is a fault or was not run."""
        return bool(self.faults) or self.kinds["not_run"] > 0


def rows_of(file: Path) -> Iterator[Row]:
    """The rows of a file of cases."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


Group = Callable[[Path], Iterator[Outcome]]
"""Runs all rows of a file (or of one class of a file) of a folder of cases."""
