"""The classes of `security_cases` that are inputs with one right answer."""

from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import InvalidInput
from core.inputs.reading import parse_input
from core.inputs.validation import validate_input
from core.permissions.engine import matcher_for
from core.permissions.profiles.suggestions import suggest_shell_rules
from tests.conformance.outcome import EQUAL, Outcome, Row, looser, rows_of, same, wrong
from tests.conformance.place import Place, reference_place
from tests.core.permissions.samples import rule


def class_rows(folder: Path, wanted: str) -> Iterator[Row]:
    """The rows of one class."""
    yield from (row for row in rows_of(folder / "security_cases.jsonl") if row["class"] == wanted)


def shell_rule(folder: Path) -> Iterator[Outcome]:
    """Allow and deny rules, and a command."""
    with reference_place() as place:
        for row in class_rows(folder, "shell_rule"):
            yield _compare_shell_rule(place, row)


def _compare_shell_rule(place: Place, row: Row) -> Outcome:
    """By the rules alone: whether a command only reads is another question."""
    given = row["input"]
    bash, value = place.tool("bash"), {"command": given["command"]}
    allow = matcher_for(bash, [rule("allow", "Bash", each) for each in given["allow"]])
    deny = matcher_for(bash, [rule("deny", "Bash", each) for each in given["deny"]])
    came = "deny" if deny.find(value) else "allow" if allow.find(value) else "ask"
    expected = row["expected"]
    note = f"{row['id']} {given}: expected {expected}, came {came}"
    if came == expected or (expected == "not_allow" and came != "allow"):
        return EQUAL
    return looser(note) if came == "allow" else wrong(note)


def rule_suggest(folder: Path) -> Iterator[Outcome]:
    """Rules to offer beside a command. Offering less is wrong too, offering more is looser."""
    for row in class_rows(folder, "rule_suggest"):
        offered = {_one_form(each) for each in suggest_shell_rules(row["input"]["command"])}
        expected = {_one_form(each.partition(":")[2]) for each in row["expected"]["offer"]}
        note = f"{row['id']} {row['input']}: expected {expected}, came {offered}"
        if offered == expected:
            yield EQUAL
        else:
            yield looser(note) if offered - expected else wrong(note)


def _one_form(content: str) -> str:
    """`ls *` and `ls:*` say the same."""
    return content.removesuffix(":*") + " *" if content.endswith(":*") else content


def json_input(folder: Path) -> Iterator[Outcome]:
    """Inputs that every parser reads alike, and those that are refused."""
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
        "additionalProperties": False,
    }
    for row in class_rows(folder, "json_input"):
        raw, expected = row["input"]["raw"], row["expected"]
        try:
            value = parse_input(raw)
        except InvalidInput:
            came = "invalid_input"
        else:
            faults = validate_input(schema, value) if "schema" in row.get("why", "") else []
            came = "invalid_input" if faults else "accept" if value else "empty_object"
        yield same(expected.removesuffix("_flagged"), came, f"{row['id']} {raw!r}")


SECURITY: dict[str, Callable[[Path], Iterator[Outcome]]] = {
    "security:shell_rule": shell_rule,
    "security:rule_suggest": rule_suggest,
    "security:json_input": json_input,
}
