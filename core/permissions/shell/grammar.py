"""The syntax tree of shell text, with the parser's time and memory bounded."""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import tree_sitter
import tree_sitter_bash

MAX_PIPES: Final = 1024
"""Most bars in a text that is parsed; the parser's time and memory grow with their square."""

_KEPT: Final = 4
"""How many trees are kept: judging one command looks at its tree several times."""

_LANGUAGE: Final = tree_sitter.Language(tree_sitter_bash.language())


class TooSlow(Exception):
    """The parser needs more time than any ordinary command does."""


@lru_cache(maxsize=_KEPT)
def parse(source: bytes) -> tree_sitter.Node:
    """The root of the syntax tree of `source`; look at `has_error`.

    Raises:
        TooSlow: it takes longer than `deadline` grants, or would.
    """
    return parse_until(source, deadline(len(source)))


def parse_until(source: bytes, until: float) -> tree_sitter.Node:
    """The same with a deadline on `time.monotonic`, and the tree not kept.

    The grammar needs quadratic time for some inputs, hence the deadline. Missing it never allows
    anything. Long pipelines are refused before, because there the deadline is not looked at.

    Raises:
        TooSlow: the deadline passed, or would.
    """
    if _pipes(source) > MAX_PIPES:
        raise TooSlow
    view = memoryview(source)
    parser = tree_sitter.Parser(_LANGUAGE)

    def read(offset: int, _point: object) -> memoryview:
        return view[offset:]

    def is_late(_offset: int, _has_error: bool) -> bool:
        return time.monotonic() > until

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
