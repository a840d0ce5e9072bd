"""Where two inputs differ: what a card shows after an edit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from core.inputs.reading import Json

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Change:
    """One place where two inputs differ.

    `pointer` is a JSON pointer (RFC 6901). `old` is None when added, `new` is None when removed;
    `kind` tells that apart from a change from or to JSON null.
    """

    pointer: str
    kind: Literal["added", "removed", "changed"]
    old: Json
    new: Json


def changes(old: Json, new: Json) -> tuple[Change, ...]:
    """Every place where `new` differs from `old`, in the order of `old`, then what is added.

    Types count: ``1``, ``1.0``, ``"1"`` and ``true`` are four different values.
    """
    return tuple(_differences("", old, new))


def _differences(pointer: str, old: Json, new: Json) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _by_key(pointer, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _by_key(pointer, _numbered(old), _numbered(new))
    elif type(old) is not type(new) or old != new:
        yield Change(pointer, "changed", old, new)


def _numbered(items: list[_T]) -> dict[str, _T]:
    return {str(index): item for index, item in enumerate(items)}


def _by_key(pointer: str, old: dict[str, Json], new: dict[str, Json]) -> Iterator[Change]:
    for key, value in old.items():
        place = f"{pointer}/{pointer_part(key)}"
        if key in new:
            yield from _differences(place, value, new[key])
        else:
            yield Change(place, "removed", value, None)
    for key, value in new.items():
        if key not in old:
            yield Change(f"{pointer}/{pointer_part(key)}", "added", None, value)


def pointer_part(key: str | int) -> str:
    """`key` as one part of a JSON pointer. Source: RFC 6901, section 3."""
    return str(key).replace("~", "~0").replace("/", "~1")


def pointer_parts(pointer: str) -> tuple[str, ...]:
    """The keys and indexes that a JSON pointer goes through. Source: RFC 6901, section 4."""
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)
