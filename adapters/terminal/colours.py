"""Colour for a terminal that has it. Never the only carrier of a meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Palette:
    """How to paint; off, it leaves text as it is."""

    on: bool = False

    def paint(self, text: str, colour: str) -> str:
        """`text` in a colour of ours, or as it is. Paint only what `safe` has let through."""
        if not (self.on and text and colour):
            return text
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def palette_for(stream: TextIO, environment: Mapping[str, str]) -> Palette:
    """Colour only on a terminal that wants it. Source: no-color.org."""
    wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return Palette(wanted and stream.isatty())
