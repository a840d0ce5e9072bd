"""The syntax tree of shell text, with the parser's time and memory bounded."""

import time
from collections.abc import Iterator
from typing import Final

import tree_sitter
import tree_sitter_bash

MAX_PIPES: Final = 1024
"""Most bars in a text that is parsed; the parser's time and memory grow with their square."""

_LANGUAGE: Final = tree_sitter.Language(tree_sitter_bash.language())


class TooSlow(Exception):
    """The parser needs more time than any ordinary command does."""


def parse(source: bytes, until: float | None = None) -> tree_sitter.Node:
    """The root of the syntax tree of `source`; look at `has_error`.

    The grammar needs quadratic time for some inputs, so it is given a deadline: `until` on
    `time.monotonic`, by default `deadline` for this source. Missing it never allows anything.
    Long pipelines are refused before, because there the deadline is not looked at.

    Raises:
        TooSlow: the deadline passed, or would.
    """
    if _pipes(source) > MAX_PIPES:
        raise TooSlow
    limit = deadline(len(source)) if until is None else until
    view = memoryview(source)
    parser = tree_sitter.Parser(_LANGUAGE)

    def read(offset: int, _point: object) -> memoryview:
        return view[offset:]

    def is_late(_offset: int, _has_error: bool) -> bool:
        return time.monotonic() > limit

    try:
        return parser.parse(read, progress_callback=is_late).root_node
    except ValueError:
        raise TooSlow from None


def _pipes(source: bytes) -> int:
    """The bars that could join commands; the rows of a table in a here-document do not count."""
    if source.count(b"|") <= MAX_PIPES:
        return 0
    rows = (line for line in source.split(b"\n") if line[:1] == b"|")
    return source.count(b"|") - sum(row.count(b"|") for row in rows if row.count(b"|") <= 32)


def deadline(size: int) -> float:
    """When a source of `size` bytes must be read: ten times what ordinary text needs."""
    return time.monotonic() + 0.05 + size * 10e-6


def leaves(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes without children, in the order of the text (no recursion: trees can be deep)."""
    stack = [root]
    while stack:
        node = stack.pop()
        children = node.children
        if children:
            stack.extend(reversed(children))
        else:
            yield node
