"""`reference_match`: one rule against one call.

A row is asked twice: as an allow rule, which may cover less than the reference's, and as a deny
rule, which may cover more.
"""

from collections.abc import Iterator
from pathlib import Path

from core.permissions.engine import matcher_for
from core.permissions.rules import PermissionBehavior, PermissionRule
from tests.conformance.departures import covers_same_words
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, stricter
from tests.conformance.place import Place, reference_place


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    with reference_place("/tmp") as place:  # noqa: S108 - as it was recorded
        for row in place.rows(folder / "reference_match.jsonl"):
            yield compare(place, row)


def compare(place: Place, row: Row) -> Outcome:
    """One row."""
    allows = _covers(place, row, PermissionBehavior.ALLOW)
    denies = _covers(place, row, PermissionBehavior.DENY)
    note = (
        f"{row['tool']}({row['rule_content']}) {row['input']}: "
        f"expected {row['matches']}, allow covers {allows}, deny covers {denies}"
    )
    if not isinstance(row["matches"], bool):  # the reference fails on such a pattern
        blocked = denies and not allows
        return stricter("unreadable-blocks", note) if blocked else looser(note)
    if row["matches"]:
        if not denies:
            return looser(note)
        return EQUAL if allows else stricter(_narrower(row), note)
    if allows and not _same_words(row):
        return looser(note)
    if allows:
        return EQUAL
    return stricter(_wider(row), note) if denies else EQUAL


def _covers(place: Place, row: Row, behavior: PermissionBehavior) -> bool:
    tool = place.tool(row["tool"])
    rule = PermissionRule(
        tool_name=tool.name, rule_content=row["rule_content"], behavior=behavior, source="row"
    )
    return matcher_for(tool, [rule]).find(row["input"]) is not None


def _same_words(row: Row) -> bool:
    command = str(row["input"].get("command", ""))
    return row["tool"] == "Bash" and covers_same_words(row["rule_content"], command)


def _narrower(row: Row) -> str:
    """Why our allow rule covers less."""
    return "words-not-text" if row["tool"] == "Bash" else "real-paths"


def _wider(row: Row) -> str:
    """Why our deny rule covers more."""
    if row["tool"] == "Bash":
        return "smuggled-commands"
    return "search-below" if row["tool"] in ("Glob", "Grep") else "real-paths"
