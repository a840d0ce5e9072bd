"""Changing an input in the person's own editor, checked before anything is recorded."""

import asyncio
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.terminal.safe import printable
from core.errors import InvalidInput
from core.inputs import Change, FieldError, Json, changes, parse_input, validate_input
from core.inputs.closing import Schema
from core.text import is_hidden, value_text

KEPT = "<masked: leave this here to keep the value, or write a new one>"
"""Stands in an editor for an argument that holds a secret."""

FALLBACKS = ("sensible-editor", "nano", "vi")


@dataclass(frozen=True, slots=True)
class Checked:
    """A changed input that its tool would take: `raw` as it will be bound, and what changed."""

    raw: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Faulty:
    """A changed input that its tool would not take; each line names a place and what is wrong."""

    lines: tuple[str, ...]


def pretty(raw: str, schema: Schema | None = None) -> str:
    """An input as people edit it: indented JSON, hidden characters written as escapes.

    Arguments that hold secrets are not written out: `KEPT` stands for them, and leaving it there
    keeps the value.

    Raises:
        InvalidInput: it is no readable input.
    """
    value = parse_input(raw)
    shown = {name: KEPT if _is_secret(name, v, schema) else v for name, v in value.items()}
    return visible_json(json.dumps(shown, indent=2, ensure_ascii=False))


def _is_secret(name: str, value: Json, schema: Schema | None) -> bool:
    return bool(value_text([name], value, schema).secrets)


def visible_json(text: str) -> str:
    """JSON text with each invisible character inside a string as its ``\\uXXXX`` escape."""
    return "".join(
        json.dumps(character)[1:-1] if is_hidden(character) and character != "\n" else character
        for character in text
    )


def check(before: str, written: str, schema: Schema) -> Checked | Faulty:
    """What came out of the editor. Keys that the schema does not declare are refused.

    `raw` of the result is compact JSON: indentation was for the person, not for the tool.
    """
    try:
        value = parse_input(written)
    except InvalidInput as error:
        return Faulty((str(error),))
    old = _before(before)
    value = {
        name: old[name] if given == KEPT and name in old else given for name, given in value.items()
    }
    if found := validate_input(schema, value, close=True):
        return Faulty(tuple(_in_words(error) for error in found))
    raw = json.dumps(value, ensure_ascii=False)
    return Checked(raw, changes(old, value))


def _before(raw: str) -> dict[str, Json]:
    try:
        return parse_input(raw)
    except InvalidInput:
        return {}


def _in_words(error: FieldError) -> str:
    return printable(f"{error.pointer or '/'} {error.message}")


def editor_command(environment: Mapping[str, str]) -> list[str] | None:
    """The person's editor as a command line, or None if there is none on this machine."""
    chosen = environment.get("VISUAL") or environment.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    found = next((name for name in FALLBACKS if shutil.which(name)), None)
    return [found] if found else None


async def edit(text: str, command: list[str]) -> str | None:
    """Let a person edit `text`; None if the editor could not be started or gave up.

    The file is readable by this user only, and is removed afterwards.
    """
    folder = Path(tempfile.mkdtemp(prefix="keyturn-"))
    file = folder / "input.json"
    try:
        await asyncio.to_thread(_write_private, file, text)
        process = await asyncio.create_subprocess_exec(*command, str(file))
        if await process.wait() != 0:
            return None
        return await asyncio.to_thread(file.read_text)
    except (OSError, UnicodeDecodeError):
        return None
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text + "\n")
