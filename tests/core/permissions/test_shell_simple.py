"""Plain commands are read without a grammar; the grammar would read the same."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.permissions.shell.programs import ShellText, lists_by_grammar
from core.permissions.shell.simple import plain_words
from core.permissions.shell.words import NotPlain, read_by_grammar, read_commands

NAMES = ["if", "time", "coproc", "declare", "export", "unset", "let", "test", "git", "ls", "in"]
ODD = ["2", "0x1", "1a", "-", "--", "-n", "a=b", "=x", "x=", "==", ".", "..", "/", "./x", "//"]
WORDS = st.one_of(
    st.text("abzAZ019_./:@%+,=-", min_size=1, max_size=8),
    st.sampled_from([*NAMES, *ODD, "%1", "@", "+", ",", ":", "::", "a:b", "--f=x"]),
)
COMMANDS = st.lists(WORDS, min_size=1, max_size=6).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "  "]), min_size=len(words) - 1, max_size=len(words) - 1
    ).map(lambda gaps: "".join(w + g for w, g in zip(words, [*gaps, ""], strict=True)))
)


@given(COMMANDS)
@example("git status --short")
@example("time ls")
@example("2 x")
@example("a.b=c d")
def test_the_grammar_reads_a_plain_command_the_same(command: str) -> None:
    """Wherever the short way answers, the long way gives the same words."""
    if plain_words(command) is None:
        return
    assert read_commands(command) == read_by_grammar(command)
    lists, bodies = lists_by_grammar(ShellText(command, 0), time.monotonic() + 5)
    assert (lists, bodies) == ([list(plain_words(command) or ())], [])


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ls",
        "ls ",
        "ls\tx",
        "ls\nx",
        "ls *",
        "ls ~",
        "ls {a,b}",
        "ls 'x'",
        "ls $x",
        "ls > x",
        "a=b ls",
        "-n x",
        "time ls",
        "export A=1",
        "ls é",
        "ls !x",
        "ls #x",
        "ls ^x",
        "ls [x]",
        "ls\\ x",
        "ls;x",
        "ls&",
        "ls|x",
        "ls (x)",
        "ls `x`",
        "ls \u00a0x",
        "ls" + " " * 9 + "x",
    ],
)
def test_anything_more_goes_the_long_way(command: str) -> None:
    """One character that a shell may read is enough."""
    assert plain_words(command) is None


def test_a_long_plain_command_is_still_too_long() -> None:
    """The limits hold on both ways."""
    with pytest.raises(NotPlain):
        read_commands("ls " + "x" * 9000)
