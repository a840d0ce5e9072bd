"""JSON in and out, by the fast encoder that is installed anyway."""

import json
from typing import Any

from pydantic_core import from_json, to_json


def encoded(value: Any) -> bytes:
    """A value as JSON; half of a surrogate pair, which UTF-8 has no bytes for, as an escape."""
    try:
        return to_json(value)
    except ValueError:
        return json.dumps(value, separators=(",", ":")).encode()


def decoded(text: bytes) -> Any:
    """A value from its JSON.

    Raises:
        ValueError: no JSON.
    """
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)
