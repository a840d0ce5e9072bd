"""Tasks: work that people do. Reading what they answered into a tool result.

Text that people write is data. Whether it is a result is decided by who submits it (authority)
and by the tool's result schema, never by what the text says.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from core.agent.stamps import whole
from core.errors import InvalidInput
from core.inputs import parse_input, validate_input

MAX_TEXT = 32_000
"""Most characters of an answer that the model is given."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that came with an answer: its facts, not its bytes."""

    name: str
    size: int
    media_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What a person wrote, and what they attached."""

    text: str
    files: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer as it would become the result: to be read back before anybody submits it.

    Attributes:
        text: what the model gets.
        metadata: the fields of a declared result, and the facts of files.
        faults: what does not fit the declared result, one sentence each; empty: it fits.
    """

    text: str
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    faults: tuple[str, ...] = ()


def read_task_answer(answer: TaskAnswer, schema: Mapping[str, Any] | None) -> ReadAnswer:
    """What this answer says, as far as the tool's result schema asks for fields.

    With a schema the text is read as a JSON object, or as lines of `field: value`.
    """
    text = whole(answer.text).strip()
    faults = list(_text_faults(text, answer.files))
    metadata: dict[str, JsonValue] = {}
    if answer.files:
        metadata["files"] = [_file_facts(file) for file in answer.files]
    if schema is not None and not faults:
        fields, unread = _fields(text, schema)
        faults += unread or [
            f"{fault.pointer.lstrip('/') or 'The answer'} {fault.message}"
            for fault in validate_input(schema, fields)
        ]
        metadata = {**fields, **metadata}
    return ReadAnswer(_for_model(text, answer.files), metadata, tuple(faults))


def _text_faults(text: str, files: Sequence[AttachedFile]) -> Sequence[str]:
    if not text and not files:
        return ["The answer is empty."]
    if len(text) > MAX_TEXT:
        return [f"The answer has {len(text)} characters; {MAX_TEXT} are the most."]
    return []


def _fields(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, JsonValue], list[str]]:
    if text.startswith("{"):
        try:
            return parse_input(text), []
        except InvalidInput as error:
            return {}, [str(error)]
    properties = schema.get("properties", {})
    fields: dict[str, JsonValue] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, value = line.partition(":")
        if not colon and len(properties) == 1:
            name, value = next(iter(properties)), line
        elif not colon or name.strip() not in properties:
            expected = ", ".join(properties) or "no fields"
            return {}, [f"Write one line per field, like `name: value`. Fields: {expected}."]
        fields[name.strip()] = _typed(value.strip(), properties[name.strip()])
    return fields, []


def _typed(text: str, schema: Mapping[str, Any]) -> JsonValue:
    """A number or yes-or-no where the schema wants one and the text is one; else the text."""
    if schema.get("type") in ("integer", "number", "boolean", "array", "object", "null"):
        try:
            read = parse_input(f'{{"value": {text}}}')
        except InvalidInput:
            return text
        return read["value"] if read.keys() == {"value"} else text
    return text


def _file_facts(file: AttachedFile) -> JsonValue:
    return {
        "name": whole(file.name),
        "size": file.size,
        "media_type": file.media_type,
        "sha256": file.sha256,
    }


def _for_model(text: str, files: Sequence[AttachedFile]) -> str:
    lines = [text] if text else []
    for file in files:
        facts = f"{file.size} bytes, {file.media_type}, sha256:{file.sha256}"
        lines.append(f"[file {json.dumps(whole(file.name))}, {facts}]")
    return "\n".join(lines)
