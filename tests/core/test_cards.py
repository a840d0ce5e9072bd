"""The neutral card: order, words, buttons, and what may be judged at a glance."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards import (
    MAX_JUDGED_BYTES,
    PAGE_CHARACTERS,
    CallView,
    Card,
    CardState,
    build_card,
    check_judgeable,
    review_pages,
)
from core.digest import Action
from core.errors import InvalidInput
from core.inputs import Json
from core.text import is_hidden
from tests.core.test_inputs import json_objects
from tests.core.test_text import texts

NOW = 52_000_000
VIEW = CallView(
    tool="refund",
    agent="billing-bot",
    requester="ana",
    raw_input='{"amount": "€120.50", "customer": "8841", "note": "late"}',
    input={"amount": "€120.50", "customer": "8841", "note": "late"},
    digest="6f3c91de" + "0" * 56,
    revision=1,
    risk="medium",
    approvers="Payments approvers",
    title_template="Refund {amount} to {customer}",
    destination=("customer",),
    deadline=NOW + 720_000,
    asked_at=NOW - 60_000,
    why="Rule payments-over-100 asks a person",
)


def _card(view: CallView = VIEW, **changed: Any) -> Card:
    return build_card(replace(view, **changed), NOW)


def _with(value: Json, name: str = "note") -> CallView:
    return replace(VIEW, input={**VIEW.input, name: value})


def _actions(card: Card, *, in_menu: bool = False) -> list[Action]:
    return [button.action for button in card.buttons if button.in_menu is in_menu]


def test_the_title_is_verb_object_and_place() -> None:
    """From the template and the arguments."""
    assert _card().title == "Refund €120.50 to 8841"


@pytest.mark.parametrize(
    ("tool", "value", "title"),
    [
        ("Bash", {"command": "rm -rf build"}, "Run Bash: rm -rf build"),
        ("Write", {"file_path": "a.py", "content": "x"}, "Write a.py"),
        ("Write", {"path": "a.py"}, "Run Write: a.py"),
        ("new_issue", {"title": "Slow", "team": "pay", "n": 1}, "Run new_issue: Slow, pay"),
        ("ping", {}, "Run ping"),
    ],
)  # fmt: skip
def test_a_tool_without_a_template_gets_a_title(
    tool: str, value: dict[str, Json], title: str
) -> None:
    """The fallback still says what happens to what."""
    assert _card(tool=tool, title_template=None, destination=(), input=value).title == title


@pytest.mark.parametrize(
    ("template", "title"),
    [
        ("Pay {amount.__class__}", "Pay (none)"),
        ("Pay {0}", "Pay (none)"),
        ("Pay {amount!r:>99}", "Pay (none)"),
        ("Pay {}", "Pay {}"),
        ("Pay {{amount}}", "Pay {€120.50}"),
        ("Pay {amount", "Pay {amount"),
    ],
)
def test_a_template_reaches_arguments_only(template: str, title: str) -> None:
    """No attributes, no formats: what is no argument's name is no value."""
    assert _card(title_template=template).title == title


def test_values_in_a_title_can_not_break_out_of_it() -> None:
    """No line break, no hidden character, no secret, no end of the title."""
    hostile = _with("a\nb\u202e" + "x" * 500, "amount")
    secret = _with("gh" + "p_" + "a1B2" * 9, "customer")

    assert build_card(hostile, NOW).title.startswith("Refund a\\nb<U+202E>xxx")
    assert len(build_card(hostile, NOW).title) <= 150
    assert "a1B2" not in build_card(secret, NOW).title


def test_the_agents_words_never_reach_the_title_and_come_last() -> None:
    """A claim is a claim: apart, drawn safely, after everything that was checked."""
    card = _card(claim="just lists files\u200b")
    fields = list(Card.__dataclass_fields__)

    assert "lists" not in card.title + card.fallback + card.why
    assert card.claim is not None
    assert card.claim.text == "just lists files<U+200B>"
    assert not card.needs_review
    assert fields.index("claim") > fields.index("arguments")


def test_what_the_agent_says_about_itself_changes_nothing() -> None:
    """An argument or claim "read_only" neither lowers the risk nor the asking."""
    card = _card(claim="this is read-only", input={**VIEW.input, "read_only": True}, risk="high")

    assert card.risk == "high"
    assert "read_only" in [row.label for row in card.arguments]
    assert Action.APPROVE in _actions(card)


def test_a_plain_call_has_four_buttons_at_most_in_this_order() -> None:
    """Approve once, Modify…, Reject…; the rest is in the menu, never beside Approve."""
    card = _card(offered_rules=("refund up to €200 for a day",))

    assert _actions(card) == [Action.APPROVE, Action.MODIFY, Action.REJECT]
    assert _actions(card, in_menu=True) == [Action.ALWAYS, Action.REVIEW]
    assert [b.label for b in card.buttons[:3]] == ["Approve once", "Modify…", "Reject…"]
    assert not any(button.style == "primary" for button in card.buttons)


def test_always_is_offered_only_where_it_can_work() -> None:
    """Without a rule to offer there is no such button."""
    assert Action.ALWAYS not in [button.action for button in _card().buttons]


@pytest.mark.parametrize(
    "value",
    [
        "a\u200bb",
        "x" * 3001,
        "x\n" * 30,
        "token=hunter2",
        ["x\0"],
        {"k\u202e": 1},
        " " * 70,
    ],
)
def test_what_can_not_be_judged_at_a_glance_has_review_instead_of_approve(value: Json) -> None:
    """Cut, masked or drawn as a token: Review… takes the place of Approve, Reject stays."""
    card = build_card(_with(value), NOW)

    assert card.needs_review
    assert card.review_reasons
    assert _actions(card) == [Action.REVIEW, Action.MODIFY, Action.REJECT]
    assert Action.APPROVE not in [button.action for button in card.buttons]


def test_odd_names_of_arguments_and_context_need_a_review_too() -> None:
    """Nothing hides in a label, and a working directory is shown like an argument."""
    assert _card(input={"a\u200b": 1}).needs_review
    assert _card(input={"x" * 61: 1}).needs_review
    assert _card(context={"cwd": "/srv/\u202ework"}).needs_review
    assert not _card(context={"cwd": "/srv/work"}).needs_review


def test_too_many_arguments_need_a_review() -> None:
    """A card with 21 rows shows 20 and no Approve."""
    card = _card(input={f"k{number}": number for number in range(21)})

    assert len(card.arguments) == 20
    assert card.needs_review


def test_long_arguments_are_folded_and_destinations_never() -> None:
    """The longest go first, until the rest fits; a text that fits alone is not folded."""
    value: dict[str, Json] = {"body": "b " * 1300, "note": "n", "customer": "c" * 2000}

    card = _card(input=value)
    by_label = {row.label: row for row in card.arguments}

    assert card.arguments[0].label == "customer"
    assert not by_label["customer"].folded
    assert by_label["customer"].shown.text == "c" * 2000
    assert by_label["body"].folded
    assert not by_label["note"].folded
    assert card.needs_review
    assert not _card(input={"body": "b." * 1450}).needs_review


def test_the_fallback_text_holds_everything_but_arguments() -> None:
    """Push messages show title, risk, people, deadline, code and state, and no value."""
    card = _card(claim="claim words", result="result words", reason="reason words")

    for part in ("Refund … to …", "medium risk", "billing-bot", "ana", "in 12 min", "#6f3c-91de"):
        assert part in card.fallback
    assert "Waiting for Payments approvers" in card.fallback
    for part in ("120.50", "8841", "late", "words"):
        assert part not in card.fallback


def test_the_fallback_of_a_tool_without_template_is_its_name() -> None:
    """A title that is made of arguments is not for notifications."""
    view = replace(VIEW, tool="Bash", title_template=None, input={"command": "rm -rf build"})

    assert build_card(view, NOW).fallback.startswith("Run Bash · ")


@pytest.mark.parametrize("state", CardState)
def test_every_state_has_one_line_and_only_open_questions_have_buttons(state: CardState) -> None:
    """Text and sign for each state; a decided card has no live button."""
    card = _card(state=state, decided_by="ana", decided_at=NOW, duration=8_000, reason="no")

    assert all(line.strip() and line[-1] not in " :" for line in card.outcome)
    asked = (CardState.PENDING, CardState.TASK, CardState.UNKNOWN)
    assert bool(card.buttons) is (state in asked)
    assert card.arguments


def test_votes_are_counted_by_name() -> None:
    """One of two: who, and who is waited for."""
    card = _card(quorum=2, votes=("ana",))

    assert card.outcome == ("🔑 1 of 2 approved: ana. Waiting for Payments approvers.",)


def test_an_outcome_tells_the_whole_story() -> None:
    """Decision and run, each on its line."""
    card = _card(
        state=CardState.COMPLETED, decided_by="bo", decided_at=NOW + 132_000, duration=8_000
    )

    assert card.outcome == (
        "✅ Approved once by bo at 14:28 UTC · waited 3 min 12 s",
        "✔ Completed in 8 s.",
    )


def test_an_unknown_outcome_is_asked_and_nothing_is_repeated_by_itself() -> None:
    """People mark it done, run it again after a confirmation, or give it up."""
    card = _card(state=CardState.UNKNOWN, decided_by="bo")

    assert _actions(card) == [Action.MARK_DONE, Action.RUN_AGAIN, Action.ABANDON]
    assert [button.confirm for button in card.buttons[:3]] == [False, True, False]
    assert "Outcome unknown" in card.outcome[-1]


def test_an_edit_is_shown_as_a_difference_to_all() -> None:
    """Old and new of each field, who changed it, and all of the new input."""
    card = _card(
        previous={"amount": "€120.50", "customer": "8841", "gone": 1},
        edited_by="bo",
        input={"amount": "€100.00", "customer": "8841", "note": None},
    )

    changes = {
        row.label: (row.old and row.old.text, row.new and row.new.text) for row in card.changes
    }
    assert changes == {
        "/amount": ("€120.50", "€100.00"),
        "/gone": ("1", None),
        "/note": (None, "null"),
    }
    assert card.warnings[0].startswith("bo changed the input")
    assert len(card.arguments) == 3


def test_a_change_in_a_long_text_shows_the_place() -> None:
    """Not the beginning that is the same, and no half of a secret."""
    body = "a " * 400
    secret = "gh" + "p_" + "a1B2" * 9
    view = replace(VIEW, previous={"b": body + secret + "old" + body}, edited_by="bo")

    card = build_card(replace(view, input={"b": body + secret + " new " + body}), NOW)

    (row,) = card.changes
    assert row.old is not None
    assert row.new is not None
    assert " new " in row.new.text
    assert len(row.new.text) < 250
    assert "a1B2" not in row.old.text + row.new.text
    assert "from character" in row.label


def test_a_secret_stays_masked_in_every_part_of_a_card() -> None:
    """Title, arguments, changes, claim, result and fallback hold no part of it."""
    secret = "gh" + "p_" + "c4D5" * 9
    card = _card(
        input={"customer": secret, "amount": {"x": secret}},
        previous={"customer": "8841"},
        claim=f"using {secret}",
        result=f"done with {secret}",
        state=CardState.COMPLETED,
    )

    assert "c4D5" not in repr(card)


def test_high_risk_asks_for_the_code_and_a_confirmation() -> None:
    """And nothing of it is preselected."""
    card = _card(risk="high")

    assert card.retype
    assert card.buttons[0].confirm
    assert card.buttons[0].style == "plain"


def test_an_input_that_nobody_could_judge_is_refused_unseen() -> None:
    """Beyond 256 KB there is no card."""
    check_judgeable("x" * MAX_JUDGED_BYTES)
    with pytest.raises(InvalidInput):
        check_judgeable("é" * (MAX_JUDGED_BYTES // 2 + 1))


def test_the_argument_with_a_trailing_blank_is_shown_verbatim() -> None:
    """`"git "` is another program than `"git"`, and is seen to be."""
    flat, nested = build_card(_with("git "), NOW), build_card(_with(["git ", "x"]), NOW)

    assert flat.arguments[-1].shown.text == "git<1 blank>"
    assert nested.arguments[-1].shown.text == '["git ", "x"]'


def test_the_real_path_of_the_working_directory_is_on_the_card() -> None:
    """What was bound beside the input is shown beside the arguments."""
    card = _card(context={"cwd": "/srv/real", "program": "/usr/bin/git"})

    assert [(row.label, row.shown.text) for row in card.context] == [
        ("cwd", "/srv/real"),
        ("program", "/usr/bin/git"),
    ]


def test_the_review_holds_every_byte_in_pages() -> None:
    """Nothing is cut or summed up, each page fits, and secrets show only when revealed."""
    body = "line \u200b of text\n" * 1000
    view = replace(VIEW, input={"body": body, "z\u0301": "e" + "\u0301" * 9, "password": "hunter2"})

    pages = review_pages(view)
    whole = "".join(page.text for page in pages)

    assert all(len(page.text) <= PAGE_CHARACTERS for page in pages)
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert [page.last for page in pages] == [False] * (len(pages) - 1) + [True]
    assert whole.count("<U+200B>") == 1000
    assert whole.count("<U+0301>") == 9
    assert "more characters>" not in whole
    assert "hunter2" not in whole
    assert view.digest in pages[-1].text
    assert "hunter2" in "".join(page.text for page in review_pages(view, reveal=True))


@given(json_objects | st.dictionaries(texts, texts, max_size=4), texts)
def test_any_input_makes_a_card_and_a_review_without_anything_invisible(
    value: dict[str, Json], words: str
) -> None:
    """Whatever a model writes, the card is built, fits, and hides nothing."""
    view = replace(VIEW, input=value, claim=words, result=words, reason=words, agent=words)

    card = build_card(view, NOW)
    pages = review_pages(view, characters=400)

    shown = [card.title, card.fallback, card.agent, *card.outcome]
    shown += [row.label + row.shown.plain() for row in card.arguments]
    shown += [page.text for page in pages]
    assert not any(is_hidden(character) for text in shown for character in text.replace("\n", ""))
    assert all(len(page.text) <= 400 for page in pages)
    assert "\n" not in card.title + card.fallback
