"""`real_commands`: what agents really ran, and the rule a careful person would save for it.

With that rule saved the command should run without a question; where nobody should save a rule,
none may be on offer.
"""

from collections.abc import Iterator
from pathlib import Path

from core.errors import RuleRefused
from core.permissions.engine import compile_context, judge
from core.permissions.rule_strings import parse_rule
from core.permissions.rules import PermissionBehavior, PermissionRule
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, rows_of, stricter
from tests.conformance.place import Place, reference_place
from tests.core.permissions.samples import context, policy


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    with reference_place() as place:
        for row in rows_of(folder / "real_commands.jsonl"):
            yield _compare(place, row)


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
