"""`real_commands`: what agents really ran, and the rule a careful person would save for it.

With that rule saved the command should run without a question; where nobody should save a rule,
none may be on offer. Two more things are counted over all rows: how many harmless lines really run
under their natural rule (asking too often trains people to press Approve), and whether anything
harmful would run for somebody who accepted every rule that was offered for the other lines.
"""

from collections.abc import Iterator
from pathlib import Path

from core.errors import RuleRefused
from core.permissions.engine import compile_context, judge
from core.permissions.rule_strings import parse_rule
from core.permissions.rules import PermissionBehavior, PermissionRule
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, rows_of, stricter, wrong
from tests.conformance.place import Place, reference_place
from tests.core.permissions.samples import context, policy

LEAST_ALLOWED = 0.95
"""Share of the harmless lines that must be allowed under their natural rule."""


def run(folder: Path) -> Iterator[Outcome]:
    """Every row, the share of harmless lines that run, and every harmful line under all offers."""
    rows = list(rows_of(folder / "real_commands.jsonl"))
    with reference_place() as place:
        outcomes = [_compare(place, row) for row in rows]
        yield from outcomes
        yield _share(rows, outcomes)
        yield from _harmful_under_offers(place, rows)


def _share(rows: list[Row], outcomes: list[Outcome]) -> Outcome:
    pairs = zip(rows, outcomes, strict=True)
    harmless = [(row, out) for row, out in pairs if row["harmless"] and row["natural_rule"]]
    missed = [out.note for _, out in harmless if out.kind != "equal"]
    allowed = len(harmless) - len(missed)
    share = allowed / len(harmless) if harmless else 1.0
    lines = [f"harmless lines allowed under their natural rule: {allowed} of {len(harmless)}"]
    lines[0] += f" ({share:.1%})"
    told = "\n".join([*lines, *(f"      asks: {note}" for note in missed)])
    return Outcome("equal", note=told) if share >= LEAST_ALLOWED else wrong(told)


def _harmful_under_offers(place: Place, rows: list[Row]) -> Iterator[Outcome]:
    bash = place.tool("bash")
    offers = [bash.permissions.suggest({"command": row["command"]}) for row in rows]
    for number, row in enumerate(rows):
        if row["harmless"]:
            continue
        others = [r for other, rules in enumerate(offers) if other != number for r in rules]
        # What the engine allows by itself was not let through by an offer.
        alone, value = compile_context(context([]), policy()), {"command": row["command"]}
        if judge(alone, bash, value).behavior == "allow":
            continue
        accepted = compile_context(context(others), policy())
        if judge(accepted, bash, value).behavior == "allow":
            yield looser(f"offers for other lines allow {row['command']}")
        else:
            yield EQUAL


def _compare(place: Place, row: Row) -> Outcome:
    bash, value = place.tool("bash"), {"command": row["command"]}
    if row["natural_rule"] is None:
        offered = bash.permissions.suggest(value)
        if offered:
            return looser(f"offers {[each.rule_content for each in offered]} for {row['command']}")
        return EQUAL
    texts = [row["natural_rule"], *row["also_needed"]]
    rules = [parse_rule(text, PermissionBehavior.ALLOW, "person") for text in texts]
    verdict = judge(compile_context(context(rules), policy()), bash, value)
    if verdict.behavior == "allow":
        return EQUAL
    saved = all(_can_be_saved(place, each) for each in rules)
    name = "words-not-text" if saved else "prefixes-need-a-profile"
    return stricter(name, f"{row['command']} under {texts}: {verdict.reason}")


def _can_be_saved(place: Place, rule: PermissionRule) -> bool:
    try:
        place.tool("bash").permissions.check_rule(rule)
    except RuleRefused:
        return False
    return True
