"""Deny and ask rules see a program wherever it stands, and at least what the reference sees."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.permissions.shell.denial import DenyRules
from core.permissions.shell.patterns import PatternIndex, matches_parts, read_pattern
from core.permissions.shell.programs import MAX_SIZE, programs

CASES = Path(__file__).parents[2] / "cases" / "reference_match.jsonl"
RULES = ("curl:*", "rm:*", "git push:*", "kubectl * delete *", "npm install")

MATCHED = (
    *("rm x", "rm", " rm x", "rm\tx", "RM x", "/bin/rm x", "./rm x", "'rm' x", "r''m x", "\\rm x"),
    *("r\\\nm x", "$'\\x72m' x", '$"rm" x', "r$@m x", "rm${IFS}x", "{rm,x}", "/bin/r? x", "r[m] x"),
    *("ls; rm x", "ls & rm x", "ls\nrm x", "ls | rm", "(rm x)", "{ rm x; }", "! rm x", "time rm x"),
    *("X=1 rm x", "if a; then rm x; fi", "f(){ rm x; }", "for i in a; do rm $i; done", ">f rm x"),
    *("echo $(rm x)", "echo `rm x`", 'echo "$(rm x)"', "cat <(rm x)", "cat <<E\n$(rm x)\nE"),
    *("echo ${x:-$(rm x)}", "X=$(rm x)", "coproc rm x", "trap 'rm x' EXIT", "alias ls='rm x'"),
    *("sudo rm x", "sudo -u bob rm x", "env A=1 rm x", "timeout 5 rm x", "timeout -k 5 5s rm x"),
    *("nice -n 5 rm x", "xargs rm", "xargs -n 1 -I{} rm {}", "find . -exec rm {} \\;", "fd -x rm"),
    *("sh -c 'rm x'", "sh -c \"sh -c 'rm x'\"", "eval rm x", "bash -lc 'ls; rm x'", "busybox rm x"),
    *("echo 'rm x' | sh", "bash <<E\nrm x\nE", "bash <<< 'rm x'", "env -S 'rm x'", "watch 'rm x'"),
    *("ssh host 'rm x'", "command rm x", "exec -a ls rm x", "sudo >f rm x", "nohup rm x &"),
    *("git push", "git -C x push", "git --git-dir x -c a=b push f", "sudo git push", "git 'push'"),
    *("kubectl -n a delete pod", "npm install x", "npm  install x", "npm 'install' x"),
    *("git -c alias.a='!rm x' a", "ls 'unterminated; rm x", "sudo " * 200 + "ls", "a|" * 3000),
)
NOT_MATCHED = (
    *(
        "ls",
        "rmdir x",
        "git pull",
        "git status; ls",
        "echo harmless",
        "npm run build",
        "grep curl f",
    ),
    *("git stash push", "find . -name rm", "git log --grep push", "git commit -m 'rm x'"),
)


@pytest.mark.parametrize("command", MATCHED)
def test_a_denied_program_is_found_wherever_it_stands(command: str) -> None:
    """Quotes, paths, case, wrappers, substitutions, scripts in strings, options in front."""
    assert DenyRules(RULES).first(command) is not None


@pytest.mark.parametrize("command", NOT_MATCHED)
def test_a_name_that_is_only_mentioned_is_not_denied(command: str) -> None:
    """Too strict is a fault as well."""
    assert DenyRules(RULES).first(command) is None


def test_the_first_rule_that_matches_is_named() -> None:
    """The order of the rules decides which one is shown."""
    rules = DenyRules(["git push:*", "rm:*", "rm -r:*", None])

    assert rules.first("rm -r x") == 1
    assert rules.first("rm x; git push") == 0
    assert rules.first("ls") == 3
    assert DenyRules([]).first("rm x") is None


def test_whatever_the_reference_matches_is_matched() -> None:
    """Every recorded verdict of its matcher; where it raised an error, nothing is let through."""
    rows = map(json.loads, CASES.read_text().splitlines())
    for row in (row for row in rows if row["tool"] == "Bash"):
        found = DenyRules([row["rule_content"]]).first(row["input"].get("command", ""))
        assert found is not None or row["matches"] is False, row


@pytest.mark.parametrize("depth", [3, 9])
def test_scripts_in_strings_are_followed_to_a_depth_and_matched_beyond(depth: int) -> None:
    """Past a limit nobody knows what runs, so the rule is taken to match."""
    command = "rm x" if depth < 7 else "ls"
    for _ in range(depth):
        command = "sh -c " + "'" + command.replace("'", "'\\''") + "'"

    assert DenyRules(["rm:*"]).first(command) == 0


def test_a_text_beyond_every_limit_is_matched_at_once() -> None:
    """Too long to be read is not the same as harmless."""
    assert DenyRules(["rm:*"]).first("ls " + "a" * MAX_SIZE) == 0


@pytest.mark.parametrize(
    "unit", ["a;", "bash -c a ", "x=(", "echo a | sh;", "`", "a&&a", "rm{a,b}"]
)
def test_no_text_keeps_the_reader_busy(unit: str) -> None:
    """The cost is bounded in the length of the text."""
    started = time.monotonic()

    DenyRules(["rm:*"]).first(unit * (MAX_SIZE // len(unit)))

    assert time.monotonic() - started < 20


_PATTERNS = st.lists(st.text(alphabet="ab *:", max_size=6), max_size=8)


@given(_PATTERNS, st.text(alphabet="ab :", max_size=12))
def test_an_index_of_patterns_finds_what_each_alone_finds(contents: list[str], text: str) -> None:
    """Filing patterns under rare characters loses none and invents none."""
    patterns = [read_pattern(content) for content in contents]

    alone = [at for at, pattern in enumerate(patterns) if pattern.matches(text)]

    assert PatternIndex(enumerate(patterns)).first(text) == min(alone, default=None)


@given(st.lists(st.text(alphabet="ab", max_size=3), min_size=1, max_size=4), st.text("ab"))
def test_parts_match_as_a_regular_expression_would(parts: list[str], text: str) -> None:
    """Without its worst case."""
    import re

    expected = re.fullmatch(".*".join(map(re.escape, parts)), text) is not None

    assert matches_parts(parts, text) == expected


def test_programs_are_listed_with_their_words_and_redirections() -> None:
    """Safety checks read the same list."""
    listed = programs("sudo -u x /bin/rm -r 'a b' >> f")

    assert ("rm", "-r", "a b") in listed
    assert (">", "f") in listed
