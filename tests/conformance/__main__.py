"""`python -m tests.conformance [DIR]`: compare with the reference; non-zero if there is a fault."""

import sys
import time
from pathlib import Path

from tests.conformance.outcome import Tally
from tests.conformance.registry import ELSEWHERE, groups_in, run_group

DEFAULT = Path(__file__).parents[1] / "cases"
SHOWN_FAULTS = 20


def compare(folder: Path, group: str) -> Tally:
    """All rows of one group."""
    tally = Tally(group)
    for outcome in run_group(folder, group):
        tally.add(outcome)
    return tally


def show(tally: Tally, seconds: float) -> None:
    """One line of sums, the departures, the faults."""
    kinds = tally.kinds
    print(
        f"{tally.name:28} equal {kinds['equal']:5}  stricter {kinds['stricter']:5}  "
        f"looser {kinds['looser']:3}  wrong {kinds['wrong']:3}  not run {kinds['not_run']:3}"
        f"   {seconds:5.1f} s",
        flush=True,
    )
    for departure, count in tally.departures.most_common():
        print(f"    {count:5}  {departure}")
    for note in tally.notes:
        print(f"    {note}")
    for fault in tally.faults[:SHOWN_FAULTS]:
        print(f"    ! {fault}")
    if len(tally.faults) > SHOWN_FAULTS:
        print(f"    ! … and {len(tally.faults) - SHOWN_FAULTS} more")


def main(arguments: list[str]) -> int:
    """Run every group of a folder of cases."""
    folder = Path(arguments[0]) if arguments else DEFAULT
    groups = groups_in(folder)
    if not groups:
        print(f"No cases in {folder}", file=sys.stderr)
        return 2
    print(f"Comparing {len(groups)} groups of {folder}", flush=True)
    failed = False
    for group in groups:
        if group in ELSEWHERE:
            print(f"{group:28} not of this runner: {ELSEWHERE[group]}")
            continue
        began = time.perf_counter()
        tally = compare(folder, group)
        show(tally, time.perf_counter() - began)
        failed = failed or tally.failed
    print("FAULTS" if failed else "No fault")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
