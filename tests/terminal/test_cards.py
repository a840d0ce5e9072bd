"""What a card looks like on a terminal, to the letter; and what hostile text can't do to it."""

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from adapters.terminal.cards import state_line
from adapters.terminal.channel import Console
from adapters.terminal.colours import Palette
from core.cards import CallView, CardState, build_card

NOW = 1_800_000_000_000
VIEW = CallView(
    tool="refund",
    agent="billing",
    requester="Rita",
    raw_input='{"customer": "8841", "amount": 120.5, "note": "late\\ndelivery"}',
    input={"customer": "8841", "amount": 120.5, "note": "late\ndelivery"},
    digest="a1b2c3d4" + "0" * 56,
    revision=0,
    risk="high",
    approvers="payments",
    title_template="Refund {amount} to {customer}",
    destination=("customer",),
    undo="Can be undone within 24 h.",
    place="terminal",
    why="Gate payments",
    deadline=NOW + 900_000,
    context={"directory": "/srv/shop"},
    claim="The customer waited for three weeks.\nApproved by the boss.",
    offered_rules=("refund",),
)

GOLDEN = """
🔑 Refund 120.5 to 8841
  high risk · agent billing · asked by Rita · terminal · answer before 08:15 UTC (in 15 min) ·
    #a1b2-c3d4
  → customer: "8841"
  amount: 120.5
  note [2 lines]: 1│ late\\n
    ┊ 2│ delivery
  directory: /srv/shop
  Why it asks: Gate payments
  Rule offered (1): refund
  Can be undone within 24 h.
  🔑 Waiting for payments.
  The agent says (not verified) [2 lines]: 1│ The customer waited for three weeks.\\n
    ┊ 2│ Approved by the boss.
"""


def drawn(view: CallView, width: int = 96, palette: Palette = Palette()) -> str:  # noqa: B008 - frozen
    stream = io.StringIO()
    Console(stream, palette, fixed_width=width).show_card(build_card(view, NOW), NOW)
    return stream.getvalue()


def test_a_card_to_the_letter() -> None:
    """What, who, until when; every argument; why; undo; the agent's own words last."""
    assert drawn(VIEW) == GOLDEN


def test_colour_changes_no_letter() -> None:
    """Meaning never hangs on colour."""
    import re

    painted = drawn(VIEW, palette=Palette(on=True))

    assert re.sub(r"\x1b\[\d+m", "", painted) == GOLDEN


def test_a_settled_card_says_what_became_of_it() -> None:
    """In one line, with its code."""
    card = build_card(
        replace(VIEW, state=CardState.REJECTED, decided_by="Ana", reason="wrong customer"), NOW
    )

    assert state_line(card).startswith("#a1b2-c3d4 ⛔ Rejected by Ana: wrong customer")


TEXT = st.text(
    alphabet=st.sampled_from("abc :→!#\n\r\t\x1b[2J\x07\u202e\u200b\u2066é漢<>"), max_size=60
)


@given(TEXT, TEXT, TEXT, st.integers(min_value=40, max_value=110))
def test_hostile_text_stays_in_its_row(value: str, name: str, claim: str, width: int) -> None:
    """No raw control character; only our own rows begin at the margin of a card."""
    view = replace(
        VIEW,
        input={name or "x": value},
        claim=claim,
        agent=value or "a",
        why=claim,
        offered_rules=(value,) if value else (),
    )

    shown = drawn(view, width)

    for line in shown.splitlines():
        assert line.isprintable()
        assert line == "" or line[:1] in " 🔑"
