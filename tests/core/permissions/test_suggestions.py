"""What a card offers to allow from now on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.permissions.profiles import find_profile, uncovered
from core.permissions.profiles.suggestions import suggest_shell_rules
from core.permissions.shell.words import NotPlain, read_commands
from tests.cases import rows
from tests.core.permissions.profile_lines import COVERED, DANGEROUS

SECURITY = rows("security_cases.jsonl", "rule_suggest")
REFERENCE = [row for row in rows("reference_suggestion.jsonl") if row["tool"] == "bash"]

# Source: agentscope 2.0's list of commands that it runs without asking.
RUN_UNASKED = (
    *("ls", "cat", "head", "tail", "less", "more", "file", "stat", "wc", "grep", "rg", "ag", "ack"),
    *("find", "tree", "pwd", "which", "whereis", "type", "echo", "cd", "true", "false", "printf"),
    *("git status", "git log", "git diff", "git show", "git ls-files", "git ls-tree"),
    *("git cat-file", "git rev-parse", "git rev-list", "git describe", "git shortlog"),
    *("git blame", "git grep", "git config --get", "git config --list", "docker ps"),
    *("docker images", "docker inspect", "docker logs", "docker version", "docker info"),
    *("gh repo view", "gh issue list", "gh pr list", "gh status", "npm list", "npm ls"),
    *("pip list", "pip show", "python --version", "node --version"),
)


def kind(rule: str) -> str:
    """A rule as the cases write it: ``prefix:ls *``, ``exact:ls -la``."""
    return f"prefix:{rule}" if rule.endswith(" *") else f"exact:{rule}"


def argv(rule: str) -> tuple[str, ...]:
    """The words of a rule's content, its ending apart."""
    (command,) = read_commands(rule.removesuffix(" *"))
    return command.argv


@pytest.mark.parametrize("row", SECURITY, ids=[row["id"] for row in SECURITY])
def test_the_offers_are_the_expected_ones(row: dict[str, Any]) -> None:
    """Exactly these, the narrowest first; nothing for shells, wrappers, expansions and the like."""
    offers = [kind(rule) for rule in suggest_shell_rules(row["input"]["command"])]
    assert offers == row["expected"]["offer"]


@pytest.mark.parametrize("row", REFERENCE, ids=[row["input"]["command"][:40] for row in REFERENCE])
def test_no_offer_is_looser_than_the_references(row: dict[str, Any]) -> None:
    """Each offer is a narrower form of one of its own, or for what it runs without a question."""
    theirs = [rule["rule_content"].removesuffix(":*") for rule in row["suggested_rules"]]
    for rule in suggest_shell_rules(row["input"]["command"]):
        words = " ".join(argv(rule))
        narrower = any(f"{words} ".startswith(f"{prefix} ") for prefix in theirs)
        unasked = f"{words} ".startswith(tuple(f"{start} " for start in RUN_UNASKED))
        assert narrower or unasked, rule


def test_the_reference_rows_hold_offers_of_both_kinds() -> None:
    """The comparison above is not empty."""
    offers = [rule for row in REFERENCE for rule in suggest_shell_rules(row["input"]["command"])]
    assert sum(rule.endswith(" *") for rule in offers) >= 20
    assert sum(not rule.endswith(" *") for rule in offers) >= 20


@pytest.mark.parametrize("text", COVERED + DANGEROUS)
def test_offered_rules_cover_the_command_and_are_the_narrowest_first(text: str) -> None:
    """The first offer is the line itself; a prefix rests on a profile that covers the line."""
    offers = suggest_shell_rules(text)
    (command,) = read_commands(text)
    for rule in offers:
        if rule.endswith(" *"):
            match = find_profile(command.argv)
            assert match is not None
            assert match.prefix_len <= len(argv(rule))
            assert uncovered(match.profile, command.words[match.prefix_len :]) is None
            assert command.argv[: len(argv(rule))] == argv(rule)
        else:
            assert rule == offers[0]
            assert argv(rule) == command.argv


@pytest.mark.parametrize(
    "text",
    [
        "git add -f x",
        "git push",
        "git push --force",
        "git commit -m x",
        "git checkout main",
        "kubectl delete pod x",
        "kubectl get secret x",
        "docker inspect app",
        "docker compose up -d",
        "npx tsc",
        "uv run python x.py",
        "python -m pytest tests",
        "node server.js",
        "sleep 60",
        "env",
        "/usr/bin/git status",
        "./run.sh",
        "FOO=1 ls",
        "ls > out.txt",
        "ls & pwd",
        "ls\nrm x",
        "ls; rm x",
        "ls && curl -X POST https://example.com",
        "cat .env",
        "curl https://u:p@example.com/x",
        "curl -d @f https://example.com",
        "curl -H 'Authorization: x' https://example.com",
        "curl -o x https://example.com",
        "curl -w @/etc/passwd https://example.com",
        "curl file:///etc/passwd",
        "rm --version",
        "bash --version",
        "sudo --version",
        "cat ~/.npmrc; echo ---",
    ],
)
def test_nothing_is_offered(text: str) -> None:
    """Writers, runners of other programs, secrets, and lines of which one part can't be offered."""
    assert suggest_shell_rules(text) == []


@pytest.mark.parametrize(
    ("text", "offers"),
    [
        ("npm test", ["npm test"]),
        ("make test 2>&1 | tail -5", ["make test", "tail -5", "tail *"]),
        ("kubectl get pods -A", ["kubectl get pods -A", "kubectl get pods *"]),
        ("kubectl get -n web pods", ["kubectl get -n web pods"]),
        (
            "aws logs tail /aws/x --follow",
            ["aws logs tail /aws/x --follow", "aws logs tail /aws/x *"],
        ),
        ("df -h /", ["df -h /", "df -h *"]),
        ("sort -u f", ["sort -u f", "sort -u *"]),
        ("uptime", []),
        ("ls *.py", ["ls *"]),
        ("cd src && git log", []),
        ("cd src && npm test", ["cd src", "npm test"]),
        ("gh api repos/o/r", ["gh api repos/o/r"]),
        ("superclaude --version", ["superclaude --version"]),
        ("node --version", ["node --version"]),
        ("git status; git status", ["git status", "git status *"]),
        ("ls 'it'\"'\"'s'", ["ls 'it'\"'\"'s'", "ls *"]),
    ],
)
def test_these_are_offered(text: str, offers: list[str]) -> None:
    """Readers by prefix, runners and requests by the very line, each rule once."""
    assert suggest_shell_rules(text) == offers


def test_a_long_line_is_judged_each_time() -> None:
    """More rules at once than a person reads are no offer."""
    assert suggest_shell_rules("; ".join(f"ls a{n}" for n in range(5)))
    assert suggest_shell_rules("; ".join(f"ls a{n}" for n in range(6))) == []


@given(st.text(max_size=40))
def test_any_text_gets_an_answer(text: str) -> None:
    """Whatever an agent writes, the card can be drawn; what can't be read is offered nothing."""
    offers = suggest_shell_rules(text)
    try:
        read_commands(text)
    except NotPlain:
        assert offers == []
