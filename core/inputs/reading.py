"""Reading the `input` of a call: strictly, so that every parser would read the same.

A model writes the input of a call as a JSON string. People judge that string, so anything that
two parsers could read differently is refused before anybody is asked: duplicate keys, NaN,
integers that a double can't hold, lone surrogates. The string itself, byte for byte, is what the
digest binds (`core.digest`).
"""

import json
import re
from collections.abc import Mapping
from typing import NoReturn, TypeAlias

import rfc8785

from core.errors import InvalidInput

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value that JSON can hold."""

MAX_INPUT_BYTES = 1024 * 1024
"""Most bytes (UTF-8) that an input may have at all. Cards refuse far earlier."""

MAX_DEPTH = 64
"""Most levels of nested objects and arrays; the outermost object is level 1."""

MAX_INTEGER = 2**53 - 1
"""Largest integer that every JSON parser keeps exact. Source: RFC 7493 (I-JSON), section 2.2."""

# A string (an unterminated one runs to the end), or a bracket. Possessive, so it reads in linear
# time whatever is written.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def parse_input(raw: str | bytes, *, limit_bytes: int = MAX_INPUT_BYTES) -> dict[str, Json]:
    """The object that `raw` says, if every JSON parser would agree on it.

    An empty string is the empty object: some models write it for a tool without arguments.

    Raises:
        InvalidInput: not UTF-8, a byte order mark, too long, too deep, not exactly one object,
            a duplicate key (after unescaping), NaN or Infinity, a number that overflows, an
            integer beyond ±(2**53 - 1), or a lone surrogate.
    """
    text = _decoded(raw, limit_bytes)
    if text == "":
        return {}
    _check_depth(text)
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=_exact_integer,
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(
            "not_json", f"The input is not valid JSON: {error.msg} at character {error.pos}."
        ) from None
    if not isinstance(value, dict):
        raise InvalidInput("not_an_object", "The input must be one JSON object.")
    _check_surrogates(value)
    return value


def _decoded(raw: str | bytes, limit_bytes: int) -> str:
    try:
        encoded = raw.encode() if isinstance(raw, str) else raw
        text = raw if isinstance(raw, str) else raw.decode()
    except UnicodeError:
        raise InvalidInput("not_utf8", "The input is not valid UTF-8.") from None
    if len(encoded) > limit_bytes:
        raise InvalidInput(
            "too_long", f"The input has {len(encoded)} bytes; at most {limit_bytes} are accepted."
        )
    if text.startswith("\ufeff"):
        raise InvalidInput("byte_order_mark", "The input starts with a byte order mark.")
    return text


def _check_depth(text: str) -> None:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = text[match.start()]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidInput(
                    "too_deep", f"The input is nested deeper than {MAX_DEPTH} levels."
                )
        elif mark in "]}":
            depth -= 1


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput("duplicate_key", "The input names a key twice in one object.")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput("not_a_number", f"The input contains {name}, which JSON does not have.")


def _exact_integer(digits: str) -> int:
    # Short of 4300 digits, where int() itself refuses; 2**53 has 16.
    value = int(digits) if len(digits) <= 20 else None
    if value is None or abs(value) > MAX_INTEGER:
        raise InvalidInput(
            "integer_too_large",
            f"The input contains an integer beyond ±{MAX_INTEGER}; write it as a string.",
        )
    return value


def _finite_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise InvalidInput("number_overflow", "The input contains a number that is too large.")
    return value


def _check_surrogates(value: dict[str, Json]) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "lone_surrogate", "The input contains half of a surrogate pair, which is no character."
        ) from None


def canonical_input(value: Mapping[str, Json]) -> str:
    """One spelling for all inputs that mean the same, spacing and key order aside.

    For the comparison "the same tool with the same input again"; never for binding, because it
    makes ``1`` and ``1.0`` equal. Source: RFC 8785 (JSON Canonicalization Scheme).
    """
    return rfc8785.dumps(dict(value)).decode()
