"""Shell strings for the fuzz: ordinary commands, the tricks people know, and mutations of both."""

import random
from collections.abc import Iterator

COMMANDS = (
    *("git status", "git status --short", "git status -- src", "git log --oneline -3", "ls"),
    *("ls -la src", "cat a b", "head -n 3 f", "wc -l f", "echo hello", "echo", "grep -rn foo ."),
    *("npm test", "npm run test:unit", "npm run build", "make build", "curl x", "rm -r d", "id"),
    *("git push origin", "sort f", "find . -name x", "tee f", "cd src", "printf x"),
)
WORDS = (
    *("a", "-n", "--short", "'a b'", '"a b"', "a\\ b", "''", '""', "\\*", "*.py", "f?", "[ab]"),
    *("a=b", "~", "~/x", "é", "名前", "5", "-5", "#x", "a#b", "{}", "{a,b}", "HEAD@{1}", "x{1..3}"),
    *("'$(id)'", '"$(id)"', "$(id)", "`id`", "$x", "${x}", "${x:-id}", "$((1+1))", "$'id'", '$"x"'),
    *("<(id)", "!", "!x", "\\;", ";", "'status'\\;", '"a";', "'a'id", "a'b'c", '"\\""', "'\\'"),
    *('"a$"', '"(a|b)$"', '"$|"', '"$)"', "{", "}", "{ {}", '"$"', "a$", '"a$"b'),
    *("then", "do", "in", "time", "\\", "\\\\", "a\\", "@(a)", "%", "+", ",", ":", "^", "-", "--"),
)
BETWEEN = (
    *(" && ", " || ", "; ", " | ", "&&", "||", ";", "|", " & ", "&", " |& ", "\n", "\r\n", " \n "),
    *(" # ", "#", "\\\n", " \\\n", "\t", "  ", "\xa0", "\u3000", "\u200b", "\x0b", "\x0c", "\x01"),
)
ENDINGS = (
    *(
        "",
        "",
        "",
        "",
        ";",
        " ",
        " &",
        "&",
        " >/dev/null",
        " 2>&1",
        " >/dev/null 2>&1",
        ">/dev/null",
    ),
    *(
        " > f",
        ">f",
        " 2>f",
        " >& f",
        " &> f",
        " < f",
        " <<< x",
        " <<E\nid\nE",
        " >|f",
        "<>f",
        " 3>f",
    ),
    *(" >(id)", ">(id)", " 1>&2", " >&2 f", " 2>&1f", " 2>/dev/null/x", " #c", "#c", " ;;", "\n"),
)
WRAPS = (
    *(
        "({})",
        "{{ {}; }}",
        "$({})",
        "`{}`",
        "! {}",
        "time {}",
        "if {}; then id; fi",
        "f(){{ {}; }}; f",
    ),
    *("for i in a; do {}; done", "while {}; do break; done", "case a in a) {};; esac", "eval '{}'"),
    *("coproc {}", "X=1 {}", "command {}", "exec {}", "sudo {}", "env {}", "\\{}", "'{}'", '"{}"'),
    *("[[ -n x ]] && {}", "(({})) ", "{} {{x,y}}", "builtin {}", ">f {}", "2>/dev/null {}", "\t{}"),
)
PIECES: tuple[str, ...] = (*WORDS, *BETWEEN, *ENDINGS, *"'\"\\$`(){}[]<>|&;#!*?~=-@:%+,. \t\n")


FOUND = ("git 'status'\\; rm x", "ls { {}", "ls -la {} { {}b", 'echo "";rm -rf a;echo ""')
"""Strings that some reader of ours, or of others, once got wrong."""


def shell_strings(seed: int, count: int) -> Iterator[str]:
    """`count` strings, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, nothing secret
    yield from FOUND[:count]
    for _ in range(count - len(FOUND)):
        text = _command(chance)
        while chance.random() < 0.35:
            between = BETWEEN if chance.random() < 0.5 else BETWEEN[:8]
            text += chance.choice(between) + _command(chance)
        if chance.random() < 0.12:
            text = chance.choice(WRAPS).format(text)
        for _ in range(chance.choice((0, 0, 0, 0, 1, 1, 2))):
            text = _mutated(chance, text)
        yield text


def _command(chance: random.Random) -> str:
    text = chance.choice(COMMANDS)
    while chance.random() < 0.35:
        text += chance.choice((" ", " ", " ", " ", "")) + _word(chance)
    return text + (chance.choice(ENDINGS) if chance.random() < 0.4 else "")


def _word(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.4:
        return chance.choice("abcdefgh") + str(chance.randrange(1000))
    return chance.choice(WORDS if kind < 0.8 else WORDS[:12])


def _mutated(chance: random.Random, text: str) -> str:
    at = chance.randrange(len(text) + 1)
    match chance.randrange(5):
        case 0 | 1:
            return text[:at] + chance.choice(PIECES) + text[at:]
        case 2:
            return text[:at] + text[at + 1 :]
        case 3:
            quote = chance.choice(("'", '"'))
            end = chance.randrange(at, len(text) + 1)
            return text[:at] + quote + text[at:end] + quote + text[end:]
        case _:
            end = chance.randrange(at, len(text) + 1)
            return text[:end] + text[at:end] + text[end:]


DENIED = ("curl", "rm")
SMUGGLED = (
    *("{} x", "  {} x", "'{}' x", '"{}" x', "\\{} x", "./{} x", "src/{} x", "{}\tx", "{};", "{}&"),
    *(
        "ls; {} x",
        "ls && {} x",
        "ls | {}",
        "ls & {}",
        "ls\n{} x",
        "({} x)",
        "{{ {} x; }}",
        "! {} x",
    ),
    *(
        "time {} x",
        "X=1 {} x",
        "X=1 Y=2 {}",
        "if true; then {} x; fi",
        "f(){{ {} x; }}; f",
        ">f {} x",
    ),
    *("for i in a; do {} x; done", "while {} x; do break; done", "case a in a) {} x;; esac"),
    *(
        "eval '{} x'",
        "eval {} x",
        "eval \"eval '{} x'\"",
        "command {} x",
        "exec {} x",
        "echo $({} x)",
    ),
    *("echo `{} x`", 'echo "$({} x)"', "cat <({} x)", "cat <<E\n$({} x)\nE", "2>/dev/null {} x"),
    *(
        "{}\\\n x",
        "trap '{} x' EXIT",
        "coproc {} x",
        "command -p {} x",
        "exec -a b {} x",
        "X=$({} x)",
    ),
    *("[[ -n $({} x) ]]", "echo ${{x:-$({} x)}}", "select i in a; do {} x; break; done", "{} x #c"),
    *(
        "until {} x; do break; done",
        "((x=$({} x)))",
        "ls >$({} x)",
        "ls # c\n{} x",
        "{}<<<x",
        "{}>f",
    ),
)


def smuggled_strings(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """A denied program and a string that may start it, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, nothing secret
    for _ in range(count):
        program = chance.choice(DENIED)
        text = chance.choice(SMUGGLED).format(_disguised(chance, program))
        while chance.random() < 0.3:
            text = chance.choice(SMUGGLED).format("true") + chance.choice(BETWEEN[:8]) + text
        if chance.random() < 0.3:
            text += chance.choice(BETWEEN) + _command(chance)
        if chance.random() < 0.3:
            text = _mutated(chance, text)
        yield program, text


def _disguised(chance: random.Random, name: str) -> str:
    at = chance.randrange(1, len(name))
    ways: tuple[str, ...] = (
        *(name, name, name, f"{name[:at]}''{name[at:]}", f'{name[:at]}"{name[at:]}"'),
        *(f"{name[:at]}\\{name[at:]}", f"$'{name}'", f"'{name[:at]}'{name[at:]}"),
        *(f"$'\\x{ord(name[0]):x}{name[1:]}'", f"{name[:at]}\\\n{name[at:]}", f'$"{name}"'),
        *(f"{name[:at]}$@{name[at:]}", f"{name[:at]}${{z}}{name[at:]}", f"{{{name},x}}"),
    )
    return chance.choice(ways)
