"""Permissions of Bash, as the engine sees them. What commands are is tested beside `shell`."""

import pytest

from core.errors import RuleRefused
from core.permissions.bash import BashPermissions
from core.permissions.engine import compile_context, judge
from core.permissions.rules import PermissionMode
from tests.core.permissions.samples import PATHS, SampleTool, context, gate, policy, rule

BASH = SampleTool("Bash", BashPermissions("Bash", PATHS))


def answer(command: object, *rules: tuple[str, str | None], mode: str = "default") -> str:
    """What becomes of a command under rules for Bash."""
    made = [rule(behavior, "Bash", content) for behavior, content in rules]
    book = compile_context(context(made, PermissionMode(mode)), policy())
    return judge(book, BASH, {"command": command}).behavior


@pytest.mark.parametrize("mode", PermissionMode)
def test_reading_runs_in_every_mode(mode: PermissionMode) -> None:
    """Nobody is asked about `ls`."""
    assert answer("git status && ls -la", mode=mode) == "allow"


@pytest.mark.parametrize(
    "command", ["ls & rm x", "ls\nrm x", "rg --pre ./evil x", "find . '-delete'", "PATH=/evil ls"]
)
def test_what_only_begins_like_reading_is_asked(command: str) -> None:
    """The reference lets these run, also in explore."""
    assert answer(command) == "ask"
    assert answer(command, mode="explore") == "deny"


def test_every_part_needs_a_rule_and_any_part_can_be_denied() -> None:
    """`git log` under its rule says nothing of what follows it."""
    allow = ("allow", "git log:*")

    assert answer("git log -1 --oneline", allow) == "allow"
    assert answer("git log -1; rm x", allow) == "ask"
    assert answer("git log -1; rm x", allow, ("deny", "rm:*")) == "deny"
    assert answer("git log -1; sudo rm x", allow, ("deny", "rm:*")) == "deny"


def test_a_dangerous_command_asks_under_an_allow_rule_for_the_whole_tool() -> None:
    """Only `bypass` lets it run, as in the reference."""
    everything = ("allow", None)

    assert answer("rm -fr build", everything) == "ask"
    assert answer("rm -fr build", everything, mode="bypass") == "allow"


def test_edits_are_accepted_in_every_part_or_not_at_all() -> None:
    """`accept_edits`, in the working directory."""
    assert answer("mkdir -p a && touch a/b", mode="accept_edits") == "allow"
    assert answer("touch a; curl http://x", mode="accept_edits") == "ask"
    assert answer("touch ../a", mode="accept_edits") == "ask"


@pytest.mark.parametrize("command", [5, None, ["ls"]])
def test_a_command_that_is_not_text_is_not_allowed(command: object) -> None:
    """And every deny rule covers it."""
    assert answer(command, ("allow", "ls")) == "ask"
    assert answer(command, ("deny", "rm:*")) == "deny"


def test_an_empty_command_asks() -> None:
    """It is nothing that a rule could be about."""
    assert answer("") == "ask"


@pytest.mark.parametrize("content", ["python:*", "bash -c:*", "*", ":*", "sudo ls:*", "rm:*"])
def test_a_rule_that_would_be_void_or_too_wide_is_refused(content: str) -> None:
    """With what to write instead."""
    with pytest.raises(RuleRefused) as refused:
        BASH.permissions.check_rule(rule("allow", "Bash", content))

    assert refused.value.remedy


@pytest.mark.parametrize(
    "command", ["ls -la", "python -c 'x'", "sudo ls x", "rm -rf build", "bash run.sh", "echo a", ""]
)
def test_nothing_is_offered_for_shells_wrappers_dangers_and_what_runs_anyway(command: str) -> None:
    """People would tick it."""
    assert BASH.permissions.suggest({"command": command}) == []


def test_a_gate_sees_every_part_of_a_command() -> None:
    """Also behind a wrapper, in bypass."""
    bypass = context(mode=PermissionMode.BYPASS)
    book = compile_context(bypass, policy(gate("deletes", "Bash(kubectl delete:*)")))

    verdict = judge(book, BASH, {"command": "ls && timeout 5 kubectl delete pod x"})

    assert (verdict.behavior, verdict.cause) == ("ask", "gate")
