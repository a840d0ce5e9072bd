"""Long output keeps its head and its tail, and says exactly what is missing."""

import re

from hypothesis import given
from hypothesis import strategies as st

from adapters.workspace.capture import HEAD, TAIL, Capture


def feed(data: bytes, sizes: list[int]) -> tuple[str, int, str]:
    capture = Capture("standard output")
    head = ""
    position = 0
    for size in [*sizes, len(data)]:
        head += capture.feed(data[position : position + size])
        position += size
    rest, cut = capture.finish()
    return head, cut, rest


@given(text=st.text(max_size=400), sizes=st.lists(st.integers(1, 50), max_size=30))
def test_short_output_comes_whole(text: str, sizes: list[int]) -> None:
    """However it was split, characters across pieces included."""
    head, cut, rest = feed(text.encode(), sizes)

    assert head + rest == text
    assert cut == 0


@given(
    extra=st.integers(-20, 20),
    shift=st.integers(0, 3),
    character=st.sampled_from(["x", "é", "€", "🔑"]),
)
def test_long_output_is_cut_between_characters_and_counted(
    extra: int, shift: int, character: str
) -> None:
    """Head, a line that says how many bytes are missing, tail; no broken character, none lost."""
    width = len(character.encode())
    data = b"." * shift + character.encode() * ((HEAD + TAIL + 60 + extra) // width)

    head, cut, rest = feed(data, [7000] * 9)

    found = re.fullmatch(
        r"\n\[(\d+) bytes of standard output left out here\]\n(.*)", rest, re.DOTALL
    )
    assert found
    assert int(found[1]) == cut
    assert len(head.encode()) + cut + len(found[2].encode()) == len(data)
    assert "\ufffd" not in head + found[2]
    assert data.startswith(head.encode())
    assert data.endswith(found[2].encode())


def test_bytes_that_are_no_text_are_shown_as_replaced() -> None:
    """They do not stop the stream."""
    head, cut, rest = feed(b"a\xff\xfeb\xe2\x82", [1, 1])

    assert head + rest == "a\ufffd\ufffdb\ufffd"
    assert cut == 0
