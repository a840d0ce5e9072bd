"""Arguments as text: one spelling per value, with the places of their secrets."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.inputs import Json, Schema, is_schema, local_target
from core.text.display import SHOWN_CHARACTERS, Shown, show
from core.text.masking import Span, find_secrets
from core.text.secret_patterns import is_id_name, is_secret_name

_CONTROL_ESCAPE = re.compile(r'\\(?:["\\n]|([bfrt])|u([0-9a-f]{4}))')
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "r": "\r", "t": "\t"}
_MAX_REFERENCES = 16


@dataclass(frozen=True, slots=True)
class ValueText:
    """A value as text. Two different values never have the same `text`."""

    text: str
    secrets: tuple[Span, ...]


def value_text(
    path: Sequence[str],
    value: Json,
    schema: Schema | None = None,
    *,
    bare: bool = False,
    pepper: bytes = b"",
) -> ValueText:
    """How the value at `path` of an input is written for people.

    A string stands bare, unless it could be taken for another JSON value: the text ``5`` is
    written with quotes, the number is not. Everything else is JSON on one line. `schema` is the
    schema of the tool's whole input; its hints (``format: password``, ``writeOnly``), and names
    such as ``api_key``, say what is secret. With `bare`, a string never has quotes: for titles,
    where its row says what type it is.
    """
    writer = _Writer(schema or {})
    hints = writer.hints(path)
    name = next((part for part in reversed(path) if not part.isdecimal()), "")
    if isinstance(value, str) and (bare or not _is_json(value)):
        writer.write(value, name, hints)
    else:
        writer.json(value, name, hints)
    text = "".join(writer.parts)
    spans = find_secrets(text, known=writer.known, ids=writer.ids, pepper=pepper)
    return ValueText(text, spans)


def show_value(
    path: Sequence[str],
    value: Json,
    schema: Schema | None = None,
    *,
    limit: int = SHOWN_CHARACTERS,
    pepper: bytes = b"",
) -> Shown:
    """Draw the value at `path` for a card: `value_text`, with `core.text.display.show`."""
    written = value_text(path, value, schema, pepper=pepper)
    return show(written.text, written.secrets, limit=limit)


@dataclass(slots=True)
class _Writer:
    """Writes JSON and notes where secrets and identifiers stand."""

    root: Schema
    parts: list[str] = field(default_factory=list[str])
    known: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    ids: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    size: int = 0

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)

    def write(self, text: str, name: str, schema: Schema) -> None:
        """Write a scalar, which may be a secret."""
        start = self.size
        self.put(text)
        if is_secret_name(name) or any(map(_is_secret, self.branches(schema))):
            self.known.append((start, self.size))
        elif is_id_name(name):
            self.ids.append((start, self.size))

    def json(self, value: Json, name: str, schema: Schema) -> None:
        if isinstance(value, str):
            self.put('"')
            self.write(_inside_quotes(value), name, schema)
            self.put('"')
        elif isinstance(value, dict):
            self._object(value, schema)
        elif isinstance(value, list):
            self._array(value, name, schema)
        elif isinstance(value, bool) or value is None:
            self.put(json.dumps(value))
        else:
            self.write(json.dumps(value), name, schema)

    def _object(self, value: dict[str, Json], schema: Schema) -> None:
        declared = _properties(self.branches(schema))
        self.put("{")
        for number, (key, item) in enumerate(value.items()):
            self.put(f'{", " if number else ""}"{_inside_quotes(key)}": ')
            self.json(item, key, declared.get(key, {}))
        self.put("}")

    def _array(self, value: list[Json], name: str, schema: Schema) -> None:
        items = [b["items"] for b in self.branches(schema) if is_schema(b.get("items"))]
        self.put("[")
        for number, item in enumerate(value):
            self.put(", " if number else "")
            self.json(item, name, items[0] if items else {})
        self.put("]")

    def hints(self, path: Sequence[str]) -> Schema:
        """What the schema says about the value at `path`, as far as it says it."""
        schema = self.root
        for part in path:
            found = _properties(self.branches(schema))
            items = [b["items"] for b in self.branches(schema) if is_schema(b.get("items"))]
            schema = found.get(part) or (items[0] if items and part.isdecimal() else {})
        return schema

    def branches(self, schema: Schema, references: int = 0) -> Iterator[Schema]:
        """The schema and everything that speaks about the same value."""
        yield schema
        target = local_target(schema.get("$ref"), self.root)
        choices: list[object] = [target]
        for word in ("allOf", "anyOf", "oneOf"):
            choices += schema.get(word, ())
        for branch in choices:
            if is_schema(branch) and references < _MAX_REFERENCES:
                yield from self.branches(branch, references + 1)


def _properties(branches: Iterator[Schema]) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    for branch in branches:
        declared: dict[str, Any] = branch.get("properties") or {}
        found |= {key: value for key, value in declared.items() if isinstance(value, dict)}
    return found


def _is_secret(schema: Schema) -> bool:
    return schema.get("format") == "password" or schema.get("writeOnly") is True


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _inside_quotes(text: str) -> str:
    """`text` with the escapes that JSON needs, control characters left for the display to draw."""

    def raw(match: re.Match[str]) -> str:
        if match[1]:
            return _SHORT_ESCAPES[match[1]]
        return chr(int(match[2], 16)) if match[2] else match[0]

    return _CONTROL_ESCAPE.sub(raw, json.dumps(text, ensure_ascii=False)[1:-1])
