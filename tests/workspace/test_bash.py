"""Bash without a sandbox: what holds wherever it runs. The sandbox has its own tests."""

import asyncio
import os
import shutil
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.workspace.bash import MAX_COMMAND, Bash
from adapters.workspace.directory import Directory
from adapters.workspace.sandbox import PATH, Sandbox
from core.errors import SetupRefused, ToolFailed
from core.messages import ToolResultState
from tests.workspace.calls import RUN, Nobody, call


@pytest.fixture
def bash(directory: Directory) -> Bash:
    return Bash(directory, Nobody(), Sandbox(kind="none"))


async def gone(pid: int) -> bool:
    """Whether a process ends within five seconds, a zombie included."""
    for _ in range(100):
        if ended(pid):
            return True
        await asyncio.sleep(0.05)
    return False


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def test_output_and_exit_code_come_back(bash: Bash, root: Path) -> None:
    """Success is exit code 0; anything else is an error result with the code."""
    well = await call(bash, command="pwd; echo oops >&2")
    ill = await call(bash, command="echo partial; exit 3")

    assert well.state is ToolResultState.SUCCESS
    assert sorted(well.text.split()) == sorted([str(root), "oops"])
    assert ill.state is ToolResultState.ERROR
    assert ill.text == "partial\n\n[exit code 3]"
    assert ill.metadata == {"exit_code": 3, "stopped": None, "cut": {}}


async def test_nothing_of_the_gateways_environment_is_passed_on(
    bash: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a fixed PATH, a character set and git's safety; bash adds its own three. No start-up
    file is read."""
    monkeypatch.setenv("SLACK_TOKEN", "worth stealing")
    monkeypatch.setenv("BASH_ENV", "/dev/null")

    result = await call(
        bash, command="env | cut -d= -f1 | sort | tr '\\n' ' '; echo $PATH; echo $-"
    )

    names, rest = result.text.split(PATH)
    own = [name for name in names.split() if not name.startswith("GIT_CONFIG_")]
    assert own == ["LANG", "PATH", "PWD", "SHLVL", "_"]
    assert "i" not in rest.strip()


async def test_a_command_that_begins_with_a_dash_is_a_command(bash: Bash) -> None:
    """It is never read as an option of bash."""
    result = await call(bash, command="--init-file x")

    assert "--init-file: command not found" in result.text


async def test_output_streams_while_the_command_runs(bash: Bash, root: Path) -> None:
    """The first line is there before the command is told to end."""
    os.mkfifo(root / "go")
    chunks = bash.run({"command": "echo first; read x < go; echo $x"}, RUN)

    async with aclosing(cast("Any", chunks)):
        first = await anext(chunks)
        (root / "go").write_text("second\n")
        rest = [chunk async for chunk in chunks]

    assert [block.text for block in first.content if block.type == "text"] == ["first\n"]
    assert [block.text for block in rest[0].content if block.type == "text"] == ["second\n"]


async def test_long_output_keeps_head_and_tail(bash: Bash) -> None:
    """Each stream is cut by itself, and the metadata says how much is missing."""
    result = await call(bash, command="seq 100000; echo end >&2")

    assert result.text.startswith("1\n2\n3\n")
    assert "99999\n100000\n" in result.text
    assert len(result.text) < 70_000
    assert result.metadata["cut"].keys() == {"standard output"}


async def test_endless_output_is_stopped(bash: Bash) -> None:
    """A flood ends long before the timeout."""
    result = await call(bash, command="yes")

    assert result.state is ToolResultState.ERROR
    assert result.metadata["stopped"] == "flood"


async def test_a_timeout_ends_the_command_and_its_children(bash: Bash, root: Path) -> None:
    """Those in its group, and a grandchild that left the group, too."""
    command = "sleep 300 & echo $! > one; setsid sleep 300 & sleep 0.1; pgrep -P $$ > all; wait"
    result = await call(bash, command=command, timeout=700)

    assert result.state is ToolResultState.ERROR
    assert result.text.endswith("[stopped: it ran longer than 0.7 s]")
    assert result.metadata["stopped"] == "timeout"
    assert await gone(int((root / "one").read_text()))
    for pid in (root / "all").read_text().split():
        assert await gone(int(pid))


async def test_a_command_that_is_told_to_end_may_tidy_up(bash: Bash) -> None:
    """TERM first: a trap still runs and its words arrive."""
    command = "trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done"
    result = await call(bash, command=command, timeout=300)

    assert "tidied" in result.text


async def test_a_command_that_ignores_the_request_is_ended(bash: Bash) -> None:
    """KILL two seconds later."""
    command = "trap '' TERM; while :; do sleep 0.05; done"
    async with asyncio.timeout(6):
        result = await call(bash, command=command, timeout=200)

    assert result.metadata["exit_code"] == -9


async def test_background_processes_end_with_the_call(bash: Bash) -> None:
    """The call neither waits for them nor leaves them."""
    async with asyncio.timeout(5):
        result = await call(bash, command="sleep 300 & echo $!")

    assert result.state is ToolResultState.SUCCESS
    assert await gone(int(result.text))


@pytest.mark.parametrize("how", ["close", "cancel"])
async def test_a_call_that_is_dropped_takes_its_process_along(bash: Bash, how: str) -> None:
    """Closing the stream or cancelling the task ends the command."""
    pid = 0

    async def watch() -> None:
        nonlocal pid
        async with aclosing(cast("Any", bash.run({"command": "echo $$; sleep 300"}, RUN))) as all_:
            async for chunk in all_:
                pid = int(chunk.content[0].text)
                if how == "close":
                    return
                started.set()

    started = asyncio.Event()
    if how == "close":
        await watch()
    else:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(watch())
            await started.wait()
            task.cancel()

    assert pid
    assert await gone(pid)


@pytest.mark.parametrize("command", ["a\0b", "echo \ud800", "x" * (MAX_COMMAND + 1)])
async def test_what_no_shell_can_be_given_is_refused(bash: Bash, command: str) -> None:
    """A reason instead of a crash."""
    with pytest.raises(ToolFailed):
        await call(bash, command=command)


async def test_without_bubblewrap_it_refuses(
    directory: Directory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing runs unconfined unless the configuration says so; the remedy is named."""
    for name in ("bash", "sh"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    monkeypatch.setattr("adapters.workspace.sandbox.PATH", str(tmp_path))
    bash = Bash(directory, Nobody())

    with pytest.raises(ToolFailed, match='sandbox = "none"'):
        await call(bash, command="touch ran")
    with pytest.raises(SetupRefused, match="not installed"):
        bash.sandbox.check(directory)

    assert not (directory.root / "ran").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("place", [".", "sub"])
async def test_git_runs_nothing_that_a_planted_repository_names(
    root: Path, directory: Directory, place: str
) -> None:
    """Files that the Write tool may make look like a bare repository whose monitor is a command."""
    planted = root / place
    for name in ("objects", "refs"):
        (planted / name).mkdir(parents=True)
    (planted / "HEAD").write_text("ref: refs/heads/main\n")
    (planted / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f'\tworktree = "{planted}"\n\tfsmonitor = "touch {root}/ran; false"\n'
    )
    bash = Bash(directory, Nobody(), Sandbox(kind="none"))

    result = await call(bash, command=f"cd {place} && git status")

    assert result.metadata["exit_code"] != 0
    assert not (root / "ran").exists()
