"""`reference_loop`: whole replies, step by step, against what the reference did."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.loop_departures import departure, goes_on, lost_there
from tests.conformance.loop_place import NotRun, Place, Step
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, rows_of, stricter, wrong

WORDING = "<reference wording>"


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    for row in rows_of(folder / "reference_loop.jsonl"):
        yield compare(row)


def compare(row: Row) -> Outcome:
    """One row."""
    try:
        return asyncio.run(_compare(row))
    except NotRun as error:
        return Outcome("not_run", note=f"{row['name']}: {error}")


async def _compare(row: Row) -> Outcome:
    there = Place(row)
    named: list[str] = []
    offered: set[str] = set()
    for number, expected in enumerate(row["steps"]):
        actual = await there.take(expected["input"])
        if actual is None:
            continue
        note = f"{row['name']}, step {number + 1} ({expected['input']['kind']})"
        offered |= _offers(expected["events"])
        if (more := _looser(expected, actual, offered)) and not lost_there(row):
            return looser(f"{note}: {more}")
        differs = list(_differences(expected, actual))
        if not differs:
            continue
        name = departure(row, number, differs, actual)
        if name is None:
            return wrong(f"{note}: {_told(differs, expected, actual)}")
        named.append(name)
        if not goes_on(differs, name):
            break
    return stricter(named[-1], row["name"]) if named else EQUAL


def _looser(expected: Row, actual: Step, offered: set[str]) -> str:
    """What we ran, stored or offered and the reference did not; a question may be put again."""
    ran = Counter(map(json.dumps, actual.executed))
    extra = ran - Counter(map(json.dumps, expected.get("executed") or []))
    # Where a refusal of ours lets the reply go on at once, later turns are not this step's there.
    if extra and actual.model_calls <= (expected.get("model_calls") or 0):
        return f"ran {list(extra)}"
    theirs = expected.get("permission_context")
    if theirs is not None and _rules(actual.rules) - _rules(theirs):
        return f"kept the rules {_rules(actual.rules) - _rules(theirs)}"
    more = _offers(actual.events) - offered - _offers_to_come(expected, actual)
    return f"offers {more}" if more else ""


def _rules(context: dict[str, Any]) -> set[str]:
    return {json.dumps(each) for filed in context["allow_rules"].values() for each in filed}


def _offers_to_come(expected: Row, actual: Step) -> set[str]:
    """Offers for calls that still stand behind another there: that we ask earlier is a difference
    of the events, and needs a name as that."""
    pending = {
        block["id"]
        for message in expected.get("context") or ()
        for block in message["blocks"]
        if block.get("state") == "pending"
    }
    return {each for each in _offers(actual.events) if json.loads(each)[0] in pending}


def _offers(events: Sequence[dict[str, Any]]) -> set[str]:
    return {
        json.dumps([call["id"], rule])
        for event in events
        for call in event.get("tool_calls", ())
        for rule in call["suggested_rules"]
    }


def _differences(expected: Row, actual: Step) -> Iterator[str]:
    """The names of what differs."""
    if bool(expected["raised"]) != bool(actual.raised):
        yield "raised"
    pairs = {
        "events": (_in_order(expected["events"]), _in_order(actual.events)),
        "executed": (expected.get("executed"), actual.executed),
        "model_calls": (expected.get("model_calls"), actual.model_calls),
        "cur_iter": (expected.get("cur_iter"), actual.cur_iter),
        "awaiting": (expected.get("awaiting"), actual.awaiting),
        "context": (expected.get("context"), actual.context),
        "rules": (expected.get("permission_context"), actual.rules),
    }
    for name, (theirs, ours) in pairs.items():
        if theirs is not None and not alike(theirs, ours):
            yield "offers" if alike(_without_offers(theirs), _without_offers(ours)) else name


def _in_order(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The end of a text directly after its last piece: where the reference puts it depends on how
    a provider cuts its chunks."""
    ordered: list[dict[str, Any]] = []
    for event in events:
        at = len(ordered)
        if event.get("type") in ("TEXT_BLOCK_END", "THINKING_BLOCK_END"):
            kind = event["type"].removesuffix("END")
            while at and not str(ordered[at - 1].get("type")).startswith(kind):
                at -= 1
        ordered.insert(at, event)
    return ordered


def _without_offers(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_offers(each) for each in value]
    if not isinstance(value, dict):
        return value
    left_out = ("suggested_rules", "n_suggested")
    return {key: _without_offers(each) for key, each in value.items() if key not in left_out}


def alike(theirs: Any, ours: Any) -> bool:
    """Whether everything that the case says is so here; wordings are free."""
    if theirs == WORDING:
        return isinstance(ours, str | list) and bool(ours)
    if isinstance(theirs, dict):
        free = {"source"} if theirs.get("type") == "hint" else set[str]()
        return isinstance(ours, dict) and all(
            key in ours and alike(each, ours[key])
            for key, each in theirs.items()
            if key not in free
        )
    if isinstance(theirs, list):
        same_length = isinstance(ours, list) and len(theirs) == len(ours)
        return same_length and all(map(alike, theirs, ours))
    return bool(theirs == ours)


def _told(differs: Sequence[str], expected: Row, actual: Step) -> str:
    first = differs[0]
    theirs = expected.get("permission_context" if first == "rules" else first)
    ours = getattr(actual, first if first != "offers" else "events")
    return f"{', '.join(differs)}: expected {json.dumps(theirs)}, came {json.dumps(ours)}"
