"""What flag profiles cover: every row is a line that a prefix rule on its command would meet."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RuleRefused
from core.permissions.profiles import (
    Profile,
    Profiles,
    find_profile,
    profile_from_config,
    runs_another_program,
    uncovered,
)
from core.permissions.profiles import names as program_names
from core.permissions.profiles.profile import Globs, Offer, Style, Takes, profile
from core.permissions.profiles.registry import EXACT_LINES, SHIPPED
from core.permissions.profiles.secret_names import names_a_secret
from core.permissions.shell.words import Word, read_commands
from tests.core.permissions.profile_lines import COVERED, DANGEROUS


def line(text: str) -> str | None:
    """Why the only command of `text` is not covered by a profile; None when it is."""
    (command,) = read_commands(text)
    match = find_profile(command.argv)
    if match is None:
        return "no profile"
    return uncovered(match.profile, command.words[match.prefix_len :])


def word(text: str, *, glob: bool = False) -> Word:
    return Word(text, plain=True, glob=glob)


@pytest.mark.parametrize("text", COVERED)
def test_lines_that_only_read_or_run_the_project_are_covered(text: str) -> None:
    """People allow these by a prefix; asking again would train them to press Approve."""
    assert line(text) is None


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_dangerous_flag_operand_or_subcommand_is_not_covered(text: str) -> None:
    """Each of these runs another program, writes, reaches elsewhere or prints a secret."""
    assert line(text) is not None


def test_at_least_sixty_programs_have_a_profile() -> None:
    """The commands that operations and coding agents read with."""
    assert len({command[0] for command in SHIPPED}) >= 60


def test_no_shell_wrapper_network_tool_or_writer_has_a_profile() -> None:
    """Only lookups (`command -v`, `node --version`) and test runners bear such a name."""
    exempt = {
        *(("command", "-v"), ("command", "-V"), ("bun", "test"), ("bun", "run", "NAME")),
        *((p, f) for p in ("python", "python3") for f in ("--version", "-V")),
        *(("node", "--version"), ("node", "-v")),
    }
    for command in SHIPPED:
        program = command[0]
        bad = (
            program_names.is_interpreter(program)
            or program_names.is_wrapper(program)
            or program_names.is_network(program)
            or program_names.is_writer(program)
        )
        assert not bad or command in exempt, command


def test_a_bare_program_with_subcommands_has_no_profile() -> None:
    """`git:*` or `kubectl:*` would leave the subcommand open."""
    for program in ("git", "kubectl", "docker", "gh", "aws", "npm", "systemctl", "ip", "make"):
        assert find_profile([program]) is None


def test_a_rule_has_to_carry_the_options_before_the_subcommand() -> None:
    """`kubectl --context x get` is four words of prefix, so `kubectl get:*` never covers it."""
    match = find_profile(["kubectl", "--context", "prod", "get", "pods"])
    assert match is not None
    assert match.prefix_len == 4
    plain = find_profile(["kubectl", "get", "pods"])
    assert plain is not None
    assert plain.prefix_len == 2


def test_the_longest_command_wins() -> None:
    """`git reflog show` is not judged as an operand of `git reflog`."""
    match = find_profile(["git", "reflog", "show", "HEAD"])
    assert match is not None
    assert match.profile.command == ("git", "reflog", "show")


def test_a_value_in_a_word_of_its_own_must_not_look_like_a_flag() -> None:
    """Another version of the program might take that word for a flag."""
    tested = profile("x", "-n= --name= -a")
    assert uncovered(tested, [word("-n"), word("-a")]) is not None
    assert uncovered(tested, [word("--name"), word("--other")]) is not None
    assert uncovered(tested, [word("-n"), word("-1")]) is None
    assert uncovered(tested, [word("-n")]) is not None


def test_an_operand_after_two_dashes_is_no_flag() -> None:
    """The end of flags holds for every program that knows it."""
    assert uncovered(profile("x", "-a"), [word("--"), word("-b")]) is None
    assert uncovered(profile("x", "-a", style=Style.WHOLE), [word("--")]) is not None


def test_globs_that_could_become_flags_are_not_covered() -> None:
    """`*.py` may expand to a file called `-x.py`; `src/*.py` never does."""
    tested = profile("x", "-a --include=", operands=None)
    assert uncovered(tested, [word("src/*.py", glob=True)]) is None
    assert uncovered(tested, [word("--include=*.py", glob=True)]) is None
    for text in ("*.py", "?x", "[ab]", "{-a,-b}", "-*", "--incl*=x"):
        assert uncovered(tested, [word(text, glob=True)]) is not None
    assert uncovered(profile("x", globs=Globs.ANY), [word("*", glob=True)]) is None
    assert uncovered(profile("x", globs=Globs.NONE), [word("a*", glob=True)]) is not None


PROFILES = sorted(SHIPPED.items()) + sorted(EXACT_LINES.items())
NAMES = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=12)


@given(entry=st.sampled_from(PROFILES), name=NAMES, after_operand=st.booleans())
def test_an_unknown_flag_is_never_covered(
    entry: tuple[tuple[str, ...], Profile], name: str, *, after_operand: bool
) -> None:
    """Whatever the program, whatever stands before it: what the profile does not name, asks."""
    _, shipped = entry
    flag = f"--{name}"
    if shipped.style in (Style.TEXT, Style.FIRST) or flag in shipped.flags or flag == "--":
        return
    before = [word("x")] if after_operand else []
    assert uncovered(shipped, [*before, word(flag)]) is not None
    assert uncovered(shipped, [*before, word(f"{flag}=x")]) is not None


@given(st.sampled_from(PROFILES), st.data())
def test_an_abbreviated_flag_is_never_covered(
    entry: tuple[tuple[str, ...], Profile], data: st.DataObject
) -> None:
    """`--compress-prog` is not looked up by how it begins."""
    _, shipped = entry
    long = sorted(flag for flag in shipped.flags if flag.startswith("--") and len(flag) > 4)
    if not long or shipped.style in (Style.TEXT, Style.FIRST):
        return
    flag = data.draw(st.sampled_from(long))
    short = flag[: data.draw(st.integers(3, len(flag) - 1))]
    if short in shipped.flags:
        return
    assert uncovered(shipped, [word(short)]) is not None


@given(st.sampled_from(PROFILES), st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"]))
def test_an_unknown_letter_spoils_a_cluster(
    entry: tuple[tuple[str, ...], Profile], letter: str
) -> None:
    """`-la` is covered only if both letters are; one that takes a value swallows the rest."""
    _, shipped = entry
    if shipped.style is not Style.GNU or f"-{letter}" in shipped.flags:
        return
    if shipped.numbers and letter.isdigit():
        return
    alone = [flag for flag, takes in shipped.flags.items() if takes is Takes.NOTHING]
    known = next((flag for flag in alone if len(flag) == 2), None)
    assert uncovered(shipped, [word(f"-{letter}")]) is not None
    if known:
        assert uncovered(shipped, [word(f"{known}{letter}")]) is not None


@given(st.sampled_from(PROFILES), st.lists(st.sampled_from(["a", "b/c", "10"]), max_size=4))
def test_one_more_operand_is_covered_only_if_the_profile_says_so(
    entry: tuple[tuple[str, ...], Profile], texts: list[str]
) -> None:
    """`git branch` lists and `git branch x` makes one: the count is part of the profile."""
    _, shipped = entry
    if shipped.requires or shipped.style is Style.TEXT:
        return
    words = [word(text) for text in texts]
    most = 0 if shipped.operand_flags else shipped.operands
    counted = len(words) - (1 if shipped.script is not None and words else 0)
    if most is not None and counted > most:
        assert uncovered(shipped, words) is not None
    if uncovered(shipped, [*words, word("a")]) is None and words and shipped.operand is None:
        assert uncovered(shipped, words) is None


@given(entry=st.sampled_from(PROFILES), text=st.text(max_size=8), glob=st.booleans())
def test_any_word_gets_an_answer(
    entry: tuple[tuple[str, ...], Profile], text: str, *, glob: bool
) -> None:
    """No word of any shape makes the judgement fail."""
    why = uncovered(entry[1], [Word(text, plain=False, glob=glob)])
    assert why is None or why


@pytest.mark.parametrize(
    "path",
    [
        "src/main.py",
        "/home/dev/.local/share/keyturn/src/x.py",
        ".env.example",
        "docs/secrets.md",
        "id_rsa.pub",
        "src/*.py",
        "k8s/*.yaml",
        ".",
    ],
)
def test_ordinary_paths_are_not_secret(path: str) -> None:
    """The list is of well-known names, not of everything that might be one."""
    assert not names_a_secret(path)


def test_programs_are_known_by_any_spelling() -> None:
    """Versions, directories and endings do not hide an interpreter or a wrapper."""
    for program in ("python3.11", "/usr/bin/python", "Node.EXE", "bash", "perl5.36", "psql"):
        assert program_names.is_interpreter(program), program
    assert program_names.is_wrapper("/usr/bin/sudo")
    assert runs_another_program(["uv", "run", "x"])
    assert not runs_another_program(["command", "-v", "x"])
    assert not program_names.is_interpreter("sha256sum")


def test_an_operator_declares_a_profile() -> None:
    """A program that only they use; its rules are theirs to write, no card offers them."""
    own = profile_from_config(
        {
            "command": "crabbox image status",
            "flags": ["--json", "--region=", "-v", "-o="],
            "operands": 1,
        }
    )
    profiles = Profiles({own.command: own})
    match = profiles.find_profile(["crabbox", "image", "status", "ami-1"])
    assert match is not None
    assert match.prefix_len == 3
    assert own.offer is Offer.NOTHING
    assert profiles.uncovered(own, [word("ami-1"), word("--region"), word("eu")]) is None
    assert profiles.uncovered(own, [word("a"), word("b")]) is not None
    assert profiles.uncovered(own, [word("--delete")]) is not None


def test_an_operators_profile_of_a_long_command_is_found() -> None:
    """Their commands may have more words than any of ours."""
    own = profile_from_config({"command": "a b c d e f", "any_flags": True})
    match = find_profile(["a", "b", "c", "d", "e", "f", "--x"], {own.command: own})
    assert match is not None
    assert match.prefix_len == 6


def test_any_flags_covers_every_argument_but_no_open_glob() -> None:
    """The operator vouches for the program, not for what the shell makes of a star."""
    own = profile_from_config({"command": "lsx", "any_flags": True})
    assert uncovered(own, [word("--whatever"), word("x")]) is None
    assert uncovered(own, [word("*", glob=True)]) is not None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "command"),
        ({"command": "bash", "any_flags": True}, "a shell"),
        ({"command": "python3.12", "any_flags": True}, "an interpreter"),
        ({"command": "sudo ls"}, "a wrapper"),
        ({"command": "uv run x"}, "a wrapper"),
        ({"command": "docker exec"}, "a wrapper"),
        ({"command": "/bin/x"}, "without a path"),
        ({"command": "x  y"}, "without a path"),
        ({"command": "NAME x"}, "one program"),
        ({"command": "x", "flag": ["-a"]}, "flag"),
        ({"command": "x", "flags": ["all"]}, "no flag"),
        ({"command": "x", "flags": ["--a b"]}, "no flag"),
        ({"command": "x", "operands": -1}, "operands"),
        ({"command": "x", "operands": "1"}, "operands"),
        ({"command": "x", "any_flags": True, "flags": ["-a"]}, "any_flags"),
    ],
)
def test_a_mistake_in_a_declared_profile_is_named(table: dict[str, object], said: str) -> None:
    """Refused at start, with the key or the word that is wrong."""
    with pytest.raises(RuleRefused, match=said):
        profile_from_config(table)
