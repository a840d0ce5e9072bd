"""What an edit of a call's input must satisfy before anything else is asked of it.

The edited call then goes through deny rules, gates and policy like any other; that is not here.
"""

import re
from collections.abc import Iterator, Mapping

from core import words
from core.inputs import Change, FieldError, Json, Schema, changes, validate_input
from core.text import is_hidden, show

MAX_EDITED_CHARACTERS = 3000
"""Most characters of one edited text. Source: Slack's published limit of a text input."""

_MASK = re.compile(r"<secret: [A-Za-z ]+, \d+ chars?, #[0-9a-f]{8}>")
_POSING = frozenset({"mixed_script", "mixed_direction", "combining_flood"})
_TYPED = frozenset("\n\t")


def edit_errors(
    old: Mapping[str, Json], new: Mapping[str, Json], schema: Schema
) -> list[FieldError]:
    """What is wrong with the edit from `old` to `new`; empty if it may go on to policy.

    The whole new input must satisfy the schema, keys it does not declare included. What a person
    typed must be visible, short enough for a dialog, and no mask: whoever leaves a masked field
    alone keeps its value.
    """
    found = validate_input(schema, dict(new), close=True)
    for change in changes(dict(old), dict(new)):
        if change.kind != "removed":
            found += _text_errors(change)
    return found


def _text_errors(change: Change) -> Iterator[FieldError]:
    before = list(_texts(change.old))
    kept = set("".join(before)) | _TYPED
    posing = {flag for text in before for flag in show(text).flags}
    for text in _texts(change.new):
        if text in before:
            continue
        if len(text) > MAX_EDITED_CHARACTERS:
            yield FieldError(change.pointer, "maxLength", words.EDIT_TOO_LONG)
        if any(map(is_hidden, set(text) - kept)) or set(show(text).flags) & _POSING - posing:
            yield FieldError(change.pointer, "hidden", words.EDIT_HAS_HIDDEN)
        if _MASK.search(text):
            yield FieldError(change.pointer, "masked", words.EDIT_HAS_MASK)


def _texts(value: Json) -> Iterator[str]:
    """All strings in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
