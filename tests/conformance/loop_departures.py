"""Which named departure makes a step of a reply stricter: a rule over the row and what came, never
over its name. The names are those of the table in core/README.md.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.conformance.outcome import Row


class Came(Protocol):
    """What a step brought here."""

    raised: str | None
    cur_iter: int


@dataclass(frozen=True)
class Point:
    """A step that went differently here.

    Attributes:
        before: the inputs of the steps before it.
        differs: names of what differs.
    """

    row: Row
    before: Sequence[dict[str, Any]]
    step: dict[str, Any]
    differs: Sequence[str]
    came: Came

    @property
    def given(self) -> dict[str, Any]:
        """The input of the step."""
        return dict(self.step["input"])

    @property
    def results(self) -> list[dict[str, Any]]:
        """The answers in it."""
        return list(self.given.get("results", ()))

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """All inputs up to here, this one included."""
        return [*self.before, self.given]

    @property
    def refused(self) -> bool:
        """Whether we refuse an input that the reference takes."""
        return self.came.raised is not None and not self.step["raised"]

    @property
    def asked_for(self) -> list[dict[str, Any]]:
        """Every call in the model's script."""
        turns = self.row["model_script"]
        return [each for turn in turns for each in turn if isinstance(each, dict) and "id" in each]

    def call(self, call_id: str) -> dict[str, Any]:
        """A call of the script."""
        return next((each for each in self.asked_for if each["id"] == call_id), {})

    def edits(self, word: str) -> bool:
        """Whether an answer changes this word of its call."""
        return any(
            word in each and each[word] != self.call(each["id"]).get(_IN_SCRIPT[word])
            for each in self.results
        )

    def tools_with(self, **traits: Any) -> bool:
        """Whether the row has a tool like this."""
        return any(traits.items() <= tool.items() for tool in self.row["tools"])

    def edited(self, word: str) -> list[Any]:
        """What earlier steps wrote into the state by hand."""
        edits = [each for each in self.before if each["kind"] == "edit_state"]
        return [each[word] for each in edits if word in each]


_IN_SCRIPT = {"name": "tool", "input": "input"}


def departure(row: Row, number: int, differs: Sequence[str], came: Came) -> str | None:
    """The name of the departure, or none."""
    steps = row["steps"]
    before = [each["input"] for each in steps[:number]]
    point = Point(row, before, steps[number], differs, came)
    return next((name for name, test in DEPARTURES if test(point)), None)


def goes_on(differs: Sequence[str], name: str) -> bool:
    """Whether the steps after this one can still be compared."""
    return set(differs) <= {"cur_iter", "offers"} or name == "model-failure-ends-the-reply"


def lost_there(row: Row) -> bool:
    """Whether the reference loses calls that it has allowed, because an id is used again."""
    ids = Counter(
        each["id"]
        for turn in row["model_script"]
        for each in turn
        if isinstance(each, dict) and "id" in each
    )
    return any(count > 1 for count in ids.values())


def _twice(point: Point) -> bool:
    ids = Counter(each["id"] for each in point.results)
    return any(count > 1 for count in ids.values())


def _with_rules(point: Point) -> bool:
    return any(each.get("rules") for each in point.results)


def _answered_without_a_run(point: Point) -> bool:
    answers = [each for given in point.inputs for each in given.get("results", ())]
    external = any(given["kind"] == "external" for given in point.inputs)
    return external or any(each.get("confirmed") is False for each in answers)


def _asked_again(point: Point) -> bool:
    """A call that people rejected stands in the script a second time."""
    no = [
        point.call(each["id"])
        for given in point.inputs
        for each in given.get("results", ())
        if each.get("confirmed") is False
    ]
    same = [(each.get("tool"), each.get("input")) for each in no]
    return any(
        same.count((call["tool"], call["input"])) and call not in no for call in point.asked_for
    )


def _allowed_by_hand(point: Point) -> bool:
    return any("allowed" in states.values() for states in point.edited("call_states"))


def _ask_rules_by_hand(point: Point) -> bool:
    return any(rule["behavior"] == "ask" for rules in point.edited("rules") for rule in rules)


def _confirms(point: Point) -> bool:
    return bool(point.given["kind"] == "confirm")


DEPARTURES: tuple[tuple[str, Callable[[Point], bool]], ...] = (
    (
        "nothing-beside-an-open-reply",
        lambda p: p.refused and p.came.raised == "ReplyOpen" and p.given["kind"] == "observe",
    ),
    ("reply-id-checked", lambda p: p.refused and p.came.raised == "ForeignReply"),
    ("one-answer-per-call", lambda p: p.refused and _twice(p)),
    ("edits-keep-the-tool", lambda p: p.refused and _confirms(p) and p.edits("name")),
    ("edits-checked-first", lambda p: p.refused and _confirms(p) and p.edits("input")),
    ("only-offered-rules", lambda p: p.refused and _confirms(p) and _with_rules(p)),
    (
        "results-have-an-end",
        lambda p: p.refused and any(each.get("state") == "running" for each in p.results),
    ),
    ("no-run-after-a-crash", _allowed_by_hand),
    (
        "failed-check-denies",
        lambda p: p.tools_with(perm_raises=True) and not p.came.raised and bool(p.step["raised"]),
    ),
    (
        "model-failure-ends-the-reply",
        lambda p: not p.came.raised and bool(p.step["raised"]) and "raise" in str(p.row),
    ),
    ("ids-are-unique", lambda p: lost_there(p.row)),
    (
        "tool-denial-holds",
        lambda p: (
            p.tools_with(permission="deny")
            and (_ask_rules_by_hand(p) or p.tools_with(permission="deny", read_only=True))
        ),
    ),
    ("explore-only-reads", lambda p: _ask_rules_by_hand(p) and "explore" in p.edited("mode")),
    (
        "checked-again-at-start",
        lambda p: (
            _confirms(p)
            and "executed" in p.differs
            and p.before[-1]["kind"] in ("edit_state", "reload")
        ),
    ),
    (
        "no-coercion",
        lambda p: "executed" in p.differs and any("schema" in tool for tool in p.row["tools"]),
    ),
    ("a-rejection-stands", lambda p: "events" in p.differs and _asked_again(p)),
    (
        "every-round-counts",
        lambda p: (
            _answered_without_a_run(p)
            and p.came.cur_iter >= p.step["cur_iter"]
            and ("cur_iter" in p.differs or "max_iters" in p.row["options"])
        ),
    ),
    ("offers-only-what-works", lambda p: set(p.differs) <= {"offers"}),
)
