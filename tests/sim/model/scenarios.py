"""What is explored. Features meet as listed, not all at once: the bounds keep it finite."""

from tests.sim.model.world import ALLOWED, TASK, WAITING, Scenario, Spec

CONFIRM = Spec()
TWO_TURNS = Scenario(
    "two confirmations, a second turn, stop", ((CONFIRM, CONFIRM), (CONFIRM,)), stop=True
)
QUORUM = Scenario(
    "quorum of two, edit, lapse, policy, stop",
    ((Spec(quorum=2, deniable=True), CONFIRM),),
    ("ana", "bo"),
    policy=True,
    lapses=1,
    edits=1,
    stop=True,
)
TASKS = Scenario(
    "confirmed task, task alone, allowed task, stop",
    (
        (Spec(external=True, deniable=True), Spec(TASK, external=True)),
        (Spec(ALLOWED, external=True, deniable=True),),
    ),
    stop=True,
    policy=True,
    lapses=1,
)
RETRIES = Scenario(
    "allowed and idempotent, one waits behind",
    ((Spec(ALLOWED, idempotent=True, deniable=True), Spec(WAITING, idempotent=True)),),
    stop=True,
    policy=True,
    lapses=1,
)
SCENARIOS = (TWO_TURNS, QUORUM, TASKS, RETRIES)
CARDS = Scenario("one card, two posters", ())
