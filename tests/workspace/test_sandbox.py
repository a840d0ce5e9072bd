"""What a command in the sandbox can and can't do. Needs bubblewrap: `make matrix` installs it."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from adapters.workspace.bash import Bash
from adapters.workspace.directory import Directory
from adapters.workspace.sandbox import Sandbox
from core.errors import SetupRefused, ToolFailed
from core.messages import ToolResultState
from tests.workspace.calls import Nobody, call

pytestmark = pytest.mark.matrix

SECRET = token_hex(16)

LOOK_AROUND = """
for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/environ; tr '\\0' ' ' < $p/cmdline; echo; done
ps ax
for p in $pids; do
  kill -0 $p
  cat /proc/$p/environ /proc/$p/cmdline /proc/$p/maps
  head -c 1 /proc/$p/mem
  ls /proc/$p/fd /proc/$p/root/
done
"""

BREAK_OUT = """
for f in /usr/x /bin/x /lib/x /etc/alternatives/x; do touch $f && echo "$f worked"; done
touch /x
mount -t tmpfs none /mnt && echo mount worked
mknod n c 1 1 && echo device worked
grep CapEff /proc/self/status
"""

UNCOVER = """
cat keyturn.toml .keyturn/key
cp -r . /tmp/copy
grep -r . /tmp/copy
mv .keyturn x
mv keyturn.toml y
rm -rf keyturn.toml .keyturn
echo evil > keyturn.toml
ln keyturn.toml z
umount .keyturn
unshare -Urm umount .keyturn
unshare -Urm sh -c 'umount -l .keyturn keyturn.toml; cat .keyturn/key keyturn.toml'
touch .keyturn/new
cd ..
mv work work2
"""


def exists(path: str) -> bool:
    return Path(path).exists()


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """Keyturn's data directory, with a key, a button's token and the store's listening socket."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "key").write_text(SECRET)
    (folder / "token").write_text(SECRET)
    with socket.socket(socket.AF_UNIX) as store:
        store.bind(str(folder / "s"))
        store.listen()
        yield folder


@pytest.fixture
def bash(root: Path, data: Path) -> Bash:
    return Bash(Directory(root, [data]), Nobody())


def test_the_sandbox_works_on_this_machine(bash: Bash) -> None:
    """The check that the start and `doctor` make."""
    bash.sandbox.check(bash.directory)


async def test_it_works_in_the_workspace(bash: Bash, root: Path) -> None:
    """Files are read and written there, programs run, pipes work."""
    (root / "a").write_text("b\na\n")

    result = await call(bash, command="sort a | tee out; pwd; touch /tmp/mine")

    assert result.text == f"a\nb\n{root}\n"
    assert result.state is ToolResultState.SUCCESS
    assert (root / "out").read_text() == "a\nb\n"
    assert not exists("/tmp/mine")  # noqa: S108 - the one outside


async def test_no_file_of_keyturn_is_there(bash: Bash, data: Path, outside: Path) -> None:
    """Neither by name, nor by searching all there is; nothing beside the workspace is."""
    result = await call(
        bash,
        command=f"cat {data}/key {data}/token {outside}/secret; "
        f"grep -rs {SECRET} / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr; "
        "find / -xdev -name secret -o -xdev -name keyturn.toml",
    )

    assert SECRET not in result.text
    assert "treasure" not in result.text
    assert result.text.count("No such file") == 3


async def test_the_stores_socket_can_not_be_reached(bash: Bash, data: Path) -> None:
    """Not by its path, and no socket of the machine is listed."""
    result = await call(
        bash,
        command=f'perl -MIO::Socket::UNIX -e \'print IO::Socket::UNIX->new(Peer => "{data}/s") '
        '? "open" : "closed"\'; cat /proc/net/unix | tail -n +2',
    )

    assert result.text == "closed"


async def test_the_gateways_process_can_not_be_seen_or_touched(
    bash: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No environment, memory or command line of it, under any number, and no signal gets there."""
    monkeypatch.setenv("SLACK_TOKEN", SECRET)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", SECRET, stdin=-1
    )
    try:
        result = await call(
            bash,
            command=f"pids='{os.getpid()} {process.pid}'\n{LOOK_AROUND}",
        )

        assert SECRET not in result.text
        assert "python" not in result.text
        assert result.text.count("No such process") == 2
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def test_the_environment_is_empty(bash: Bash, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private home, a fixed PATH, a character set, and bash's own three."""
    monkeypatch.setenv("SLACK_TOKEN", SECRET)

    result = await call(
        bash, command="env | grep -v ^GIT_ | cut -d= -f1 | sort | tr '\\n' ' '; cat /proc/1/environ"
    )

    assert SECRET not in result.text
    assert result.text.split()[:6] == ["HOME", "LANG", "PATH", "PWD", "SHLVL", "_"]


@pytest.mark.parametrize("network", [False, True])
async def test_the_network_is_there_only_if_configured(root: Path, network: bool) -> None:
    """Off, not even this machine's loopback answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        bash = Bash(Directory(root), Nobody(), Sandbox(network=network))

        result = await call(bash, command=f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached")

    assert ("reached" in result.text) is network


async def test_the_system_can_not_be_written(bash: Bash, root: Path) -> None:
    """Programs are read-only, there is no device, no capability, no way out by mounting."""
    result = await call(
        bash,
        command=BREAK_OUT,
    )

    assert "worked" not in result.text
    assert not exists("/usr/x")
    assert not exists("/x")
    assert "CapEff:\t0000000000000000" in result.text


async def test_a_link_made_inside_leads_nowhere(bash: Bash, root: Path, data: Path) -> None:
    """The command plants a link to the key; the file tools refuse to follow it."""
    await call(bash, command=f"ln -s {data}/key stolen; ln {data}/key hard; cat stolen")

    with pytest.raises(ToolFailed):
        bash.directory.read("stolen", 100)
    assert not (root / "hard").exists()


async def test_keyturns_files_in_the_workspace_are_covered(root: Path) -> None:
    """A configuration and a data directory at its top: unreadable, unwritable, unmovable."""
    (root / "keyturn.toml").write_text(SECRET)
    (root / ".keyturn").mkdir()
    (root / ".keyturn" / "key").write_text(SECRET)
    bash = Bash(Directory(root, [root / "keyturn.toml", root / ".keyturn"]), Nobody())

    result = await call(
        bash,
        command=UNCOVER,
    )

    assert SECRET not in result.text
    assert (root / "keyturn.toml").read_text() == SECRET
    assert sorted(os.listdir(root)) == [".keyturn", "keyturn.toml"]  # noqa: PTH208
    assert os.listdir(root / ".keyturn") == ["key"]  # noqa: PTH208


@pytest.mark.parametrize("place", ["deep/keys", "missing", "link"])
async def test_what_can_not_be_covered_is_refused(root: Path, outside: Path, place: str) -> None:
    """Deeper down a directory above the cover could be moved; the remedy is to move the file."""
    (root / "deep").mkdir()
    (root / "deep" / "keys").write_text(SECRET)
    (root / "link").symlink_to(outside)
    bash = Bash(Directory(root, [root / place]), Nobody())

    with pytest.raises(SetupRefused, match="Move it"):
        bash.sandbox.check(bash.directory)
    with pytest.raises(ToolFailed, match="Move it"):
        await call(bash, command="true")


async def test_further_paths_are_readable_but_never_keyturns_own(
    root: Path, outside: Path, data: Path
) -> None:
    """An operator may show a kubeconfig; not a directory that holds the key."""
    shown = Bash(Directory(root, [data]), Nobody(), Sandbox(read_only=(outside,)))
    result = await call(shown, command=f"cat {outside}/secret; echo x > {outside}/secret")
    leaky = Sandbox(read_only=(data.parent,))

    assert "treasure" in result.text
    assert (outside / "secret").read_text() == "treasure"
    with pytest.raises(SetupRefused, match="would show"):
        leaky.check(Directory(root, [data]))


async def test_a_timeout_ends_everything_inside(bash: Bash) -> None:
    """TERM reaches the command, which may tidy up; what left its session is gone."""
    marker = f"3{int(token_hex(3), 16)}"
    command = (
        f"setsid sleep {marker} & trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done"
    )
    result = await call(bash, command=command, timeout=500)

    assert "tidied" in result.text
    assert result.metadata["stopped"] == "timeout"
    for _ in range(100):
        if not running(marker):
            break
        await asyncio.sleep(0.05)
    assert not running(marker)


def running(argument: str) -> bool:
    """Whether a `sleep` of this length runs anywhere on the machine."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes() == f"sleep\0{argument}\0".encode():
                return True
        except OSError:
            continue
    return False
