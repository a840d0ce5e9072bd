"""What a hostile agent tries so that something runs without a person."""

import math
from dataclasses import dataclass
from typing import Any, cast

import pytest

from core.permissions import profiles
from core.permissions.bash import BashPermissions
from core.permissions.engine import compile_context, judge
from core.permissions.functions import FunctionPermissions
from core.permissions.paths import DiskPaths
from core.permissions.rules import PermissionBehavior, PermissionMode
from core.permissions.search import SearchPermissions
from core.permissions.shell.denial import DenyRules
from core.permissions.shell.readonly import is_read_only
from core.permissions.shell.rules import AllowRules
from core.tools import Input, PermissionDecision
from tests.core.permissions.attack_lines import DENIED, NEVER_ALLOWED, OUT_OF_SIGHT, STILL_ALLOWED
from tests.core.permissions.samples import (
    SampleTool,
    context,
    function,
    gate,
    policy,
    read,
    rule,
    write,
)


def runs_unasked(line: str) -> bool:
    rules, _, command = line.partition(" | ")
    contents = [rule.strip() for rule in rules.split(";;")]
    covered = AllowRules(contents, profiles).covering(command)
    return not isinstance(covered, str) or is_read_only(command, profiles)


@pytest.mark.parametrize("line", NEVER_ALLOWED)
def test_neither_a_rule_nor_the_read_only_list_lets_it_run(line: str) -> None:
    """It writes, executes, sends, reads secrets or takes its orders from a file."""
    assert not runs_unasked(line)


@pytest.mark.parametrize("line", STILL_ALLOWED)
def test_its_harmless_neighbours_run(line: str) -> None:
    """Asking about everything would keep attacks out as well; that is no answer."""
    assert runs_unasked(line)


def denied(line: str) -> bool:
    rule, _, command = line.partition(" | ")
    if command.startswith(("ls\\", "rm\\")):
        command = command.encode().decode("unicode_escape")
    return DenyRules([rule]).first(command) is not None


@pytest.mark.parametrize("line", DENIED)
def test_a_deny_rule_catches_it_in_any_disguise(line: str) -> None:
    """Quoted, wrapped, substituted, configured, in another order, in a variable."""
    assert denied(line)


@pytest.mark.parametrize("line", OUT_OF_SIGHT)
def test_what_no_deny_rule_sees_is_not_allowed_either(line: str) -> None:
    """The limits, by name: whoever finds a way to see one moves it to the other table."""
    assert not denied(line)
    assert not runs_unasked(f"ls:* | {line.partition(' | ')[2]}")


@pytest.mark.parametrize(
    "line",
    [
        "rm:* | git commit -m 'rm x'",
        "rm:* | echo rm x",
        "rm:* | grep -rn 'rm x' src",
        "rm:* | X=rm; echo x",
        "rm:* | docker run --rm alpine ls",
        "rm:* | npm run rm-cache",
        "python:* | python3 -V",
        "git push --force:* | git push",
        "git push --force:* | git log --force",
        "rm -rf:* | rm -r x",
        "find -delete:* | find . -type d -newer x -ls -atime 1",
    ],
)
def test_a_deny_rule_leaves_the_neighbours_alone(line: str) -> None:
    """A rule that catches everything is turned off soon."""
    assert not denied(line)


PATHS = DiskPaths(cwd="/srv/work", home="/srv/home")
BASH = SampleTool("Bash", BashPermissions("Bash", PATHS))
STRICT = gate("strict", "Bash(git:*)", "Bash(kubectl delete:*)", quorum=2)
LAX = gate("lax", "Bash(git status:*)", "Bash(docker compose restart web:*)")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("git push -f", "strict"),
        ("git status", "lax"),
        ("sudo git status", "lax"),
        ("git status; docker compose restart web", "lax"),
        ("git push -f; git status", "strict"),
        ("git push -f 'git status'", "strict"),
        ("kubectl delete ns prod; docker compose restart web", "strict"),
        ("docker compose restart web && (kubectl delete ns prod)", "strict"),
        ("sh -c 'git push -f; git status'", "strict"),
        ("xargs git push < f | git status", "strict"),
        ("docker compose restart web $(git push -f)", "strict"),
        ("git status" + "; ls" * 40 + "; git push", "strict"),
    ],
)
def test_one_more_command_does_not_choose_a_laxer_gate(command: str, name: str) -> None:
    """The most specific gate decides about its own part only; of several parts the strictest."""
    verdict = judge(compile_context(context(), policy(STRICT, LAX)), BASH, {"command": command})
    assert verdict.gate is not None
    assert (verdict.behavior, verdict.gate.name) == ("ask", name)


@pytest.mark.parametrize(
    ("gates", "value", "name"),
    [
        ({"big": "refund(amount>100)", "eur": "refund(currency=EUR)"}, {"currency": "EUR"}, "big"),
        ({"big": "refund(amount>1)", "all": "refund"}, {"currency": "EUR", "amount": 1}, "all"),
        ({"big": "ref*", "eur": "refund(currency=EUR)"}, {"currency": "EUR"}, "eur"),
        ({"big": "refund", "eur": "refund(currency=EUR)"}, {"currency": "EUR"}, "eur"),
        ({"big": "refund(a>1)", "eur": "refund(a>1000)"}, {"a": 2000}, "eur"),
    ],
)
def test_only_a_narrower_gate_takes_the_place_of_a_stricter_one(
    gates: dict[str, str], value: dict[str, object], name: str
) -> None:
    """Gates about different arguments are both about the call; the larger quorum holds."""
    made = [gate(each, match, quorum=2 if each == "big" else 1) for each, match in gates.items()]
    verdict = judge(compile_context(context(), policy(*made)), function("refund"), value)
    assert verdict.gate is not None
    assert verdict.gate.name == name


@pytest.mark.parametrize("amount", [math.nan, math.inf, -math.inf, True, "100", None, [1], {}])
def test_what_is_no_plain_number_is_on_no_side_of_a_bound(amount: object) -> None:
    """An allow rule does not cover it, a deny rule does."""
    value = {"amount": amount}
    for allowing in ("amount<=100", "amount>=-100", "amount!=100", "amount=100"):
        rules = [rule("allow", content=allowing)]
        assert judge(compile_context(context(rules), policy()), function(), value).behavior == "ask"
    for denying in ("amount>100", "amount<-100", "amount=100", "amount!=100"):
        rules = [rule("deny", content=denying)]
        verdict = judge(compile_context(context(rules), policy()), function(), value)
        assert verdict.behavior == "deny"


@dataclass(frozen=True, slots=True)
class Careless(FunctionPermissions):
    """Permissions that somebody wrote without looking at the types."""

    reads: Any = False

    def check_read_only(self, value: Input) -> bool:
        """Anything."""
        return self.reads  # type: ignore[no-any-return]


@pytest.mark.parametrize("reads", ["no", 1, [False], object()])
def test_only_true_means_that_a_call_only_reads(reads: object) -> None:
    """A check that was written async gives an object, which is not false."""
    tool = SampleTool("fn", Careless("fn", reads=reads))
    assert judge(compile_context(context(), policy()), tool, {}).behavior == "ask"


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [("deny", "deny"), ("ask", "ask"), ("no such thing", "deny"), (None, "deny")],
)
def test_an_opinion_in_plain_text_counts(behavior: str, expected: str) -> None:
    """A denial that is spelled as text denies in every mode; what can't be read denies as well."""
    own = PermissionDecision(cast("PermissionBehavior", behavior), "because", bypass_immune=True)
    rules = [rule("allow")]
    verdict = judge(compile_context(context(rules), policy()), function(own=own), {})
    assert verdict.behavior == expected


@pytest.mark.parametrize(
    "path",
    ["priv", "priv/", "./priv", "./priv/", "src/../priv", "/srv/work/priv", "PRIV", "pr\u200civ"],
)
def test_a_search_below_a_denied_directory_is_denied_however_it_is_spelled(path: str) -> None:
    """For Grep and Glob, whose rules are about what lies below the directory searched."""
    for looks_at in ("names", "contents"):
        tool = SampleTool("Search", SearchPermissions("Search", PATHS, looks_at))
        rules = [rule("deny", "Search", "priv/**")]
        verdict = judge(compile_context(context(rules), policy()), tool, {"path": path})
        assert verdict.behavior == "deny"


@pytest.mark.parametrize(
    "path", [".env", "./.ENV", "a/../.env", ".env/", ".env/.", ".e\u200cnv", "/srv/work//.env"]
)
def test_a_denied_file_is_denied_however_it_is_spelled(path: str) -> None:
    """Case, dots, slashes and invisible characters make no other file of it."""
    for tool in (read(PATHS), write("Read", PATHS)):
        rules = [rule("deny", "Read", "**/.env")]
        verdict = judge(compile_context(context(rules), policy()), tool, {"file_path": path})
        assert verdict.behavior == "deny"


@pytest.mark.parametrize(
    "path",
    [".git/config", "a/.GIT/hooks/x", ".g\u200cit/config", ".zshenv", ".bash_login", "~/.profile"],
)
def test_what_steers_programs_is_no_plain_edit(path: str) -> None:
    """Not even inside the working directory, in the mode that accepts edits there."""
    editing = context(mode=PermissionMode.ACCEPT_EDITS)
    verdict = judge(compile_context(editing, policy()), write(), {"file_path": path})
    assert (verdict.behavior, verdict.cause) == ("ask", "safety")
