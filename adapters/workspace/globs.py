"""Globs over the paths below a directory, as programmers write them."""

import re

from core.errors import ToolFailed


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for paths that are relative, with ``/`` between the names.

    ``*`` and ``?`` stay inside one name, ``**`` crosses names, ``[a-z]`` and ``[!a]`` are classes,
    ``{a,b}`` is either. Names that begin with a dot are like any other.

    Raises:
        ToolFailed: it is not a glob.
    """
    try:
        return re.compile(_translate(pattern.removeprefix("./")), re.DOTALL)
    except re.error as error:
        raise ToolFailed(f"The glob can't be read: {error.msg}.") from error


def anywhere(pattern: str) -> str:
    """A filter without a slash is for the name alone, in any directory."""
    return pattern if "/" in pattern else f"**/{pattern}"


_TOKEN = re.compile(r"(?P<deep>(?:^|(?<=/))\*\*/+)|\*+|\?|\[!?\]?[^\]/]*\]|[{},]|.", re.DOTALL)


def _translate(pattern: str) -> str:
    braces = pattern.count("{") == pattern.count("}")
    depth = 0
    parts: list[str] = []
    for match in _TOKEN.finditer(pattern):
        piece = match[0]
        if match["deep"]:
            parts.append("(?:[^/]+/)*")
        elif braces and piece in "{},":
            text, depth = _brace(piece, depth)
            parts.append(text)
        else:
            parts.append(_simple(piece))
    return "".join(parts) + r"\Z"


def _brace(piece: str, depth: int) -> tuple[str, int]:
    if piece == "{":
        return "(?:", depth + 1
    if depth == 0:
        return re.escape(piece), 0
    return ("|", depth) if piece == "," else (")", depth - 1)


def _simple(piece: str) -> str:
    if piece[0] == "*":
        return "[^/]*" if len(piece) == 1 else ".*"
    if piece == "?":
        return "[^/]"
    if len(piece) > 2 and piece[0] == "[":
        negated = piece[1] == "!"
        body = piece[2 if negated else 1 : -1].replace("\\", r"\\").replace("[", r"\[")
        return f"[{'^/' if negated else ''}{body.replace('^', chr(92) + '^')}]"
    return re.escape(piece)
