"""`display`: text that must not look like something else, on every surface."""

import html
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from core.text import discord_block, for_slack, show
from tests.conformance.outcome import Outcome, Row, same
from tests.conformance.security import class_rows

SURFACES: Mapping[str, Callable[[str], str]] = {
    "slack": for_slack,
    "discord": discord_block,
    "web": html.escape,
}


def run(folder: Path) -> Iterator[Outcome]:
    """Every row: what must and must not appear, the flags, one click or review."""
    for row in class_rows(folder, "display"):
        yield _compare(row)


def _compare(row: Row) -> Outcome:
    expected = row["expected"]
    shown = show(_argument(row))
    drawn = shown.plain()
    surfaces = [SURFACES[surface](drawn) for surface in row["input"]["surface"]]
    banned = [*expected["must_not_contain"], *expected.get("no_live_entity", ())]
    came = {
        "missing": [part for part in expected["must_contain"] if part not in drawn],
        "banned": [part for part in banned if any(part in text for text in surfaces)],
        "flags": list(shown.flags),
        "one_click": shown.one_click,
    }
    wanted = {
        "missing": [],
        "banned": [],
        "flags": expected["flags"],
        "one_click": expected["one_click_approve"],
    }
    return same(wanted, came, str(row["id"]))


def _argument(row: Row) -> str:
    """The text, or one described by its ends and its length."""
    arg = row["input"]["arg"]
    if isinstance(arg, str):
        return arg
    middle = arg["length"] - len(arg["prefix"]) - len(arg["suffix"])
    return str(arg["prefix"] + "A" * middle + arg["suffix"])
