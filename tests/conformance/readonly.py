"""`reference_readonly`: whether a call only reads."""

from collections.abc import Iterator
from pathlib import Path

from tests.conformance.outcome import EQUAL, Outcome, looser, stricter
from tests.conformance.place import reference_place


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    with reference_place() as place:
        for row in place.rows(folder / "reference_readonly.jsonl"):
            tool = place.tool(row["tool"])
            reads = tool.permissions.check_read_only(row["input"])
            note = f"{row['tool']} {row['input']}: expected {row['read_only']}, came {reads}"
            if reads == row["read_only"]:
                yield EQUAL
            elif reads:
                yield looser(note)
            else:
                yield stricter("read-only-by-profile", note)
