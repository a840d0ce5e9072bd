"""Permission mode of the agent x auto-run mode of the requester, every cell."""

from pathlib import Path

import pytest

from core.permissions.engine import compile_context, judge
from core.permissions.opinions import safety_ask
from core.permissions.rules import AutoRunMode, PermissionBehavior, PermissionMode
from core.tools import Input
from tests.core.permissions.samples import SampleTool, context, function, gate, policy, rule, write

README = Path(__file__).parents[3] / "core" / "README.md"

EDIT: tuple[SampleTool, Input] = (write(), {"file_path": "/srv/work/a.txt"})
CALLS: dict[str, tuple[SampleTool, Input]] = {
    "only reads": (function("reader", read_only=True), {}),
    "edit in a working directory": EDIT,
    "allow rule covers it": (function("ruled"), {}),
    "allowlist covers it": (function("listed"), {}),
    "anything else": (function("other"), {}),
    "safety ask": (function("unsafe", own=safety_ask("looks destructive")), {}),
    "ask rule covers it": (function("asking"), {}),
    "`requires_confirmation`": (function("confirmed", requires_confirmation=True), {}),
    "gate matches it": (function("gated"), {}),
    "gate matches it, only reads": (function("gated_reader", read_only=True), {}),
    "deny rule covers it": (function("denied"), {}),
}
RULES = [rule("allow", "ruled"), rule("ask", "asking"), rule("deny", "denied")]
ALLOWLIST = [rule("allow", "listed"), rule("allow", "gated"), rule("allow", "unsafe")]
POLICY = policy(gate("g", "gated", "gated_reader"))

# One letter for each of CALLS, in that order: Allow, asK (K), Deny.
TABLE: dict[tuple[str, str], str] = {
    ("default", "ask_every_time"): "KKKKKKKKKKD",
    ("default", "use_allowlist"): "AKAAKKKKKKD",
    ("default", "run_everything"): "AAAAAKKKKKD",
    ("accept_edits", "ask_every_time"): "KKKKKKKKKKD",
    ("accept_edits", "use_allowlist"): "AAAAKKKKKKD",
    ("accept_edits", "run_everything"): "AAAAAKKKKKD",
    ("explore", "ask_every_time"): "KDDDDDDDDDD",
    ("explore", "use_allowlist"): "ADDDDDDDDDD",
    ("explore", "run_everything"): "ADDDDDDDDDD",
    ("bypass", "ask_every_time"): "KKKKKKKKKKD",
    ("bypass", "use_allowlist"): "AAAAAAKKKKD",
    ("bypass", "run_everything"): "AAAAAAKKKKD",
    ("dont_ask", "ask_every_time"): "DDDDDDDDDDD",
    ("dont_ask", "use_allowlist"): "AAAADDDDDDD",
    ("dont_ask", "run_everything"): "AAAADDDDDDD",
}
LETTERS = {
    "A": PermissionBehavior.ALLOW,
    "K": PermissionBehavior.ASK,
    "D": PermissionBehavior.DENY,
}


def test_the_table_has_every_cell() -> None:
    """5 x 3 modes, and an answer for every kind of call."""
    assert set(TABLE) == {(mode, auto) for mode in PermissionMode for auto in AutoRunMode}
    assert {len(cells) for cells in TABLE.values()} == {len(CALLS)}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("modes", TABLE, ids=" ".join)
def test_each_cell(modes: tuple[str, str], kind: str) -> None:
    """The engine answers what the table says."""
    mode, auto_run = PermissionMode(modes[0]), AutoRunMode(modes[1])
    book = compile_context(context(RULES, mode), POLICY, auto_run, ALLOWLIST)

    verdict = judge(book, *CALLS[kind])

    assert verdict.behavior is LETTERS[TABLE[modes][list(CALLS).index(kind)]]


def test_the_readme_shows_this_table() -> None:
    """What people read is what is tested."""
    assert markdown() in README.read_text()


def markdown() -> str:
    """The table as README has it: a row for each kind of call and agent mode."""
    words = {"A": "run", "K": "ask", "D": "deny"}
    lines = [
        "| agent's mode | auto-run mode | " + " | ".join(CALLS) + " |",
        "| --- | --- |" + " --- |" * len(CALLS),
    ]
    for (mode, auto_run), cells in TABLE.items():
        answers = " | ".join(words[letter] for letter in cells)
        lines.append(f"| `{mode}` | `{auto_run}` | {answers} |")
    return "\n".join(lines)
