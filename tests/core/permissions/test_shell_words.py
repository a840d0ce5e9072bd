"""A command is read as bash would see it, or not at all."""

import time
from contextlib import suppress
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.permissions.shell.grammar import TooSlow, parse
from core.permissions.shell.words import MAX_BYTES, MAX_PARTS, NotPlain, read_commands
from tests.core.permissions.shell_mutants import mutant

READ = {
    "git  status\t--short": [["git", "status", "--short"]],
    "ls 'a b'\"c\"d\\ e": [["ls", "a bcd e"]],
    "a && b -c || d; e | f;": [["a"], ["b", "-c"], ["d"], ["e"], ["f"]],
    "ls -l >/dev/null 2>&1": [["ls", "-l"]],
    'echo "\\"; rm -rf /tmp/x; echo \\""': [["echo", '"; rm -rf /tmp/x; echo "']],
    'echo "a\\b" \'\' ""': [["echo", "a\\b", "", ""]],
    "ls 名前.txt": [["ls", "名前.txt"]],
    "git show HEAD@{1} a#b": [["git", "show", "HEAD@{1}", "a#b"]],
}

UNREAD = (
    *("", "  \t ", "# ls", "ls # x", "ls &", "ls & id", "ls |& id", "ls\nid", "ls\r\nid", "(ls)"),
    *("{ ls; }", "! ls", "time ls", "coproc ls", "if ls; then id; fi", "f(){ ls; }", "[[ -f a ]]"),
    *("[ -f a ]", "X=1 ls", "X=1", "export X=1", "ls $x", "ls ${x}", "ls $(id)", "ls `id`"),
    *(
        'ls "$(id)"',
        'ls "$x"',
        "ls $((1))",
        "ls <(id)",
        "ls $'a'",
        'ls $"a"',
        "ls {a,b}",
        "ls x{1..3}",
    ),
    *("ls > f", "ls < f", "ls <<< a", "ls <<E\nE", "ls &> f", "ls 2>f", "ls >/dev/null/x", ">f ls"),
    *("ls >&2 f", "\\ls", "'ls'", 'l"s"', "l?", "ls \\", "ls 'a", "ls &&", ";ls", "ls ;; id"),
    *("ls a\u200bb", "ls\xa0a", "ls \u2066x\u2069", "ls \x7f", "ls \ud800", "ls \U000e0041"),
    *("git 'status'\\; rm x", "ls { {}", "ls>/dev/null", "ls " + " " * 64 + "a"),
    *("ls " + "a" * MAX_BYTES, "; ".join(["ls"] * (MAX_PARTS + 1))),
)


@pytest.mark.parametrize("command", READ)
def test_words_are_those_that_bash_would_see(command: str) -> None:
    """Quotes and blanks make no difference; every part is there."""
    assert [list(part.argv) for part in read_commands(command)] == READ[command]


@pytest.mark.parametrize("command", UNREAD)
def test_what_is_not_certain_is_not_read(command: str) -> None:
    """Everything outside the small language asks, with a reason."""
    with pytest.raises(NotPlain) as caught:
        read_commands(command)

    assert caught.value.reason


def test_a_word_says_how_it_was_written() -> None:
    """Profiles need to know what bash may still expand."""
    (part,) = read_commands("ls a *.py '*' \\* ~/x a~b --x=~ [ab]")

    assert [(word.plain, word.glob) for word in part.words[1:]] == [
        *((True, False), (True, True), (False, False), (False, False)),
        *((True, True), (True, False), (True, True), (True, True)),
    ]


@given(st.lists(st.text(alphabet="ab'\" \\-é$*", min_size=1, max_size=6), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(texts: list[str]) -> None:
    """Whatever is put in single quotes is read as exactly that."""
    quoted = " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)

    (part,) = read_commands(f"ls {quoted}")

    assert list(part.argv[1:]) == texts


@pytest.mark.parametrize("unit", ["a|", "x=(", "<<E\n", "f()\n", "a|b|", "${", "sudo ", "a;", "("])
def test_no_text_keeps_the_parser_busy(unit: str) -> None:
    """The grammar is quadratic for some texts; a judgement still ends soon."""
    started = time.monotonic()

    with suppress(NotPlain):
        read_commands(unit * (MAX_BYTES // len(unit)))
    with suppress(TooSlow):
        parse((unit * (16 * MAX_BYTES // len(unit))).encode())

    assert time.monotonic() - started < 10


CHECKS = {
    "characters": ('unicodedata.category(char)[0] in "CZ"', 'unicodedata.category(char)[0] in ""'),
    "size": ("size > MAX_BYTES", "False"),
    "padding": ("_TOO_MANY_BLANKS.search(command)", "False"),
    "parts": ("count > MAX_PARTS", "False"),
    "operators": ("node.type not in _OPERATORS", "False"),
    "redirections": ("not _HARMLESS_REDIRECT.fullmatch(text)", "False"),
    "blank before a redirection": ("if redirect.start_byte == end:", "if False:"),
    "words that touch": ("if child.start_byte == end:", "if False:"),
    "program's name": ("if not program.plain or program.glob:", "if False:"),
    "keywords": ("if program.text in _KEYWORDS:", "if False:"),
    "braces": ('if "{" in braces and', 'if "{" not in braces and'),
    "syntax in words": ("if char in _SYNTAX:", "if False:"),
}


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_is_needed(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one check taken out, something that must not be read is read."""
    broken = mutant(*CHECKS[check])

    assert any(_reads(broken, command) for command in UNREAD)


def _reads(broken: ModuleType, command: str) -> bool:
    try:
        broken.__dict__["read_commands"](command)
    except (NotPlain, UnicodeEncodeError):
        return False
    return True
