"""What is left of a configuration when the misshapen parts are taken out.

So that one pass reports mistakes of shape and mistakes of names together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from bot.settings.lines import Path


@dataclass(frozen=True, slots=True)
class Remains:
    """`data` without the paths in `taken`; indexes of lists have moved up.

    `meant` are those of them that the file needs to say something; the rest are unknown keys.
    """

    data: dict[str, Any]
    taken: frozenset[Path]
    meant: frozenset[Path]

    def misled(self, path: Path) -> bool:
        """Whether a finding at `path` may only be due to what was taken out."""
        place = self.original(path)
        return any(
            (len(gone) <= 2 and gone[:1] in _NAMED) or gone[:-1] == place[: len(gone) - 1]
            for gone in self.meant
        )

    def original(self, path: Path) -> Path:
        """`path` with the indexes that it has in the file."""
        real: Path = ()
        for part in path:
            real = (*real, self._moved(real, part) if isinstance(part, int) else part)
        return real

    def _moved(self, place: Path, index: int) -> int:
        gone = sorted(path[-1] for path in self.taken if path[:-1] == place)
        for other in gone:
            if isinstance(other, int) and other <= index:
                index += 1
        return index


_NAMED: tuple[Path, ...] = (("agents",), ("approvers",), ("people",), ("tasks",), ("mcp",))
"""Tables whose entries are named elsewhere: without one, names elsewhere look wrong."""


def without(data: dict[str, Any], meant: Iterable[Path], unknown: Iterable[Path]) -> Remains:
    """`data` without what stands at these paths; of a missing key, without the table around it."""
    needed = frozenset({_present(data, path) for path in meant} - {()})
    taken = needed | frozenset(unknown)
    return Remains(cast("dict[str, Any]", _pruned(data, (), taken)), taken, needed)


def _present(data: Any, path: Path) -> Path:
    """The longest part of `path` that is there."""
    for length, part in enumerate(path):
        inside = _parts(data)
        if part not in inside:
            return path[:length]
        data = inside[part]
    return path


def _pruned(data: Any, place: Path, taken: frozenset[Path]) -> Any:
    left = {
        part: _pruned(value, (*place, part), taken)
        for part, value in _parts(data).items()
        if (*place, part) not in taken
    }
    if isinstance(data, dict):
        return left
    return list(left.values()) if isinstance(data, list) else data


def _parts(data: Any) -> dict[str | int, Any]:
    """What a table or an array holds, by key or index."""
    if isinstance(data, dict):
        return cast("dict[str | int, Any]", data)
    if not isinstance(data, list):
        return {}
    return {index: data[index] for index in range(len(cast("list[object]", data)))}
