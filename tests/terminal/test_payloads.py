"""Lines → answers: what is not understood asks for nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.terminal.payloads import (
    MAX_LINE,
    SPELLINGS,
    NotUnderstood,
    Said,
    Word,
    read_code,
    read_line,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a", Said(Word.APPROVE)),
        ("Approve", Said(Word.APPROVE)),
        ("  reject  wrong customer ", Said(Word.REJECT, "wrong customer")),
        ("r", Said(Word.REJECT)),
        ("always 2, 1", Said(Word.ALWAYS, rules=(2, 1))),
        ("fulfil badge 17 is out", Said(Word.FULFIL, "badge 17 is out")),
        ('modify {"a": 1}', Said(Word.MODIFY, input='{"a": 1}')),
        ("later", Said(Word.LATER)),
        (
            '{"answer": "modify", "input": {"b": "x"}, "call": "#1A2B-3C4D"}',
            Said(Word.MODIFY, input='{"b":"x"}', call="1a2b3c4d"),
        ),
        ('{"answer": "approve", "reviewed": true}', Said(Word.APPROVE, reviewed=True)),
    ],
)
def test_words_and_json_say_the_same_things(line: str, expected: Said) -> None:
    """A person writes words, a program JSON."""
    assert read_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "y",
        "yes",
        "ok",
        "approved",
        "appove",
        "approve".encode("utf-16").decode("latin-1"),
        "аpprove",  # noqa: RUF001 - a Cyrillic letter
        "always x",
        "{",
        "{}",
        '{"answer": "yes"}',
        '{"answer": "approve", "answer": "reject"}',
        '{"answer": "approve", "revision": 3}',
        '{"answer": "approve", "reviewed": "true"}',
        '{"answer": "approve", "call": "everything"}',
        "approve" + " " * MAX_LINE + "x",
    ],
)
def test_what_is_not_understood_decides_nothing(line: str) -> None:
    """No line, a near miss and a malformed object are no answers, and say so."""
    read = read_line(line)

    assert isinstance(read, NotUnderstood)
    assert read.why


@given(st.text(max_size=200))
def test_any_line_is_an_answer_or_is_refused(line: str) -> None:
    """Nothing that is typed can break the reader, or approve unless it begins with the word."""
    read = read_line(line)

    if isinstance(read, Said) and read.word is Word.APPROVE:
        first = line.strip().split(" ")[0].lower().rstrip("….")
        assert SPELLINGS.get(first) is Word.APPROVE


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_json_is_an_answer_or_is_refused(value: object) -> None:
    """A program may send anything."""
    assert isinstance(read_line(json.dumps({"answer": value})), Said | NotUnderstood)


def test_codes_are_read_as_people_write_them() -> None:
    """With or without mark and dash, in either case; nothing shorter than four digits."""
    assert read_code("#1A2B-3C4D") == "1a2b3c4d"
    assert read_code("1a2b") == "1a2b"
    assert read_code("1a2") is None
    assert read_code("1a2g3c4d") is None
