"""Where shell commands run: alone with the workspace, or (only when configured) unconfined.

In the sandbox a command has its own process, user, IPC and host-name namespaces, no
capabilities, an empty environment, and a file system made of the workspace, the system's programs
(read-only) and a private /tmp. It sees no process of Keyturn, no socket, no key, no configuration.

The network is off unless configured. With it on, the command also reaches whatever listens on this
machine's loopback, a store without a password included; turn it on for agents that call remote
services (kubectl, git fetch) and keep such services behind credentials.
"""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adapters.workspace.directory import Directory
from core.errors import SetupRefused

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are found; fixed, so that nobody can put another `ls` in front."""

_GIT = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
}
"""Git would take any directory with a HEAD, a config, objects and refs for a repository, and run
what that configuration names, though nobody wrote to a ``.git``. Source: git's manual."""

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
)
_NETWORK_FILES = ("/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/services")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How shell commands are confined.

    Attributes:
        kind: "none" runs them as the gateway's own user with an empty environment and nothing
            else between them and Keyturn's files; `doctor` warns about it.
        network: whether they reach the network, and so this machine's loopback as well.
        read_only: further files and directories they may read, such as a kubeconfig.
    """

    kind: Literal["bubblewrap", "none"] = "bubblewrap"
    network: bool = False
    read_only: tuple[Path, ...] = ()

    def check(self, directory: Directory) -> None:
        """Prove that a command can run here; for the start and for `doctor`. Takes milliseconds.

        Raises:
            SetupRefused: says what is missing and what to do.
        """
        argv = self.wrap(directory, ("/bin/sh", "-c", "exit 0"))
        if self.kind == "none":
            return
        done = subprocess.run(argv, capture_output=True, timeout=10, check=False, env={})  # noqa: S603 - our own argv, no shell
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise SetupRefused(
                f"bubblewrap can't make a sandbox here: {said}. Allow unprivileged user "
                'namespaces on this machine, or set sandbox = "none".'
            )

    def environment(self) -> dict[str, str]:
        """The whole environment of a command."""
        home = {"HOME": "/tmp"} if self.kind == "bubblewrap" else {}  # noqa: S108 - the sandbox's private one
        return {"PATH": PATH, "LANG": "C.UTF-8", **_GIT, **home}

    def wrap(self, directory: Directory, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The arguments that run `argv` in the workspace, confined as configured.

        Raises:
            SetupRefused: bubblewrap is missing, or one of Keyturn's own files could be seen.
        """
        if self.kind == "none":
            return argv
        program = shutil.which("bwrap", path=PATH)
        if program is None:
            raise SetupRefused(
                "Shell commands run in a sandbox, and bubblewrap is not installed. Install it "
                '(apt-get install bubblewrap), or set sandbox = "none" to run them without one.'
            )
        self._check_hidden(directory)
        network = () if self.network else ("--unshare-net",)
        root = str(directory.root)
        return (
            program,
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
            *("--unshare-cgroup-try", *network, "--die-with-parent", "--cap-drop", "ALL"),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108 - the sandbox's own
            *self._system(),
            *("--bind", root, root),
            *_masks(directory),
            *("--chdir", root, "--", *argv),
        )

    def _system(self) -> Iterator[str]:
        for path in map(Path, _PROGRAMS):
            if path.is_symlink():
                yield from ("--symlink", str(path.readlink()), str(path))
            elif path.is_dir():
                yield from ("--ro-bind", str(path), str(path))
        for name in _SYSTEM_FILES + (_NETWORK_FILES if self.network else ()):
            yield from ("--ro-bind-try", name, name)
        for extra in self.read_only:
            yield from ("--ro-bind", str(extra), str(extra))

    def _check_hidden(self, directory: Directory) -> None:
        shown = [*map(Path, _PROGRAMS), *self.read_only]
        for secret in directory.protected:
            for path in shown:
                if _overlap(secret.resolve(), path.resolve()):
                    raise SetupRefused(
                        f"{secret} belongs to Keyturn, and the sandbox would show it as part of "
                        f"{path}. Move one of them."
                    )


def _masks(directory: Directory) -> Iterator[str]:
    """Cover Keyturn's own files that lie in the workspace.

    Only where nobody can move the cover away: a mount point can't be renamed, a directory above
    it can. So they must be the workspace's direct children.
    """
    for path in directory.protected:
        real = path.parent.resolve() / path.name
        if not real.is_relative_to(directory.root):
            if path.resolve().is_relative_to(directory.root):
                real = path.resolve()
            else:
                continue
        if real.parent != directory.root or real.is_symlink() or not real.exists():
            raise SetupRefused(
                f"{path} belongs to Keyturn, and the sandbox can't hide it inside the workspace "
                f"{directory.root}. Move it out of there."
            )
        if real.is_dir():
            yield from ("--tmpfs", str(real), "--remount-ro", str(real))
        else:
            yield from ("--ro-bind", "/dev/null", str(real))


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
