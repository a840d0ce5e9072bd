"""The sentences that people read."""

import pytest

from core import words
from core.digest import Action


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0, "less than 1 s"),
        (8_000, "8 s"),
        (192_000, "3 min 12 s"),
        (3_600_000, "1 h"),
        (3_605_000, "1 h"),
        (90_000_000, "1 d 1 h"),
        (-5, "less than 1 s"),
    ],
)
def test_a_duration_has_two_units_at_most(length: int, text: str) -> None:
    """Exact where it matters, short where it does not."""
    assert words.duration(length) == text


def test_every_button_has_a_label_that_fits() -> None:
    """Discord allows 80 characters, Slack 75; ours are short."""
    assert set(words.BUTTONS) == set(Action)
    assert all(0 < len(label) <= 30 for label in words.BUTTONS.values())


def test_a_refusal_says_who_what_and_what_to_do() -> None:
    """The private answers of the table, word by word."""
    assert words.already_decided("@bo", "rejected", 40_000, "wrong customer") == (
        "@bo already rejected this 40 s ago: 'wrong customer'"
    )
    assert words.already_decided("@bo", "approved", 40_000) == "@bo already approved this 40 s ago."
    assert words.vote_counted(1, 2, "Security") == (
        "Your approval is recorded (1 of 2). Waiting for someone from Security."
    )
    assert words.expired(52_320_000) == (
        "This expired at 14:32 UTC and was not run. The agent was told nobody answered."
    )
    assert "Payments approvers" in words.not_an_approver("Payments approvers")
    assert "rate limited" in words.could_not_check("Slack said: rate limited")
