"""Safe display: what is shown is all there is."""

import html
import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.inputs import Json
from core.text import discord_block, for_discord, for_slack, is_hidden, one_line, show, show_value
from core.text.display import cut
from core.text.marks import find_marks, pieces
from tests.cases import rows
from tests.core.test_inputs import json_values

# Characters that the drawing cares about, so that random texts hit its rules.
tricky = st.text(
    st.sampled_from(
        list("ab<>U+0123456789 \n\\│`@#[](){}&:\"'_-/.\t\r\0\u202e\u200b\u0301\u0430\u00e9\u05d0日")
    )
    | st.characters()
)
lumps = st.sampled_from(
    ["<U+202E>", "<12 blanks>", "<1 blank>", "<empty>", "<secret: token", " " * 9, "\n", "\\n",
     "\n2│ ", "2│ ", "e\u0301",  "\u0301" * 9, "\u0430pt",
     "<5 combining marks>", "<9 more characters>"]
)  # fmt: skip
texts = st.lists(tricky | lumps, max_size=8).map("".join)

DISPLAY_ROWS = rows("security_cases.jsonl", "display")


def _argument(row: dict[str, Any]) -> str:
    arg = row["input"]["arg"]
    if isinstance(arg, str):
        return arg
    middle = arg["length"] - len(arg["prefix"]) - len(arg["suffix"])
    return str(arg["prefix"] + "A" * middle + arg["suffix"])


def _on(surface: str, text: str) -> str:
    if surface == "web":
        return html.escape(text)
    return for_slack(text) if surface == "slack" else discord_block(text)


@pytest.mark.parametrize("row", DISPLAY_ROWS, ids=lambda row: str(row["id"]))
@pytest.mark.parametrize("surface", ["slack", "discord", "web"])
def test_each_known_text_is_shown_as_it_must_be(row: dict[str, Any], surface: str) -> None:
    """Every row: what must and must not appear, the flags, one click or review."""
    expected = row["expected"]

    shown = show(_argument(row))
    drawn = shown.plain()

    assert all(part in drawn for part in expected["must_contain"])
    assert not any(part in _on(surface, drawn) for part in expected["must_not_contain"])
    assert list(shown.flags) == expected["flags"]
    assert shown.one_click is expected["one_click_approve"]
    assert not any(entity in _on(surface, drawn) for entity in expected.get("no_live_entity", ()))


@given(texts)
def test_nothing_invisible_is_ever_shown(text: str) -> None:
    """No control, format, filler or odd blank survives; the only line breaks are our own."""
    for drawn in (show(text).plain(), show(text, limit=40).plain(), one_line(text, limit=20)):
        assert not any(is_hidden(character) for character in drawn.replace("\n", ""))
    assert "\n" not in one_line(text)


@given(texts)
def test_what_one_click_may_approve_can_be_read_back(text: str) -> None:
    """The drawing is reversible wherever one click is enough: two texts never look the same."""
    shown = show(text)

    if shown.one_click:
        assert _undrawn(shown.text) == text


@given(texts)
def test_what_needs_a_review_can_be_read_back_in_full(text: str) -> None:
    """With nothing summed up or cut, any text whatever can be read back."""
    drawn = "".join(piece.drawn for piece in pieces(text, find_marks(text, summed=False)))

    assert _undrawn(drawn) == text


def _undrawn(drawn: str) -> str:
    """The text that was drawn: written apart from the drawing, as a reader would do it."""
    if drawn in ("", "<empty>"):
        return ""
    if "\n" in drawn:
        lines = drawn.split("\n")
        numbered = [line.removeprefix(f"{number}│ ") for number, line in enumerate(lines, 1)]
        drawn = "\n".join([*(line.removesuffix("\\n") for line in numbered[:-1]), numbered[-1]])

    def original(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else " " * int(match[2])

    return re.sub(r"<U\+([0-9A-F]{4,6})>|<(\d+) blanks?>", original, drawn)


@given(json_values, json_values)
def test_two_different_arguments_never_look_the_same(one: Json, two: Json) -> None:
    """Also across types: the number 5 and the text "5" are written differently."""
    first, second = show_value(("x",), one), show_value(("x",), two)

    if json.dumps(one) != json.dumps(two) and first.one_click and second.one_click:
        assert first.text != second.text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ls -la", "ls -la"),
        (5, "5"),
        ("5", '"5"'),
        (None, "null"),
        ("null", '"null"'),
        ("", "<empty>"),
        ('["a"]', '"[\\"a\\"]"'),
        (["a", {"b": True}], '["a", {"b": true}]'),
        ("a\\nb", "a\\nb"),
        ("a\nb", "1│ a\\n\n2│ b"),
        ("git ", "git<1 blank>"),
        ("a        b", "a<8 blanks>b"),
        ("see <U+202E>", "see <U+003C>U+202E>"),
        ("x<12 blanks>", "x<U+003C>12 blanks>"),
        ("if a <b then", "if a <b then"),
    ],
)
def test_an_argument_is_written_plainly(value: Json, text: str) -> None:
    """Strings stand bare unless they could be taken for something else."""
    shown = show_value(("x",), value)

    assert shown.text == text
    assert shown.one_click


def test_a_nul_inside_a_value_is_seen() -> None:
    """Also where JSON would have hidden it behind an escape of its own."""
    flat, nested = show_value(("x",), "a\0b"), show_value(("x",), ["a\0b"])

    assert "<U+0000>" in flat.text
    assert "<U+0000>" in nested.text
    assert not flat.one_click
    assert not nested.one_click


@pytest.mark.parametrize(
    "text",
    [
        "\uff52m -rf x",  # fullwidth r
        "\u0455\u0443\u0455tem",  # Cyrillic letters before Latin ones
        "curl https://\u0430\u0440\u0440\u04cf\u0435.com",  # a host of look-alikes
        "\u0441\u043e\u0440\u0443 a b",  # a whole Cyrillic word that reads "copy"
        "\u0455\u0578d\u03bf",  # three scripts
        "\U0001d42b\U0001d426 -rf",  # mathematical bold
        "g\u0261it",  # phonetic g
    ],
)
def test_letters_that_pose_as_others_are_drawn_as_tokens(text: str) -> None:
    """A word that mixes scripts, a look-alike host, and a word of look-alikes alone."""
    shown = show(text)

    assert "mixed_script" in shown.flags
    assert "<U+" in shown.text
    assert not shown.one_click


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'Исправить отчёт за год'",
        "отчёт.pdf",
        "so is the café in Zürich, naïve Łódź",
        "使用Python编写的脚本",
        "日本語のREADMEを更新",
        "5 µs, 10 Ω, 3 m², \u03b1 = 0.05",
        "Κατάσταση",
        "“quotes” \u2013 dashes — and … ✅ 🎉",
        "ＡＢＣ株式会社",
        "नमस्ते दुनिया",
        "שלום עולם",
    ],
)
def test_other_languages_keep_one_click(text: str) -> None:
    """Too strict is a fault as well: plain text of a language is shown as it is."""
    shown = show(text)

    assert shown.text == text
    assert shown.one_click, shown.flags


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("a" + " " * 64 + "b", "blank_run"),
        ("\n" * 20, "many_lines"),
        ("pay 100 \u05d0 200", "mixed_direction"),
        ("\u0301x", "hidden_characters"),
        ("a\u0301" * 3 + "b\u0301\u0301\u0301\u0301\u0301", "combining_flood"),
        ("tab\there", "hidden_characters"),
        ("\U000e0041", "hidden_characters"),
    ],
)
def test_what_misleads_withholds_one_click(text: str, flag: str) -> None:
    """Each of these needs a review."""
    shown = show(text)

    assert flag in shown.flags
    assert not shown.one_click


@given(texts, st.integers(30, 200))
def test_a_cut_is_named_and_never_tears_a_token(text: str, limit: int) -> None:
    """What is left out is counted; the drawing keeps to its room."""
    drawn, left = cut(pieces(text, find_marks(text)), limit)

    assert len(drawn) <= limit
    assert (left > 0) is drawn.endswith(f"<{left} more characters>")
    if left:
        assert re.search(r"<U\+[0-9A-F]*(?![0-9A-F>])", drawn) is None


@given(texts)
def test_slack_finds_nothing_to_parse(text: str) -> None:
    """Escaped text has no entity start, and unescapes to what was drawn."""
    drawn = show(text).text
    escaped = for_slack(drawn)

    assert "<" not in escaped
    assert ">" not in escaped
    assert html.unescape(escaped) == drawn


@given(texts)
def test_discord_finds_no_end_of_the_code_block(text: str) -> None:
    """No backtick and no live mention is left, and nothing invisible was added."""
    escaped = for_discord(show(text).text)

    assert "`" not in escaped
    assert re.search(r"@(everyone|here)|<[@#]", escaped, re.IGNORECASE) is None
    assert all(unicodedata.category(character) != "Cf" for character in escaped)


@pytest.mark.parametrize(
    "text",
    ["<@123>", "<@&1>", "<#1>", "@everyone", "<:x:1>", "<a:x:1>", "<t:0:R>", "</cmd:1>",
     "<id:guide>", "[bank](https://evil.example)", "<https://evil.example>"],
)  # fmt: skip
def test_live_entities_of_discord_are_broken(text: str) -> None:
    """Each loses its first character to a visible token."""
    assert text not in for_discord(text)
    assert "<U+00" in for_discord(text)


def test_html_and_code_stay_readable_on_discord() -> None:
    """Only what Discord would read as its own is changed."""
    text = "<div class=a></div> x < y && a[0](1) <!-- c -->"

    assert for_discord(text) == text


def test_a_title_is_one_line_and_says_when_it_is_cut() -> None:
    """Titles summarise; they never break lines and never cut silently."""
    assert one_line("a\nb") == "a\\nb"
    assert one_line("x" * 200, limit=10) == "x" * 9 + "…"
    assert one_line("") == "<empty>"
