"""The model itself: explored, and missed where a rule is taken away."""

import pytest

from tests.sim.exploration import Exploration, Model, Wrong, card_model, ledger_model
from tests.sim.model.scenarios import RETRIES, TASKS, TWO_TURNS


@pytest.mark.parametrize(
    "model",
    [ledger_model(TWO_TURNS), ledger_model(TASKS), ledger_model(RETRIES), card_model()],
    ids=lambda model: model.scenario.name,
)
def test_every_invariant_holds_in_every_state(model: Model) -> None:
    """Complete exploration of a scenario; the largest one is explored by `make model`."""
    explored = Exploration(model).run()

    assert explored.states > 2_000
    assert explored.depth > 20


@pytest.mark.parametrize(
    ("rule", "model", "wrong"),
    [
        ("write-ahead", ledger_model(TWO_TURNS), "one grant, two runs"),
        ("fence", ledger_model(TASKS), "agent state was overwritten by an older copy"),
        (
            "ready-backstop",
            ledger_model(TWO_TURNS),
            "waits for ever: nobody is asked and nobody works",
        ),
        ("unknown-deadline", ledger_model(TWO_TURNS), "waits for ever unless a person acts"),
        ("card-ack-last", card_model(), "a call without a card"),
    ],
)
def test_without_a_rule_something_goes_wrong(rule: str, model: Model, wrong: str) -> None:
    """The shortest run that shows it is found; `make model` does this for all rules."""
    with pytest.raises(Wrong) as found:
        Exploration(model, rule).run()

    assert found.value.what == wrong
    assert found.value.path
