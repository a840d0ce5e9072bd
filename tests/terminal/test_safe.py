"""Nothing of others reaches the terminal raw, and nothing of it gets lost on the way."""

import io
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from adapters.terminal.channel import Activity, Console
from adapters.terminal.colours import Palette, palette_for
from adapters.terminal.safe import columns, printable, wrap
from core.events import TextBlockDeltaEvent, TextBlockEndEvent
from core.text import is_hidden

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\b\x00"
HOSTILE = st.text(
    alphabet=st.sampled_from(
        "ab <é漢\n" + "\x1b\x07\r\t\x00\x9b\u202e\u200b\u2066\ufe0f\u00a0\u0301"
    ),
    max_size=80,
)


def test_escape_sequences_are_drawn() -> None:
    """A terminal that gets them would obey."""
    assert "\x1b" not in printable(ESCAPES)
    assert "<U+001B>[2J" in printable(ESCAPES)


@given(HOSTILE)
def test_no_hidden_character_is_ever_printed(text: str) -> None:
    """Whatever is written, each character on the screen is one that can be seen."""
    assert not any(is_hidden(character) for line in wrap(text, 20) for character in line)


@given(HOSTILE, st.integers(min_value=4, max_value=40))
def test_wrapping_keeps_everything_but_blanks(text: str, width: int) -> None:
    """A long word is broken, never cut; a break may eat the one blank it stands at."""
    lines = wrap(text, width)

    whole = "".join(printable(part) for part in text.split("\n"))
    assert "".join(lines).replace(" ", "") == whole.replace(" ", "")


@given(HOSTILE, st.integers(min_value=4, max_value=40))
def test_lines_are_no_wider_than_asked(text: str, width: int) -> None:
    """Wide characters count twice, combining ones not at all."""
    assert all(columns(line) <= width for line in wrap(text, width))


def test_width_knows_wide_and_combining_characters() -> None:
    """East Asian letters take two columns."""
    assert columns("漢字") == 4
    assert columns("e\u0301") == 1
    assert unicodedata.combining("\u0301")


def test_a_console_paints_only_behind_the_door() -> None:
    """The only escape sequences on the screen are our own colours."""
    stream = io.StringIO()

    Console(stream, Palette(on=True), fixed_width=60).write(ESCAPES, "red")

    assert set(re.findall(r"\x1b[^m]*m", stream.getvalue())) == {"\x1b[31m", "\x1b[0m"}


def test_the_model_s_text_is_drawn_even_when_it_comes_in_pieces() -> None:
    """An escape sequence that is cut in two is none of ours either."""
    stream = io.StringIO()
    activity = Activity(Console(stream, fixed_width=60))

    for delta in ("fine\x1b", "[31mred\nnext", "\x07"):
        activity.on(TextBlockDeltaEvent(reply_id="r", block_id="b", delta=delta))
    activity.on(TextBlockEndEvent(reply_id="r", block_id="b"))

    assert stream.getvalue() == "fine<U+001B>[31mred\nnext<U+0007>\n"


def test_colour_is_off_without_a_terminal_or_with_no_color() -> None:
    """A pipe gets plain text; so does who asks for it."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert palette_for(Terminal(), {}).on
    assert not palette_for(io.StringIO(), {}).on
    assert not palette_for(Terminal(), {"NO_COLOR": "1"}).on
    assert not palette_for(Terminal(), {"TERM": "dumb"}).on
