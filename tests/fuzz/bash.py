"""Real bash with nothing to run: every program that a command starts is written down instead.

`PATH` is an empty directory, and bash's own hook for unknown commands records the words. Builtins
that stand for programs are switched off, so that ``echo`` is recorded as well. Nothing
destructive can run: strings that name a path outside the scratch directory are not run at all.
"""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Argv = tuple[str, ...]

BASH = Path("/bin/bash")
MOST_BYTES = 2000
BATCH_SECONDS = 60

_PRELUDE = """\
enable -n echo printf cd pwd true false test [ type kill ulimit umask hash suspend disown
command_not_found_handle() {
    enable printf
    (( BASH_LINENO[0] > 1 )) && printf 'L\\0' >>"$FUZZ_LOG"
    printf '%s\\0' P "$#" "$@" >>"$FUZZ_LOG"
    return "$FUZZ_STATUS"
}
trap '[[ -z $! ]] || { enable printf; printf "B\\0" >>"$FUZZ_LOG"; }' EXIT
"""
_LOOP = """\
shopt -s nullglob dotglob
while IFS= read -r -d '' line; do
    printf 'C\\0' >>"$FUZZ_LOG"
    BASH_ENV=$FUZZ_PRELUDE /bin/bash --norc --noprofile -c "$line" </dev/null >/dev/null 2>&1
    files=(*)
    if (( ${#files[@]} )); then
        printf 'F\\0' >>"$FUZZ_LOG"
        exit
    fi
done
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did: the programs it started, and signs of more than simple commands.

    `signs` holds F for a file left behind, B for a background job, L for a second line.
    """

    programs: frozenset[Argv]
    signs: frozenset[str]


def may_run(text: str) -> bool:
    """Whether the string can do nothing outside the scratch directory."""
    if not text or "\0" in text or len(text.encode(errors="replace")) > MOST_BYTES:
        return False
    if ".." in text or ("~" in text and ">" in text):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    rest = text.replace("/dev/null", "").replace("~/x", "")
    return re.search(r"(?<![a-z.])/|/(?![a-z])|exec\s*[<>]|\bkill|\bulimit", rest) is None


class Bash:
    """A scratch directory and the bash that works in it."""

    def __init__(self, folder: Path) -> None:
        self._scratch = folder / "scratch"
        self._log = folder / "log"
        self._prelude = folder / "prelude"
        self._empty = folder / "path"
        self._empty.mkdir(parents=True)
        self._prelude.write_text(_PRELUDE)

    def run(self, commands: Sequence[str]) -> list[Ran]:
        """Run each command with programs that succeed, and with programs that fail if it asks."""
        done = self._run_all(commands, status=0)
        asking = [at for at, command in enumerate(commands) if "||" in command]
        failed = self._run_all([commands[at] for at in asking], status=1)
        for at, ran in zip(asking, failed, strict=True):
            done[at] = Ran(done[at].programs | ran.programs, done[at].signs | ran.signs)
        return done

    def _run_all(self, commands: Sequence[str], status: int) -> list[Ran]:
        done: list[Ran] = []
        while len(done) < len(commands):
            batch = self._run_batch(commands[len(done) :], status)
            assert batch, "bash did not start"
            done.extend(batch)
        return done

    def _run_batch(self, commands: Sequence[str], status: int) -> list[Ran]:
        """Run commands until one leaves a file behind."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        self._log.write_bytes(b"")
        self._start(commands, status)
        return _read_log(self._log.read_bytes().decode(errors="surrogateescape"))

    def _start(self, commands: Sequence[str], status: int) -> None:
        environment = {
            "PATH": str(self._empty),
            "HOME": "/nonexistent",
            "LC_ALL": "C.UTF-8",
            "FUZZ_PRELUDE": str(self._prelude),
            "FUZZ_LOG": str(self._log),
            "FUZZ_STATUS": str(status),
        }
        process = subprocess.Popen(
            [BASH, "--norc", "--noprofile", "-c", _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._scratch,
            env=environment,
            start_new_session=True,
            preexec_fn=_limit,  # noqa: PLW1509 - one thread, set limits only
        )
        try:
            process.communicate(b"".join(c.encode() + b"\0" for c in commands), BATCH_SECONDS)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (BATCH_SECONDS, BATCH_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))


def _read_log(text: str) -> list[Ran]:
    done: list[Ran] = []
    programs: set[Argv] = set()
    signs: set[str] = set()
    fields = iter(text.split("\0")[1:-1])
    for field in fields:
        if field == "C":
            done.append(Ran(frozenset(programs), frozenset(signs)))
            programs, signs = set(), set()
        elif field == "P":
            count = int(next(fields))
            programs.add(tuple(next(fields) for _ in range(count)))
        else:
            signs.add(field)
    return [*done, Ran(frozenset(programs), frozenset(signs))] if text else []
