"""`reference_suggestion`: which rules are offered beside a call."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from core.permissions.rules import PermissionRule
from core.permissions.shell.readonly import _BEGINNINGS
from tests.conformance.outcome import EQUAL, Outcome, looser, stricter
from tests.conformance.place import reference_place


def run(folder: Path) -> Iterator[Outcome]:
    """Every row."""
    with reference_place() as place:
        for row in place.rows(folder / "reference_suggestion.jsonl"):
            tool = place.tool(row["tool"])
            theirs = [PermissionRule.model_validate(rule) for rule in row["suggested_rules"]]
            ours = tool.permissions.suggest(row["input"])
            note = f"{row['tool']} {row['input']}: expected {_say(theirs)}, came {_say(ours)}"
            if not all(is_offered_there(rule, theirs) for rule in ours):
                yield looser(note)
            elif ours == theirs:
                yield EQUAL
            else:
                yield stricter(why_fewer(row["tool"], ours, "mode"), note)


def why_fewer(tool: str, ours: Sequence[PermissionRule], cause: str) -> str:
    """The departure by which less is on offer, or something narrower."""
    if tool == "bash" and cause == "mode":
        return "offers-rest-on-a-profile"
    return "narrow-offers" if ours else "offers-only-what-works"


def is_offered_there(rule: PermissionRule, theirs: Sequence[PermissionRule]) -> bool:
    """Whether the reference offers this rule or a wider one, or runs such a command unasked."""
    return _runs_unasked_there(rule) or any(_is_wider(wide, rule) for wide in theirs)


def _runs_unasked_there(rule: PermissionRule) -> bool:
    """Read-only by the reference's own list: `head -5` beside `make test`."""
    return rule.tool_name == "Bash" and f"{rule.rule_content} ".startswith(_BEGINNINGS)


def _is_wider(wide: PermissionRule, rule: PermissionRule) -> bool:
    if (wide.tool_name, wide.behavior) != (rule.tool_name, rule.behavior):
        return False
    if wide.rule_content == rule.rule_content or not wide.rule_content:
        return True
    if not rule.rule_content:
        return False
    if rule.tool_name == "Bash":
        prefix = wide.rule_content.removesuffix(":*")
        narrow = rule.rule_content.removesuffix(":*")
        return narrow == prefix or narrow.startswith(f"{prefix} ")
    return fnmatchcase(_unescaped(rule.rule_content), wide.rule_content)


def _unescaped(pattern: str) -> str:
    """A path pattern as the path it stands for, where `glob.escape` guards the path."""
    for character in "*?[":
        pattern = pattern.replace(f"[{character}]", character)
    return pattern


def _say(rules: Sequence[PermissionRule]) -> list[str | None]:
    return [rule.rule_content for rule in rules]
