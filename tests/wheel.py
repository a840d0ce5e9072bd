"""Proves what the built wheel holds: `python -m tests.wheel dist`."""

import sys
from pathlib import Path
from zipfile import ZipFile

EXPECTED = {"bot", "core", "adapters"}


def main(folder: str) -> int:
    """Print what the wheel ships; 0 when it is exactly the three packages."""
    wheel = next(Path(folder).glob("*.whl"))
    names = ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    print(f"{wheel.name} ships {', '.join(sorted(packages))}")
    return 0 if packages == EXPECTED and "core/py.typed" in names else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
