"""The commonest command of all: one program and plain words, with nothing in it that a shell reads.

For such a text bash's words are the text cut at its blanks, so no grammar is needed to read it.
That the grammar reads the same is a test.
"""

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_./][\w./-]*(?: {1,8}[\w./:,-][\w./:=,-]*)*", re.ASCII)
# Words that are no program's name, or that bash's grammar gives a form of their own.
_FORMS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac"}
    | {"in", "select", "function", "time", "coproc", "declare", "typeset", "export", "readonly"}
    | {"local", "unset", "unsetenv", "let", "test"}
)


def plain_words(command: str) -> tuple[str, ...] | None:
    """The words of a command that is a program's name and plain words; none if it is more."""
    if not _PLAIN.fullmatch(command):
        return None
    words = tuple(command.split())
    return None if words[0] in _FORMS else words
