"""Inputs with right answers, and how tests read them."""

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent


def rows(name: str, case_class: str | None = None) -> list[dict[str, Any]]:
    """The rows of `name` (a JSON Lines file in this folder), of one class if given."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line]
    return [row for row in found if case_class is None or row["class"] == case_class]
