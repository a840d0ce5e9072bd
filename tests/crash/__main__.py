"""Kill gateways and their store over and over: ``python -m tests.crash --kills 1000 --seed 7``."""

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from tests.crash.campaign import Campaign, Plan


def main() -> int:
    """Run a campaign, print what came of it, and fail if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--keep", action="store_true", help="keep the store, the logs and the board"
    )
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="keyturn-crash-"))
    campaign = Campaign(
        Plan(options.kills, options.seed), folder, lambda text: print(text, flush=True)
    )
    result = asyncio.run(campaign.run())
    print("\n".join(result.lines()))
    wrong = result.verdict.all()
    for line in wrong[:40]:
        print(f"  {line}")
    if options.keep or wrong:
        print(f"Everything it left is in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
