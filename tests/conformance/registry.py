"""Which groups of cases exist, and who runs them.

A group is a file of cases (`reference_match`) or one class of the security cases
(`security:shell_rule`). To plug one in, write a function from the folder to outcomes, and list it.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.conformance import (
    commands,
    display,
    loop,
    match,
    permission,
    readonly,
    security,
    suggestion,
    wire,
)
from tests.conformance.outcome import Group, Outcome, rows_of

GROUPS: dict[str, Group] = {
    "reference_permission": permission.run,
    "reference_match": match.run,
    "reference_readonly": readonly.run,
    "reference_suggestion": suggestion.run,
    "reference_wire": wire.run,
    "reference_loop": loop.run,
    "real_commands": commands.run,
    "security:display": display.run,
    **security.SECURITY,
}

# Files and classes that other suites own, or that speak of what Keyturn does not have.
ELSEWHERE = {
    "real_rules": "rules that people wrote, without right answers",
    "real_tools": "inputs for schemas and edits: tests/core, tests/bot",
    "security:ssrf": "Keyturn calls no address that an agent names",
    "security:web": "there is no web page",
    "security:api_tenancy": "there is no HTTP API",
    "security:clicker_authz": "scenarios: tests/core, tests/slack, tests/discord",
    "security:race": "scenarios: tests/redis, tests/sim",
    "security:binding": "scenarios: tests/core, tests/redis",
    "security:request_auth": "scenarios: tests/slack, tests/discord",
    "security:redaction": "scenarios: tests/core",
    "security:modify": "scenarios: tests/core",
    "security:storage": "scenarios: tests/redis",
    "security:supply": "properties of the build",
    "security:rule_lifecycle": "scenarios: tests/core",
    "security:limits": "scenarios: tests/core",
    "security:external_result": "scenarios: tests/core",
    "security:display_rule": "scenarios: tests/slack, tests/discord",
    "security:audit": "scenarios: tests/core",
    "security:policy_stale": "scenarios: tests/core",
}


def groups_in(folder: Path) -> list[str]:
    """The names of all groups that a folder of cases holds."""
    names = sorted(file.stem for file in folder.iterdir() if file.suffix in (".jsonl", ".json"))
    found = [name for name in names if name != "security_cases"]
    if "security_cases" in names:
        classes = {row["class"] for row in rows_of(folder / "security_cases.jsonl")}
        found += [f"security:{each}" for each in sorted(classes)]
    return found


def size_of(folder: Path, group: str) -> int:
    """How many rows a group has that nothing runs."""
    if group.startswith("security:"):
        wanted = group.removeprefix("security:")
        return sum(row["class"] == wanted for row in rows_of(folder / "security_cases.jsonl"))
    file = folder / f"{group}.jsonl"
    return sum(1 for _ in rows_of(file)) if file.exists() else 1


def run_group(folder: Path, group: str) -> Iterator[Outcome]:
    """The outcomes of a group; one `not_run` for each row of a group that nobody runs."""
    runner = GROUPS.get(group)
    if runner is not None:
        yield from runner(folder)
        return
    for _ in range(size_of(folder, group)):
        yield Outcome("not_run")
