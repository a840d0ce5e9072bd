"""Checking an input against a tool's JSON schema (draft 2020-12)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
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
        found = sorted(validator.iter_errors(value), key=lambda error: error.json_path)
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
    schema = json.loads(schema_json)
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


def _patterns(schema: Any) -> Iterator[str]:
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


def _field_errors(error: ValidationError) -> Iterator[FieldError]:
    if error.validator in ("anyOf", "oneOf") and error.context:
        error = best_match([error]) or error
    pointer = "".join(f"/{pointer_part(part)}" for part in error.absolute_path)
    keyword = str(error.validator)
    if keyword == "required":
        for key in _missing(error):
            yield FieldError(f"{pointer}/{pointer_part(key)}", keyword, "is missing")
    elif keyword == "additionalProperties" and error.validator_value is False:
        for key in _undeclared(error):
            yield FieldError(
                f"{pointer}/{pointer_part(key)}", keyword, "is not a field of this tool"
            )
    else:
        yield FieldError(pointer, keyword, _message(keyword, error.validator_value))


def _missing(error: ValidationError) -> list[str]:
    wanted = error.validator_value if isinstance(error.validator_value, list) else []
    instance = error.instance if isinstance(error.instance, dict) else {}
    return [key for key in wanted if key not in instance]


def _undeclared(error: ValidationError) -> list[str]:
    schema = error.schema if isinstance(error.schema, dict) else {}
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    instance = error.instance if isinstance(error.instance, dict) else {}
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


def _message(keyword: str, wanted: Any) -> str:
    if keyword in ("anyOf", "oneOf"):
        return "fits none of the allowed forms, or more than one"
    if keyword == "unevaluatedProperties":
        return "has a field that this tool does not declare"
    if keyword == "uniqueItems":
        return "must not name an item twice"
    if keyword not in _SENTENCES:
        return f"violates the schema's {keyword!r}"
    return _SENTENCES[keyword].format(_in_words(keyword, wanted))


def _in_words(keyword: str, wanted: Any) -> str:
    if keyword == "type" and isinstance(wanted, str):
        return wanted
    if keyword == "type":
        return " or ".join(wanted)
    if keyword == "enum":
        return ", ".join(json.dumps(choice, ensure_ascii=False) for choice in wanted)
    return wanted if keyword == "pattern" else json.dumps(wanted, ensure_ascii=False)
