"""Checking an input against a tool's JSON schema (draft 2020-12)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, relevance
from referencing import Registry
from referencing.exceptions import Unresolvable

from core.errors import InvalidSchema
from core.inputs.changes import pointer_part
from core.inputs.closing import Schema, closed
from core.inputs.reading import Json

_CACHED_SCHEMAS = 512


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with an input.

    `pointer` is the JSON pointer (RFC 6901) of the field, also of one that is missing or too
    many. `message` is a sentence for the field's place in a dialog; it never quotes the value.
    `keyword` is the word of the schema that was violated (``type``, ``required``, …).
    """

    pointer: str
    keyword: str
    message: str


def validate_input(schema: Schema, value: Json, *, close: bool = False) -> list[FieldError]:
    """What is wrong with `value`, in the order of its fields; empty if it satisfies `schema`.

    With `close`, keys that the schema does not declare are refused wherever it declares some and
    does not say what it thinks of others. Use it for edits, and for schemas we generated.

    Raises:
        InvalidSchema: the schema is no schema, or refers to something outside itself.
    """
    validator = _compiled(json.dumps(schema, sort_keys=True), close)
    try:
        errors: Iterator[ValidationError] = validator.iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
        found = sorted(errors, key=lambda error: error.json_path)
        return list(dict.fromkeys(field for error in found for field in _field_errors(error)))
    except (Unresolvable, RecursionError) as error:
        raise InvalidSchema(
            "The tool's schema refers to something that is not in it, or to itself without end."
        ) from error


def check_schema(schema: Schema) -> None:
    """Refuse a schema that could not be checked against later.

    Raises:
        InvalidSchema: it is no schema of draft 2020-12, or has a pattern that we can't read.
    """
    _compiled(json.dumps(schema, sort_keys=True), close=False)


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _compiled(schema_json: str, close: bool) -> Draft202012Validator:
    schema: dict[str, Json] = json.loads(schema_json)
    try:
        Draft202012Validator.check_schema(schema)
        for pattern in _patterns(schema):
            re.compile(pattern)
    except SchemaError as error:
        raise InvalidSchema(f"The tool's schema is wrong at {error.json_path}.") from error
    except (re.error, RecursionError) as error:
        raise InvalidSchema("The tool's schema has a pattern that can't be read.") from error
    # An empty registry: jsonschema would otherwise fetch a foreign $ref from the network.
    return Draft202012Validator(closed(schema) if close else schema, registry=Registry())


def _patterns(schema: Json) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            elif key == "patternProperties" and isinstance(value, dict):
                yield from value
            yield from _patterns(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _patterns(item)


@dataclass(frozen=True, slots=True)
class _Violation:
    """What jsonschema reports, with the types it does not declare."""

    place: tuple[str | int, ...]
    keyword: str
    wanted: Json
    schema: dict[str, Json]
    instance: Json


def _violation(error: ValidationError) -> _Violation:
    details: dict[str, Any] = vars(error)
    schema: Json = details["schema"]
    return _Violation(
        place=tuple(error.absolute_path),
        keyword=details["validator"],
        wanted=details["validator_value"],
        schema=schema if isinstance(schema, dict) else {},
        instance=details["instance"],
    )


def _closest(error: ValidationError) -> ValidationError:
    """The violation to report when every branch of a choice failed: the one that came nearest.

    A branch for another type than the value's is not near.
    """
    while error.validator in ("anyOf", "oneOf"):
        near = [branch for branch in error.context or () if branch.validator != "type"]
        if not near:
            break
        error = min(near, key=relevance)
    return error


def _field_errors(error: ValidationError) -> Iterator[FieldError]:
    found = _violation(_closest(error))
    pointer = "".join(f"/{pointer_part(part)}" for part in found.place)
    if found.keyword == "required":
        for key in _missing(found):
            yield FieldError(f"{pointer}/{pointer_part(key)}", found.keyword, "is missing")
    elif found.keyword == "additionalProperties" and found.wanted is False:
        for key in _undeclared(found):
            place = f"{pointer}/{pointer_part(key)}"
            yield FieldError(place, found.keyword, "is not a field of this tool")
    else:
        yield FieldError(pointer, found.keyword, _message(found.keyword, found.wanted))


def _missing(found: _Violation) -> list[str]:
    wanted = found.wanted if isinstance(found.wanted, list) else []
    instance = found.instance if isinstance(found.instance, dict) else {}
    return [str(key) for key in wanted if key not in instance]


def _undeclared(found: _Violation) -> list[str]:
    declared = found.schema.get("properties") or {}
    patterns = found.schema.get("patternProperties") or {}
    instance = found.instance if isinstance(found.instance, dict) else {}
    assert isinstance(declared, dict)
    assert isinstance(patterns, dict)
    return [
        key
        for key in instance
        if key not in declared and not any(re.search(pattern, key) for pattern in patterns)
    ]


_SENTENCES = {
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} fields",
    "maxProperties": "must have at most {} fields",
    "pattern": "must match the pattern {}",
    "const": "must be {}",
    "enum": "must be one of {}",
    "type": "must be of type {}",
}


def _message(keyword: str, wanted: Json) -> str:
    if keyword in ("anyOf", "oneOf"):
        types = _types(wanted)
        return f"must be of type {types}" if types else "fits none of the forms, or several"
    if keyword == "unevaluatedProperties":
        return "has a field that this tool does not declare"
    if keyword == "uniqueItems":
        return "must not name an item twice"
    if keyword not in _SENTENCES:
        return f"violates the schema's {keyword!r}"
    return _SENTENCES[keyword].format(_in_words(keyword, wanted))


def _types(branches: Json) -> str:
    """The types of the branches of a choice, or nothing if one of them names none."""
    found = (
        [branch.get("type") for branch in branches if isinstance(branch, dict)]
        if isinstance(branches, list)
        else []
    )
    return " or ".join(str(name) for name in found) if all(found) else ""


def _in_words(keyword: str, wanted: Json) -> str:
    if isinstance(wanted, list) and keyword == "enum":
        return ", ".join(json.dumps(choice, ensure_ascii=False) for choice in wanted)
    if isinstance(wanted, list):
        return " or ".join(str(choice) for choice in wanted)
    if keyword in ("type", "pattern"):
        return str(wanted)
    return json.dumps(wanted, ensure_ascii=False)
