"""What a person may change a call's input into."""

from typing import Any

import pytest

from core.edits import MAX_EDITED_CHARACTERS, edit_errors
from core.inputs import Json
from core.text import mask

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "timeout": {"type": "integer"},
        "env": {"type": "object"},
    },
    "required": ["command"],
}
OLD: dict[str, Json] = {"command": "ls", "timeout": 5}


def _keywords(new: dict[str, Json], old: dict[str, Json] = OLD) -> set[str]:
    return {error.keyword for error in edit_errors(old, new, SCHEMA)}


def test_a_good_edit_has_no_errors() -> None:
    """Also one that changes nothing, and one with several lines."""
    assert not edit_errors(OLD, {"command": "ls -la\n\tpwd", "timeout": 9}, SCHEMA)
    assert not edit_errors(OLD, dict(OLD), SCHEMA)


def test_an_edit_that_breaks_the_schema_is_invalid() -> None:
    """Types are kept: a number typed as text is refused next to its field."""
    errors = edit_errors(OLD, {"command": "ls", "timeout": "five"}, SCHEMA)

    assert [(error.pointer, error.keyword) for error in errors] == [("/timeout", "type")]
    assert _keywords({"timeout": 5}) == {"required"}


def test_an_extra_key_is_invalid() -> None:
    """Even where the schema does not forbid it by itself."""
    assert _keywords({**OLD, "x": 1}) == {"additionalProperties"}


@pytest.mark.parametrize("text", ["l\u200bs", "ls\0", "ls\u202e", "\u0430pt", "ls\r", "a\u00a0b"])
def test_an_edit_that_adds_hidden_characters_is_invalid(text: str) -> None:
    """What is typed must be visible; also inside nested values and keys."""
    assert _keywords({"command": text}) == {"hidden"}
    assert _keywords({"command": "ls", "env": {"a": [text]}}) == {"hidden"}
    assert _keywords({"command": "ls", "env": {text: 1}}) == {"hidden"}


def test_hidden_characters_that_were_there_may_stay() -> None:
    """Correcting one word of a text does not need its odd blanks removed."""
    assert not _keywords({"command": "a\u00a0c"}, {"command": "a\u00a0b"})
    assert _keywords({"command": "a\u00a0c\u200b"}, {"command": "a\u00a0b"}) == {"hidden"}


def test_a_text_too_long_for_a_dialog_is_invalid() -> None:
    """A mebibyte never came out of a dialog."""
    assert _keywords({"command": "x" * 2**20}) == {"maxLength"}
    assert not _keywords({"command": "x " * (MAX_EDITED_CHARACTERS // 2)})


def test_a_mask_is_never_sent() -> None:
    """A dialog that shows a mask must not turn it into the value."""
    assert _keywords({"command": mask("login --token hunter2").text}) == {"masked"}
