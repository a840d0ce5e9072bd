"""Lines that a person or a program writes → what they ask for. Pure: no terminal, no store.

A line is a word and perhaps more (`reject wrong customer`), or a JSON object with the same in it
(`{"answer": "reject", "text": "wrong customer", "call": "1a2b3c4d"}`). What is not understood
asks for nothing: no word, a misspelt word and an empty line decide nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput
from core.inputs import canonical_input, parse_input

MAX_LINE = 256 * 1024
"""Most characters of a line; the longest input that people may judge fits."""

_CODE = re.compile(r"#?([0-9a-fA-F]{4,64})")


class Word(StrEnum):
    """What a person can say to a question, a task or a reply."""

    APPROVE = "approve"
    MODIFY = "modify"
    REJECT = "reject"
    ALWAYS = "always"
    REVIEW = "review"
    DONE = "done"
    AGAIN = "again"
    ABANDON = "abandon"
    CLAIM = "claim"
    RETURN = "return"
    FULFIL = "fulfil"
    LATER = "later"
    CANCEL = "cancel"
    STOP = "stop"
    HELP = "help"
    QUIT = "quit"


SPELLINGS: Mapping[str, Word] = {
    **{word.value: word for word in Word},
    "a": Word.APPROVE,
    "m": Word.MODIFY,
    "r": Word.REJECT,
    "v": Word.REVIEW,
    "l": Word.LATER,
    "f": Word.FULFIL,
    "c": Word.CLAIM,
    "q": Word.QUIT,
    "?": Word.HELP,
    "edit": Word.MODIFY,
    "fulfill": Word.FULFIL,
    "exit": Word.QUIT,
}
"""Every spelling; one letter only for what needs no second thought."""


@dataclass(frozen=True, slots=True)
class Said:
    """One understood line.

    Attributes:
        text: the rest of the line: a reason, a person's answer to a task.
        input: a changed input, or a task's result, as JSON text; from JSON lines only.
        call: the code of the call it is about; empty: the one that was asked about.
        tool: if not empty, the line is only good for a call of this tool.
        rules: numbers (from 1) of the offered rules that were ticked.
        reviewed: the writer states that every page was read.
    """

    word: Word
    text: str = ""
    input: str | None = None
    call: str = ""
    tool: str = ""
    rules: tuple[int, ...] = ()
    reviewed: bool = False


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A line that asks for nothing; `why` is for its writer."""

    why: str


class _Line(BaseModel):
    """A JSON line."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer: str
    text: str = ""
    input: dict[str, Any] | str | None = None
    call: str = ""
    tool: str = ""
    rules: list[int] = Field(default_factory=list[int])
    reviewed: bool = False


def read_line(line: str) -> Said | NotUnderstood:
    """What a line asks for."""
    line = line.strip()
    if len(line) > MAX_LINE:
        return NotUnderstood(f"The line has more than {MAX_LINE} characters.")
    if not line:
        return NotUnderstood("Nothing was said, so nothing was decided. Say ? for help.")
    return _read_json(line) if line.startswith("{") else _read_words(line)


def _read_words(line: str) -> Said | NotUnderstood:
    first, _, rest = line.partition(" ")
    word = SPELLINGS.get(first.lower().rstrip("…."))
    if word is None:
        return NotUnderstood(f"{first[:20]!a} is not an answer here. Say ? for help.")
    rest = rest.strip()
    if word is Word.MODIFY and rest.startswith("{"):
        return Said(word, input=rest)
    if word is Word.ALWAYS:
        return _ticked(rest)
    return Said(word, text=rest)


def _ticked(rest: str) -> Said | NotUnderstood:
    numbers = rest.replace(",", " ").split()
    if not all(number.isascii() and number.isdigit() and len(number) < 4 for number in numbers):
        return NotUnderstood("Say always and the numbers of the rules, as in: always 1 2")
    return Said(Word.ALWAYS, rules=tuple(int(number) for number in numbers))


def _read_json(line: str) -> Said | NotUnderstood:
    try:
        parsed = _Line.model_validate(parse_input(line))
    except InvalidInput as error:
        return NotUnderstood(str(error))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return NotUnderstood(f"{place[:40]!a}: {first['msg'].lower()}.")
    word = SPELLINGS.get(parsed.answer.lower())
    if word is None:
        return NotUnderstood(f"{parsed.answer[:20]!a} is not an answer. Say ? for help.")
    code = read_code(parsed.call) if parsed.call else ""
    if code is None:
        return NotUnderstood('"call" is the code on the card: 8 hexadecimal digits.')
    given = parsed.input
    return Said(
        word=word,
        text=parsed.text,
        input=canonical_input(given) if isinstance(given, dict) else given,
        call=code,
        tool=parsed.tool,
        rules=tuple(parsed.rules),
        reviewed=parsed.reviewed,
    )


def read_code(text: str) -> str | None:
    """The code of a call as people write it (`#1A2B-3C4D`), or None if it is none."""
    match = _CODE.fullmatch(text.strip().replace("-", ""))
    return match.group(1).lower() if match else None
