"""The sed scripts that do no more than print lines or replace text in place.

Source: agentscope 2.0 allows ``-n`` with ``Np`` or ``N,Mp``, and ``s`` with the delimiters
``/ | #`` and the flags ``g``, ``p`` and digits; sed's ``w`` and ``e`` write files and run programs.
"""

import re
from collections.abc import Sequence
from typing import Final

_FLAGS: Final = frozenset({"-n", "-E", "-i", "-nE", "-En", "-Ei"})
_PRINT: Final = re.compile(r"\d+(?:,\d+)?p")
_SUBSTITUTE: Final = re.compile(
    r"s(?P<d>[/|#])(?:(?!(?P=d))[^\\\n{}]|\\[^\n])*(?P=d)(?:(?!(?P=d))[^\\\n{}]|\\[^\n])*(?P=d)[gp0-9]*"
)


def sed_reason(arguments: Sequence[str]) -> str | None:
    """Why these arguments of sed must be asked about, or None when they are harmless."""
    scripts: list[str] = []
    operands: list[str] = []
    quiet = False
    words = iter(arguments)
    for word in words:
        if word == "-e":
            scripts.append(next(words, ""))
        elif word.startswith("-") and word != "-":
            if word not in _FLAGS:
                return "sed is used with an option that is not known to be harmless"
            quiet |= "n" in word
        else:
            operands.append(word)
    scripts = scripts or operands[:1]
    if not scripts:
        return "sed is used without a script"
    if all(_is_harmless(script, quiet=quiet) for script in scripts):
        return None
    return "sed is used with a script that is not known to be harmless"


def _is_harmless(script: str, *, quiet: bool) -> bool:
    return bool(quiet and _PRINT.fullmatch(script)) or bool(_SUBSTITUTE.fullmatch(script))
