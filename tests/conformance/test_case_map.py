"""Every prose case is shown by a test that exists, or waits for a reason that is written down."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cases import rows

ROOT = Path(__file__).parents[2]
CASE_MAP: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests/cases.toml").read_text())
PROSE_CLASSES = ("binding", "modify", "display_rule")


def _tests_in(body: list[ast.stmt], prefix: str = "") -> set[str]:
    """Names of the test functions of a module, those in classes as `Class::test`."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(prefix + node.name)
        elif isinstance(node, ast.ClassDef):
            found |= _tests_in(node.body, f"{prefix}{node.name}::")
    return found


@pytest.mark.parametrize(
    ("row", "test"), [(row, test) for row, tests in CASE_MAP["tests"].items() for test in tests]
)
def test_a_mapped_test_exists(row: str, test: str) -> None:
    """A renamed or removed test leaves its case without proof, so the map must follow."""
    path, _, name = test.partition("::")

    assert (ROOT / path).is_file(), f"{row}: {path} is gone"
    assert name.split("[")[0] in _tests_in(ast.parse((ROOT / path).read_text()).body), row


@pytest.mark.parametrize("case_class", PROSE_CLASSES)
def test_every_prose_case_is_mapped_or_waits_for_a_reason(case_class: str) -> None:
    """No row is forgotten, and none is both done and waiting."""
    expected = {row["id"] for row in rows("security_cases.jsonl", case_class)}
    mapped, later = set(CASE_MAP["tests"]), set(CASE_MAP["later"])

    assert expected <= mapped | later
    assert not mapped & later
    assert all(CASE_MAP["tests"].values())
    assert all(str(reason).strip() for reason in CASE_MAP["later"].values())
