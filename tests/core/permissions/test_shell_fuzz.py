"""Shell rules against real bash: what is allowed runs as it was read, and nothing else runs."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.permissions import profiles
from core.permissions.shell import rules
from core.permissions.shell.words import Word
from tests.core.permissions.shell_mutants import mutant, use
from tests.fuzz.bash import BASH, Bash, may_run
from tests.fuzz.check import (
    RULES,
    Judge,
    check_allowed,
    check_denied,
    judge_by_rules,
    shipped_judge,
)
from tests.fuzz.strings import shell_strings, smuggled_strings

COUNT = int(os.environ.get("KEYTURN_FUZZ_COUNT", "20000"))
SEED = int(os.environ.get("KEYTURN_FUZZ_SEED", "11"))

pytestmark = [
    pytest.mark.skipif(not BASH.exists(), reason="there is no /bin/bash to compare with"),
    pytest.mark.timeout(max(300, COUNT // 50)),
]


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    """Real bash in a scratch directory, with no programs."""
    return Bash(tmp_path)


def test_what_rules_allow_runs_as_it_was_read(bash: Bash) -> None:
    """Every program that bash starts, with its words, is one that the rules cover."""
    report = check_allowed(shell_strings(SEED, COUNT), shipped_judge(), bash)

    assert not report.violations
    assert report.judged == COUNT
    assert report.ran > COUNT / 20, "too few strings were allowed for this to mean anything"


def test_what_deny_rules_name_does_not_run(bash: Bash) -> None:
    """However a program's name is smuggled in, if bash starts it, its deny rule matched."""
    report = check_denied(smuggled_strings(SEED, COUNT // 10), bash)

    assert not report.violations
    assert report.ran > COUNT / 1000


def _by_text(text: str) -> Sequence[Sequence[Word]] | None:
    heads = [rule.removesuffix(":*").removesuffix(" *") for rule in RULES if "* o" not in rule]
    if any(text.startswith(head) for head in heads):
        return [[Word(word, plain=True, glob=False) for word in text.split()]]
    return None


def _by_shlex(text: str) -> Sequence[Sequence[Word]] | None:
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if "$" in text or "`" in text or _by_text(shlex.join(words)) is None:
        return None
    return [[Word(word, plain=True, glob=False) for word in words]]


def _is_caught(judge: Judge, bash: Bash) -> bool:
    """Whether the harness finds anything, in far fewer strings than the suite judges."""
    return any(
        check_allowed(shell_strings(SEED + part, 400), judge, bash).violations for part in range(20)
    )


@pytest.mark.parametrize("judge", [_by_text, _by_shlex])
def test_a_careless_matcher_is_caught(bash: Bash, judge: Judge) -> None:
    """Matching the text, or the words of a tokenizer that is no shell, lets other programs run."""
    assert _is_caught(judge, bash)


FAULTS = {
    "words that touch": (
        'if child.start_byte == end:\n            raise NotPlain("two',
        'if False:\n            raise NotPlain("two',
    ),
    "background jobs": (
        'frozenset({"&&", "||", ";", "|"})',
        'frozenset({"&&", "||", ";", "|", "&"})',
    ),
    "any redirection": (
        'r"[12]?>[ \\t]*/dev/null|2>&1|1?>&2"',
        'r"[12]?>[ \\t]*/dev/null|2>&1|1?>&2|>[ ]?f"',
    ),
    "blanks inside a word": ('&| \\t")', '&|")'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(bash: Bash, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one check of the reader taken out, bash does something else than what was read."""
    broken = mutant(*FAULTS[fault])
    use(broken, monkeypatch)
    monkeypatch.setattr("tests.fuzz.check.read_commands", broken.__dict__["read_commands"])
    judge = judge_by_rules(rules.AllowRules(RULES, profiles))

    assert _is_caught(judge, bash)


def test_strings_that_could_reach_outside_are_not_run() -> None:
    """The harness runs nothing that names a path of the machine or stops a process."""
    for text in ("/bin/id", "ls ../x", "ls;/bin/id", "> ~root/x", "kill -9 1", "ls </etc/passwd"):
        assert not may_run(text), text
    assert may_run("git status >/dev/null src/x")
    assert may_run("ls ~/x")
