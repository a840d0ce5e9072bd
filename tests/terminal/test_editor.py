"""What comes out of an editor is checked before anybody approves it."""

import stat
import sys
import tempfile
from pathlib import Path

import pytest

from adapters.terminal.editor import Checked, Faulty, check, edit, editor_command, pretty

SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
    "required": ["amount"],
}
BEFORE = '{"amount": 5, "to": "Rivera"}'


def test_a_right_edit_is_taken_with_its_differences() -> None:
    """Types are kept; what changed is named."""
    checked = check(BEFORE, '{\n  "amount": 6,\n  "to": "Rivera"\n}\n', SCHEMA)

    assert isinstance(checked, Checked)
    assert checked.raw == '{"amount": 6, "to": "Rivera"}'
    assert [change.pointer for change in checked.changes] == ["/amount"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"amount": "6"}', "/amount must be of type integer"),
        ('{"to": "x"}', "/amount is missing"),
        ('{"amount": 6, "cc": "x"}', "/cc is not a field of this tool"),
        ('{"amount": 6, "amount": 7}', "names a key twice"),
        ('{"amount": NaN}', "NaN"),
        ("amount: 6", "not valid JSON"),
    ],
)
def test_a_wrong_edit_names_the_place(written: str, expected: str) -> None:
    """The person can mend it; nothing is recorded before."""
    checked = check(BEFORE, written, SCHEMA)

    assert isinstance(checked, Faulty)
    assert any(expected in line for line in checked.lines)


def test_hidden_characters_are_escapes_in_the_editor() -> None:
    """An editor would show them as nothing, and a terminal would obey them."""
    text = pretty('{"to": "a\\u202eb\\u001b[2Jé"}')

    assert '"a\\u202eb\\u001b[2Jé"' in text
    assert not text.isascii()


async def test_the_editor_gets_a_private_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    """Inputs may hold secrets."""
    trace = tmp_path / "trace"
    script = (
        "import os,sys,pathlib;p=pathlib.Path(sys.argv[1]);"
        f"pathlib.Path({str(trace)!r}).write_text(f'{{oct(p.stat().st_mode)}} {{p}}');"
        "p.write_text(p.read_text().replace('5','6'))"
    )

    changed = await edit('{"amount": 5}', [sys.executable, "-c", script])

    mode, path = trace.read_text().split(" ", 1)
    assert changed == '{"amount": 6}\n'
    assert stat.S_IMODE(int(mode, 8)) == 0o600
    assert path not in [str(file) for file in _temporary()]


def _temporary() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("keyturn-*/*"))


async def test_an_editor_that_fails_changes_nothing() -> None:
    """Missing, or ended with an error: the person gave up."""
    assert await edit("{}", ["/no/such/editor"]) is None
    assert await edit("{}", [sys.executable, "-c", "raise SystemExit(1)"]) is None


def test_the_editor_is_the_person_s_choice() -> None:
    """VISUAL before EDITOR, with its arguments."""
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_command({"EDITOR": "ed"}) == ["ed"]
