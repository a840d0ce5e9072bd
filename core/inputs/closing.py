"""Closing a schema: keys that it does not name are refused.

JSON Schema lets an object have more keys than the schema names unless it says otherwise. For a
tool made from a Python function, and for what a person types into a dialog, a key that nobody
declared is a mistake, so we say otherwise where the schema says nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeGuard

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema (draft 2020-12) as parsed JSON."""

_Close: TypeAlias = Callable[[Schema, Schema], dict[str, Any]]

_SAYS = ("additionalProperties", "unevaluatedProperties", "patternProperties")
_IN_PLACE = ("allOf", "anyOf", "oneOf")
_MAX_REFERENCES = 32


def closed(schema: Schema) -> dict[str, Any]:
    """A copy of `schema` in which every object that declares properties has only these.

    Empty `properties` declare none: real tools use them for free-form maps.
    """
    return _closed_value(schema, schema)


def _closed_value(schema: Schema, root: Schema) -> dict[str, Any]:
    """Close the schema of a whole value: the top, a property, an item."""
    result = _closed_inside(schema, root)
    if not _declares(schema, root) or any(word in schema for word in _SAYS):
        return result
    simple = "$ref" not in schema and not any(word in schema for word in _IN_PLACE)
    result["additionalProperties" if simple else "unevaluatedProperties"] = False
    return result


def _closed_inside(schema: Schema, root: Schema) -> dict[str, Any]:
    """Close the parts of a schema, not the object it describes itself."""
    result = dict(schema)
    for word in ("properties", "$defs", "definitions"):
        part = schema.get(word)
        if is_schema(part):
            close = _closed_value if word == "properties" else _closed_inside
            result[word] = {key: _maybe(close, value, root) for key, value in part.items()}
    for word in ("items", "additionalProperties"):
        if word in schema:
            result[word] = _maybe(_closed_value, schema[word], root)
    if "prefixItems" in schema:
        result["prefixItems"] = [_maybe(_closed_value, s, root) for s in schema["prefixItems"]]
    # Branches of allOf judge the same object together, so one may not close what another names.
    for word in ("anyOf", "oneOf"):
        if word in schema:
            result[word] = [_maybe(_closed_inside, branch, root) for branch in schema[word]]
    return result


def is_schema(value: object) -> TypeGuard[Schema]:
    """Whether `value` is a schema that says something; `true` and `false` are schemas, too."""
    return isinstance(value, Mapping)


def _maybe(close: _Close, schema: object, root: Schema) -> object:
    return close(schema, root) if is_schema(schema) else schema


def _declares(schema: object, root: Schema, references: int = 0) -> bool:
    """Whether the schema, or a branch of it for the same object, names properties."""
    if not is_schema(schema):
        return False
    if schema.get("properties"):
        return True
    target = local_target(schema.get("$ref"), root) if references < _MAX_REFERENCES else None
    if target is not None and _declares(target, root, references + 1):
        return True
    return any(
        _declares(branch, root, references)
        for word in _IN_PLACE
        if word in schema
        for branch in schema[word]
    )


def local_target(reference: object, root: Schema) -> object:
    """What a reference into the same schema (`#/$defs/Name`) points to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    place: object = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not is_schema(place) or key not in place:
            return None
        place = place[key]
    return place
