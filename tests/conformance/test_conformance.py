"""The runner over the project's own cases: nothing looser, wrong or forgotten."""

import re
from pathlib import Path

import pytest

from tests.conformance.__main__ import DEFAULT, compare
from tests.conformance.departures import DEPARTURES
from tests.conformance.loop_departures import DEPARTURES as LOOP_DEPARTURES
from tests.conformance.outcome import Tally
from tests.conformance.registry import ELSEWHERE, groups_in

README = Path(__file__).parents[2] / "core" / "README.md"


def named_in_readme() -> set[str]:
    """The names of the table of departures."""
    table = README.read_text(encoding="utf-8").partition("## Departures")[2]
    return set(re.findall(r"^\| ([a-z-]+) \|", table, re.MULTILINE)) - {"name", "---"}


@pytest.mark.parametrize("group", [name for name in groups_in(DEFAULT) if name not in ELSEWHERE])
def test_nothing_is_looser_than_the_reference(group: str) -> None:
    """Every row equal, or stricter under a name that people can look up."""
    tally = compare(DEFAULT, group)

    assert not tally.failed, "\n".join(tally.faults[:20]) or "not run"
    assert set(tally.departures) <= named_in_readme()


def test_every_departure_a_rule_can_name_is_explained() -> None:
    """Also those that no row of ours shows."""
    names = {name for name, _ in (*DEPARTURES, *LOOP_DEPARTURES)}

    assert names <= named_in_readme()


def test_a_group_that_nobody_runs_is_a_fault(tmp_path: Path) -> None:
    """A file of a new name does not pass by being ignored."""
    (tmp_path / "reference_new.jsonl").write_text('{"a": 1}\n{"a": 2}\n')

    tally: Tally = compare(tmp_path, groups_in(tmp_path)[0])

    assert (tally.kinds["not_run"], tally.failed) == (2, True)
