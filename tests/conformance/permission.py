"""`reference_permission`: the whole engine against what the reference decided."""

from collections.abc import Iterator
from pathlib import Path

from core.permissions.engine import Verdict, compile_context, judge
from core.permissions.rules import PermissionMode, PermissionRule
from tests.conformance.departures import covers_same_words, departure
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, stricter
from tests.conformance.place import Place, reference_place
from tests.conformance.suggestion import is_offered_there, why_fewer
from tests.core.permissions.samples import context, policy

_STRICTNESS = ("allow", "ask", "deny")


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    with reference_place() as place:
        for row in place.rows(folder / "reference_permission.jsonl"):
            yield compare(place, row)


def compare(place: Place, row: Row) -> Outcome:
    """One row."""
    rules = [PermissionRule.model_validate(rule) for rule in row["rules"]]
    given = context(rules, PermissionMode(row["mode"]), row["working_directories"])
    tool = place.tool(row["tool"]["kind"], row["tool"])
    verdict = judge(compile_context(given, policy()), tool, row["input"])
    expected = row["expect"]["behavior"]
    note = (
        f"{row['id']} {row['group']} {row['mode']} {row['input']} "
        f"{[(rule.rule_content, rule.behavior.value) for rule in rules]}: "
        f"expected {expected}, came {verdict.behavior} ({verdict.reason})"
    )
    ours, theirs = _STRICTNESS.index(verdict.behavior), _STRICTNESS.index(expected)
    if ours < theirs:
        return EQUAL if _is_same_words(row, verdict) else looser(note)
    if ours > theirs:
        return stricter(departure(row, verdict), note)
    return _compare_rest(row, verdict, note)


def _is_same_words(row: Row, verdict: Verdict) -> bool:
    """Allowed by a rule that the reference would apply to the same words."""
    return (
        row["tool"]["kind"] == "bash"
        and verdict.cause == "allow_rule"
        and verdict.rule is not None
        and covers_same_words(verdict.rule.rule_content, row["input"].get("command", ""))
    )


def _compare_rest(row: Row, verdict: Verdict, note: str) -> Outcome:
    """The same behaviour: what is on offer, and whether allow rules could silence the ask."""
    expected = row["expect"]
    theirs = [PermissionRule.model_validate(rule) for rule in expected["suggested_rules"] or ()]
    ours = list(verdict.suggested_rules)
    if not all(is_offered_there(rule, theirs) for rule in ours):
        return looser(f"offers {ours}: {note}")
    if verdict.behavior == "ask":
        if expected["bypass_immune"] and not verdict.bypass_immune and verdict.cause == "mode":
            return looser(f"not immune: {note}")
        if verdict.bypass_immune and not expected["bypass_immune"]:
            return stricter(departure(row, verdict), note)
        if ours != theirs:
            return stricter(why_fewer(row["tool"]["kind"], ours, verdict.cause), note)
    return EQUAL
