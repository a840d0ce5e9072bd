"""The command line as programs and people meet it: real processes, pipes, exit codes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bot.playing import ROOT, environment, keyturn

CONFIG = """\
[agents.ops]
model = "scripted:demo"
tools = ["Bash", "Read", "Edit", "external:ask_customer"]
workspace = "work"
sandbox = "none"

[people.you]
local = "{user}"

[people.boss]
local = "somebody-else"

[approvers.people]
people = ["{approver}"]

[gates.default]
approvers = "people"

[tasks.ask_customer]
fulfillers = "people"
input = {{ type = "object", properties = {{ customer = {{ type = "string" }}, question = {{ type = "string" }} }} }}
result = {{ type = "object", properties = {{ confirmed = {{ type = "boolean" }} }}, required = ["confirmed"] }}

[local]
data = "data"
"""  # noqa: E501 - TOML wants an inline table on one line


def user() -> str:
    from bot.machine import login_name

    return login_name()


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A configuration whose approver is this user, beside the demo's files."""
    from bot.demo.files import prepare

    prepare(tmp_path, user(), "none", fresh=False)
    config = tmp_path / "office.toml"
    config.write_text(CONFIG.format(user=user(), approver="you"))
    return config


def lines(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def run(config: Path, *arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return keyturn(*arguments, "--config", str(config), given=given)


def ask_as_somebody(config: Path) -> str:
    """A reply that a colleague asked for, parked: the demo's own request. Its id."""
    from bot.demo.play import OP, REQUESTER
    from bot.demo.story import REQUEST

    script = f"""
import asyncio, pathlib
from bot.commands.opening import work_off
from bot.settings import read_settings
from bot.wiring import Outside, open_keyturn
from core.calls import Actor
from core.messages import user_msg
from core.requests import Request

async def main():
    file = pathlib.Path({str(config)!r})
    async with open_keyturn(read_settings(file), Outside(file, {{}})) as keyturn:
        request = Request("ops", "office", Actor({REQUESTER.kind!r}, {REQUESTER.id!r}))
        said = await keyturn.gateway.ask(request, user_msg({REQUEST!r}), {OP!r})
        await work_off(keyturn, said.reply_id, None)
        print(said.reply_id)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_help_teaches_and_is_quick() -> None:
    """What it is, examples, exit codes; nobody waits for it."""
    took: list[float] = []
    helped = keyturn("--help")
    for _ in range(3):
        began = time.perf_counter()
        keyturn("--help")
        took.append(time.perf_counter() - began)

    assert helped.returncode == 0
    assert "Silence never approves" in helped.stdout
    assert "exit codes" in helped.stdout
    assert min(took) < 0.5


def test_help_imports_nothing_heavy() -> None:
    """The reason why it is quick, and stays so."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bot", "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=60,
        check=True,
    )
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}

    assert not loaded & {"pydantic", "redis", "asyncio", "core.gateway", "tree_sitter"}


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ((), 2, "COMMAND"),
        (("aprove",), 2, "invalid choice"),
        (("pending", "--config", "/no/such/keyturn.toml"), 2, "keyturn demo"),
        (("version",), 0, "keyturn 0."),
    ],
)
def test_errors_say_what_to_do(arguments: tuple[str, ...], code: int, expected: str) -> None:
    """And the exit code says what kind of error it is."""
    done = keyturn(*arguments)

    assert done.returncode == code
    assert expected in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_config_check_names_every_mistake(office: Path) -> None:
    """With file, line and remedy; the exit code is that of a wrong configuration."""
    right = run(office, "config", "check")
    assert right.returncode == 0, right.stderr
    assert "sandbox" in right.stdout

    office.write_text(
        office.read_text().replace('"Bash"', '"Bahs"').replace('"people"', '"poeple"')
    )
    wrong = run(office, "config", "check")

    assert wrong.returncode == 2
    assert 'Did you mean "Bash"?' in wrong.stderr
    assert 'Did you mean "people"?' in wrong.stderr


def test_a_parked_reply_is_decided_from_the_command_line(office: Path) -> None:
    """Pending, show, approve, reject, fulfil: each by the code of its call; the reply then ends."""
    reply = ask_as_somebody(office)
    first = open_call(office, "Bash")

    assert "rm logs/app.log.2 logs/app.log.3 logs/app.log.4" in run(office, "show", first).stdout
    rejected = run(office, "reject", first, "keep them", "--json")
    assert rejected.returncode == 0, rejected.stderr
    assert lines(rejected.stdout)[-1]["state"] == "parked"
    late = run(office, "approve", first)
    assert late.returncode == 1
    assert "keyturn pending" in late.stderr

    assert run(office, "approve", open_call(office, "Edit")).returncode == 0
    task = open_call(office, "ask_customer")
    assert "Ask Rivera" not in run(office, "tasks").stdout
    badly = run(office, "fulfil", task, "--input", '{"confirmed": "maybe"}')
    assert badly.returncode == 1
    assert "confirmed" in badly.stdout + badly.stderr
    done = run(office, "fulfil", task, "--input", '{"confirmed": true}', "--json")
    last = lines(done.stdout)[-1]
    assert (last["state"], last["outcome"]) == ("closed", "completed")
    assert "a person said no" in str(last["text"])
    assert "keep = 7" in (office.parent / "work/config/logs.conf").read_text()
    assert run(office, "show", reply).returncode == 0


def open_call(office: Path, tool: str) -> str:
    """The code of the one open call, which must be of this tool."""
    (call,) = lines(run(office, "pending", "--json").stdout)
    assert call["tool"] == tool
    return str(call["call"])


def test_modify_takes_json_from_a_file_and_refuses_what_does_not_fit(office: Path) -> None:
    """The changed input runs, the old one does not; the code changes with the input."""
    ask_as_somebody(office)
    code = open_call(office, "Bash")
    changed = office.parent / "changed.json"

    changed.write_text('{"comand": "rm logs/app.log.4"}')
    wrong = run(office, "modify", code, "--input", f"@{changed}")
    assert wrong.returncode == 1
    assert "/comand is not a field of this tool" in wrong.stdout

    changed.write_text('{"command": "rm logs/app.log.4"}')
    right = run(office, "modify", code, "--input", f"@{changed}")
    assert right.returncode == 0, right.stdout + right.stderr
    names = {file.name for file in (office.parent / "work" / "logs").iterdir()}
    assert "app.log.4" not in names
    assert "app.log.2" in names


def test_whoever_asked_does_not_approve(office: Path) -> None:
    """Also at the terminal: the requester is this user, so somebody else has to decide."""
    asked = run(office, "ask", "please clean up", "--agent", "ops", "--json")
    assert asked.returncode == 4, asked.stderr
    waiting = lines(asked.stdout)[-1]["waiting"]
    assert isinstance(waiting, list)

    refused = run(office, "approve", waiting[0]["call"])

    assert refused.returncode == 1
    assert "somebody else has to decide" in refused.stdout
    assert (office.parent / "work/logs/app.log.4").exists()


def test_who_is_not_an_approver_is_told_who_is(office: Path) -> None:
    """The approver is another login of this machine."""
    office.write_text(CONFIG.format(user=user(), approver="boss"))
    ask_as_somebody(office)

    refused = run(office, "reject", open_call(office, "Bash"))

    assert refused.returncode == 1
    assert "people" in refused.stdout


def test_a_stopped_reply_runs_nothing_more(office: Path) -> None:
    """An approver may stop it; then nothing is open."""
    reply = ask_as_somebody(office)

    stopped = run(office, "stop", reply)

    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert lines(run(office, "pending", "--json").stdout) == []
    assert (office.parent / "work/logs/app.log.4").exists()


def test_allowlist_and_mode_are_kept(office: Path) -> None:
    """Each in a process of its own: they are in the store."""
    assert run(office, "rules", "add", "Bash(git status:*)", "--agent", "ops").returncode == 0
    assert "git status" in run(office, "rules", "list").stdout
    refused = run(office, "rules", "add", "Bash(python:*)", "--agent", "ops")
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert run(office, "rules", "remove", "Bash(git status:*)").returncode == 0
    assert run(office, "rules", "remove", "Bash(git status:*)").returncode == 1

    assert run(office, "mode", "ask_every_time").returncode == 0
    assert lines(run(office, "mode", "--json").stdout)[0]["mode"] == "ask_every_time"


def test_ask_takes_answers_from_a_file(office: Path) -> None:
    """What may be decided by who asked is decided; the rest waits for others, and it says so."""
    answers = office.parent / "answers"
    answers.write_text('# mine\n{"answer": "approve"}\n')

    asked = run(office, "ask", "clean up", "--agent", "ops", "--answer", str(answers), "--json")

    assert asked.returncode == 4, asked.stderr
    assert lines(asked.stdout)[-1]["state"] == "parked"
    assert "somebody else has to decide" in asked.stderr
    assert open_call(office, "Bash")


def test_chat_in_a_pipe_takes_messages_and_leaves_at_the_end(office: Path) -> None:
    """Its own calls are not this person's to approve, so they stay open, and the card says so."""
    talked = run(office, "chat", "--agent", "ops", given="please clean up\n")

    assert talked.returncode == 0, talked.stderr
    assert "You asked for this, so somebody else has to decide." in talked.stdout
    assert open_call(office, "Bash")
