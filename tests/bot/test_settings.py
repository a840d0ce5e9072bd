"""`keyturn.toml`: right files are read, wrong ones are refused with everything that is wrong."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.settings import parse_settings, read_settings
from bot.settings.lines import lines_of
from bot.settings.tool_rules import check_tool_rule
from core.errors import InvalidSettings

COMPLETE = """\
[agents.ops]
model = "scripted:demo"
owner = "ana"
tools = ["Bash", "Read", "mcp:github", "external:badge"]
workspace = "./work"

[approvers.sre]
slack_groups = ["S0614TZR7"]
people = ["ana", "bo"]

[people]
ana = { slack = "T0001/U0001", local = "ana" }
bo = { discord = "2201" }

[gates.default]
approvers = "sre"
timeout = "1h"

[[gates.list]]
match = "Bash(kubectl delete:*)"
approvers = "sre"
quorum = 2
timeout = "15m"
remind = ["5m"]
escalate = { after = "10m", to = "sre" }
risk = "high"

[[rules]]
allow = "Bash(git status:*)"

[tools.Bash]
title = "Run {command}"

[tasks.badge]
fulfillers = "sre"
input = { type = "object", properties = { person = { type = "string" } } }

[mcp.github]
command = ["github-mcp"]

[routes]
default = { slack = "C0APPROVALS" }
"""


def mistakes_of(text: str) -> str:
    with pytest.raises(InvalidSettings) as refused:
        parse_settings(text, "keyturn.toml")
    return str(refused.value)


def test_a_complete_file_is_read() -> None:
    """Everything the file says arrives, and what a gate leaves out is as in the default gate."""
    settings = parse_settings(COMPLETE, "keyturn.toml")

    gate = settings.gates.list[0]
    assert gate.timeout == timedelta(minutes=15)
    assert gate.grant_lifetime == settings.gates.default.grant_lifetime
    assert settings.agents["ops"].queue_limit == 20


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """Keyturn may be started from anywhere."""
    file = tmp_path / "keyturn.toml"
    file.write_text(COMPLETE)

    settings = read_settings(file)

    assert settings.agents["ops"].workspace == tmp_path / "work"
    assert settings.local.data == tmp_path / ".keyturn"


def test_all_mistakes_are_reported_at_once() -> None:
    """Shape and names in one pass: nobody repairs a file one start at a time."""
    text = (
        COMPLETE.replace('model = "scripted:demo"', 'model = "scripted:demo"\nmodell = "x"')
        .replace('"Read"', '"Raed"')
        .replace('timeout = "15m"', 'timeout = "soon"')
        .replace('fulfillers = "sre"', 'fulfillers = "sr"')
    )

    said = mistakes_of(text)

    assert said.startswith("4 mistakes in keyturn.toml. Nothing was started.")
    assert (
        'keyturn.toml:3: agents.ops.modell: is not a key of this table\n    Did you mean "mo'
        in said
    )
    assert 'keyturn.toml:5: agents.ops.tools[1]: there is no tool "Raed"' in said
    assert "keyturn.toml:24: gates.list[0].timeout: write a time span as" in said
    assert 'there is no approver set "sr"\n    Did you mean "sre"?' in said


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('slack_groups = ["S0614TZR7"]\npeople = ["ana", "bo"]', "", "is empty: nobody could ever"),
        ('escalate = { after = "10m", to = "sre" }', 'escalate = { after = "10m", to = "x" }',
         'there is no approver set "x"'),
        ('match = "Bash(kubectl delete:*)"', 'match = "Write(*.env)"',
         'this gate can never match: no agent has a tool "Write"'),
        ('allow = "Bash(git status:*)"', 'allow = "Bsah(git status:*)"', 'Did you mean "Bash"?'),
        ('allow = "Bash(git status:*)"', 'allow = "Bash(git status"', "is not closed"),
        ('allow = "Bash(git status:*)"', 'allow = "*"', "An allow rule for every tool"),
        ('allow = "Bash(git status:*)"', 'allow = "Bash(kubectl delete:*)"',
         'can never match: the gate "Bash(kubectl delete:*)" asks before any rule'),
        ('allow = "Bash(git status:*)"', 'allow = "Bash(ls:*)"\n[[rules]]\ndeny = "Bash"',
         'can never match: deny = "Bash" is looked at first'),
        ('allow = "Bash(git status:*)"', 'allow = "Bash(ls)"\ndeny = "Bash(rm)"',
         "say exactly one of allow, deny and ask"),
        ('model = "scripted:demo"', 'model = "m"\napi_key = "not-shown"',
         "name an environment variable with api_key_env"),
        ('remind = ["5m"]', 'remind = ["20m"]', "comes after the timeout"),
        ('people = ["ana", "bo"]', 'people = ["ana", "bo"]\nsets = ["sre"]', "contains itself"),
        ('slack_groups = ["S0614TZR7"]\npeople = ["ana", "bo"]', 'people = ["ana"]',
         'is 2, but "sre" has 0 people'),
        ('bo = { discord = "2201" }', 'bo = { local = "ana" }', 'is already the account of "ana"'),
        ('bo = { discord = "2201" }', "bo = {}", "name at least one account"),
        ('workspace = "./work"', "", "has tools that work on files, but no workspace"),
        ("[tools.Bash]", "[tools.refund]", "describes a tool that no agent has"),
        ('input = { type = "object"', 'input = { type = "objct"', "schema is wrong"),
        ("[gates.default]\n", "[gates.other]\n", "gates.default"),
        ('"mcp:github"', '"mcp:gitlab"', 'Did you mean "github"?'),
    ],
)  # fmt: skip
def test_what_would_only_be_found_out_at_night_is_refused(
    old: str, new: str, expected: str
) -> None:
    """Empty sets, gates and rules that never match, unknown names: not started with."""
    assert old in COMPLETE

    assert expected in mistakes_of(COMPLETE.replace(old, new))


def test_an_owner_does_not_count_towards_the_quorum() -> None:
    """Who owns the agent never approves, so two of two is never reached."""
    two = COMPLETE.replace('slack_groups = ["S0614TZR7"]\n', "")

    assert 'is 2, but "sre" has 1 person, the owner of ops not counted' in mistakes_of(two)


def test_the_configuration_in_the_readme_is_right() -> None:
    """What newcomers copy is accepted, rules and all."""
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    text = readme.partition("```toml\n")[2].partition("```")[0]

    settings = parse_settings(text, "README.md", check_tool_rule)

    assert settings.agents


def test_a_profile_of_one_s_own_carries_a_prefix_rule() -> None:
    """Refused without it, with the remedy; accepted with it; a shell never gets one."""
    rule = COMPLETE.replace("git status:*", "crabbox image status:*")
    with pytest.raises(InvalidSettings, match="crabbox"):
        parse_settings(rule, "keyturn.toml", check_tool_rule)

    table = '\n[[profiles]]\ncommand = "crabbox image status"\nflags = ["--json"]\n'
    settings = parse_settings(rule + table, "keyturn.toml", check_tool_rule)
    assert settings.profiles[0].flags == ["--json"]
    assert "is a shell" in mistakes_of(COMPLETE + '\n[[profiles]]\ncommand = "bash"\n')


def test_values_are_never_printed() -> None:
    """A value in the wrong place may be a secret."""
    secret = "s" + "k-" + "a1" * 12

    for key in ("api_key", "base_url_token", "mode", "queue_limit"):
        said = mistakes_of(COMPLETE.replace("owner =", f'{key} = "{secret}"\nowner ='))
        assert secret not in said


def test_a_syntax_error_names_its_line() -> None:
    """What is no TOML at all is refused before anything else."""
    assert "keyturn.toml:2: " in mistakes_of('[agents.ops]\nmodel = "x')


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    """The first thing a newcomer meets."""
    with pytest.raises(InvalidSettings, match="keyturn demo"):
        read_settings(tmp_path / "keyturn.toml")


def test_lines_are_found_in_every_way_to_write_toml() -> None:
    """Tables, arrays of tables, inline tables, dotted keys, strings over several lines."""
    text = '''# first
a.b = """
x = 1
"""  # comment
c = [
  "one",  # ]
  { d = 1, e = ['x'] },
]
[t."q k"]
f = 'it # is'
[[l]]
g = 1
[[l]]
g = 2
[l.m]
h = 1979-05-27 07:32:00
'''

    lines = lines_of(text)

    assert lines[("a", "b")] == 2
    assert lines[("c", 0)] == 6
    assert lines[("c", 1, "e", 0)] == 7
    assert lines[("t", "q k", "f")] == 10
    assert lines[("l", 0, "g")] == 12
    assert lines[("l", 1, "g")] == 14
    assert lines[("l", 1, "m", "h")] == 16
