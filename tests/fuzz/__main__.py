"""Shell rules against real bash: ``python -m tests.fuzz --count 200000 --seed 1``."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.bash import Bash
from tests.fuzz.check import Report, check_allowed, check_denied, shipped_judge
from tests.fuzz.strings import shell_strings, smuggled_strings


def main() -> int:
    """Fuzz, print what was done, and fail if anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000, help="strings to judge")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bash = Bash(Path(folder) / "allow")
        allowed = check_allowed(shell_strings(options.seed, options.count), shipped_judge(), bash)
        bash = Bash(Path(folder) / "deny")
        denied = check_denied(smuggled_strings(options.seed, options.count // 10), bash)
    _print("allow", "allowed", allowed)
    _print("deny", "caught", denied)
    return 1 if allowed.violations or denied.violations else 0


def _print(name: str, hit: str, report: Report) -> None:
    line = f"{name}: {report.judged} strings, {report.allowed} {hit}, {report.ran} run in bash"
    print(f"{line}, {len(report.violations)} violations")
    for violation in report.violations[:20]:
        ran = f"{sorted(violation.ran.programs)} {''.join(sorted(violation.ran.signs))}"
        print(f"  {violation.text!r} ran {ran}")


if __name__ == "__main__":
    sys.exit(main())
