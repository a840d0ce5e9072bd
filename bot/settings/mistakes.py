"""What is wrong with a configuration, said with the place and the remedy."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.settings.lines import Path, line_of
from core.errors import InvalidSettings

_KEY_WORDS = ("key", "token", "secret", "password")
_KEY_REMEDY = (
    "Secrets never stand in this file: name an environment variable with {key}_env, or a file"
    " with {key}_file."
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong. `path` is where; `remedy` says what to write instead."""

    path: Path
    message: str
    remedy: str = ""
    unknown_key: bool = False


def refusal(file: str, lines: Mapping[Path, int], mistakes: list[Mistake]) -> InvalidSettings:
    """The error that reports all `mistakes` at once, in the order of the file."""
    placed = sorted(((line_of(lines, mistake.path), mistake) for mistake in mistakes), key=_line)
    count = "1 mistake" if len(placed) == 1 else f"{len(placed)} mistakes"
    said = [
        f"{file}:{line}: {dotted(m.path)}: {m.message}".rstrip(": ") + _indented(m.remedy)
        for line, m in placed
    ]
    return InvalidSettings("\n".join([f"{count} in {file}. Nothing was started.", *said]))


def _line(placed: tuple[int, Mistake]) -> int:
    return placed[0]


def _indented(remedy: str) -> str:
    return f"\n    {remedy}" if remedy else ""


def dotted(path: Path) -> str:
    """A path as people write it: `gates.list[0].match`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def from_pydantic(error: ValidationError, shape: type[BaseModel]) -> list[Mistake]:
    """Pydantic's findings as mistakes, without the values: one may be a secret."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    default = {item["loc"][2:] for item in found if item["loc"][:2] == ("gates", "default")}
    return [
        _mistake(item["loc"], item["type"], item["msg"], shape)
        for item in found
        if not _inherited(item["loc"], default)
    ]


def _inherited(path: Path, default: set[Path]) -> bool:
    """Whether a listed gate only repeats what is wrong with `gates.default`."""
    return path[:2] == ("gates", "list") and path[3:] in default


def _mistake(path: Path, kind: str, message: str, shape: type[BaseModel]) -> Mistake:
    if kind == "extra_forbidden":
        return _unknown_key(path, _fields_at(shape, path[:-1]))
    if kind == "missing":
        return Mistake(path, "is missing", _missing_remedy(path))
    plain = message.removeprefix("Value error, ").replace("Input should", "should")
    return Mistake(path, plain[:1].lower() + plain[1:])


def _unknown_key(path: Path, known: list[str]) -> Mistake:
    key = str(path[-1])
    near = suggestion(key, known)
    if key.lower().rpartition("_")[2] in _KEY_WORDS:
        return Mistake(path, "is not a key of this table", _KEY_REMEDY.format(key=key), True)
    remedy = near or f"Known here: {', '.join(sorted(known))}."
    return Mistake(path, "is not a key of this table", remedy, True)


def _missing_remedy(path: Path) -> str:
    if path in (("gates",), ("gates", "default")):
        return 'Say who decides what nothing else gates: [gates.default] approvers = "NAME".'
    if path == ("agents",):
        return 'Describe an agent: [agents.NAME] model = "openai:..."'
    return ""


def suggestion(name: str, known: list[str]) -> str:
    """`Did you mean "x"?`, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f'Did you mean "{near[0]}"?' if near else ""


def _fields_at(shape: type[BaseModel], path: Path) -> list[str]:
    """The keys that the table at `path` may have."""
    current: Any = shape
    for part in path:
        current = _inner(current, part)
    return list(current.model_fields) if _is_table(current) else []


def _inner(annotation: Any, part: str | int) -> Any:
    """The type behind one step of a path."""
    if _is_table(annotation):
        field = annotation.model_fields.get(str(part))
        return _unwrapped(field.annotation) if field else None
    arguments = [a for a in getattr(annotation, "__args__", ()) if a is not Ellipsis]
    return _unwrapped(arguments[-1]) if arguments else None


def _unwrapped(annotation: Any) -> Any:
    """`X` of `X | None`."""
    tables = [a for a in getattr(annotation, "__args__", ()) if _is_table(a)]
    is_union = type(None) in getattr(annotation, "__args__", ())
    return tables[0] if is_union and tables else annotation


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
