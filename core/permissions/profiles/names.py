"""Programs that never get a prefix rule by their name alone, in one place.

Deciding from a list of bad names is never enough, so nothing is allowed because it is missing
here: the lists say what is refused with a clear reason, what an operator may not declare
``any_flags`` for, and which programs a deny rule has to look behind.
"""

import re
from collections.abc import Sequence

SHELLS = frozenset({
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "elvish",
    "nu", "xonsh", "pwsh", "powershell", "cmd", "busybox", "toybox", "eval", "source", ".",
})  # fmt: skip
INTERPRETERS = frozenset({
    "python", "pypy", "ipython", "jupyter", "perl", "ruby", "irb", "node", "nodejs", "deno",
    "bun", "php", "lua", "luajit", "tclsh", "wish", "expect", "awk", "gawk", "mawk", "nawk",
    "R", "Rscript", "julia", "ghci", "runghc", "runhaskell", "scala", "groovy", "jshell",
    "java", "swift", "osascript", "ts-node", "tsx", "elixir", "iex", "erl", "escript", "clj",
    "clojure", "guile", "sbcl", "racket", "octave", "m4", "dc", "bc", "gdb", "lldb", "vi",
    "vim", "nvim", "view", "emacs", "nano", "ed", "ex", "less", "more", "man", "sqlite3",
    "psql", "mysql", "mariadb", "mongo", "mongosh", "redis-cli", "valkey-cli", "duckdb",
    "clickhouse-client", "cscript", "wscript",
})  # fmt: skip
"""They run text or files as code, pagers and database shells (``\\!``, ``.shell``) included."""
WRAPPERS = frozenset({
    "sudo", "doas", "su", "runuser", "gosu", "su-exec", "pkexec", "env", "timeout", "gtimeout",
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "command", "builtin", "exec",
    "stdbuf", "unbuffer", "xargs", "parallel", "time", "watch", "entr", "strace", "ltrace",
    "perf", "valgrind", "flock", "unshare", "nsenter", "chroot", "proot", "fakeroot", "bwrap",
    "firejail", "systemd-run", "systemd-inhibit", "script", "scriptlive", "setarch", "linux32",
    "linux64", "catchsegv", "rlwrap", "tini", "dumb-init", "caffeinate", "direnv", "dotenv",
    "aws-vault", "torsocks", "proxychains", "proxychains4", "sshpass", "tmux", "screen", "at",
    "batch", "npx", "pnpx", "bunx", "uvx", "pipx", "coproc", "trap", "setpriv", "capsh",
    "prlimit", "choom", "start-stop-daemon", "dbus-run-session", "xvfb-run", "foreman",
    "chronic", "ifne", "exec-path", "ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1", "ld-musl-aarch64.so.1",
})  # fmt: skip
"""They run another program that their arguments name."""
NETWORK = frozenset({
    "curl", "wget", "wget2", "aria2c", "http", "https", "xh", "httpie", "nc", "ncat", "netcat",
    "socat", "telnet", "ftp", "lftp", "sftp", "scp", "ssh", "mosh", "rsync", "rclone", "tftp",
    "nmap", "masscan", "tcpdump", "tshark", "dig", "host", "nslookup", "drill", "whois", "ping",
    "ping6", "traceroute", "mtr", "openssl", "gsutil", "s3cmd", "websocat", "grpcurl", "lynx",
    "w3m", "links", "elinks",
})  # fmt: skip
WRITERS = frozenset({
    "rm", "rmdir", "unlink", "shred", "mv", "cp", "ln", "install", "touch", "mkdir", "mktemp",
    "mknod", "mkfifo", "tee", "sponge", "dd", "truncate", "fallocate", "split", "csplit",
    "patch", "chmod", "chown", "chgrp", "chattr", "setfacl", "setfattr", "tar", "zip", "unzip",
    "gzip", "gunzip", "bzip2", "xz", "zstd", "7z", "cpio", "ar", "mkfs", "fdisk", "parted",
    "mkswap", "swapon", "swapoff", "umount", "losetup", "wipefs", "kill", "pkill", "killall",
    "taskkill", "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "useradd",
    "userdel", "usermod", "groupadd", "passwd", "chpasswd", "visudo", "crontab", "iptables",
    "ip6tables", "nft", "ufw", "modprobe", "insmod", "rmmod", "sysrq", "dropdb", "createdb",
    "apt-get", "dnf", "yum", "pacman", "apk", "winget", "choco", "history", "export", "set",
    "unset", "declare", "typeset", "local", "readonly", "alias", "unalias", "shopt", "enable",
    "hash", "umask", "ulimit", "read", "mapfile", "readarray", "let", "getopts", "del",
})  # fmt: skip
"""They change files, processes, the system, or the shell that runs the rest of the line."""

# Source: agentscope 2.0's lists of read-only commands and of harmless ones, as far as we profile
# them; those of two words (``git log``) need no entry.
RUN_UNASKED = frozenset({
    "ls", "cat", "head", "tail", "file", "stat", "wc", "grep", "rg", "find", "tree", "pwd", "which",
    "whereis", "type", "echo", "cd", "true", "false", "printf",
})  # fmt: skip
"""Readers that the reference runs without a question, with any arguments."""

_RUNS_ANOTHER = frozenset({
    ("uv", "run"), ("uv", "tool"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"),
    ("hatch", "run"), ("rye", "run"), ("conda", "run"), ("mamba", "run"), ("npm", "exec"),
    ("npm", "x"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("yarn", "dlx"), ("bun",
    "x"), ("bundle", "exec"), ("docker", "exec"), ("docker", "run"), ("docker-compose", "exec"),
    ("docker-compose", "run"), ("podman", "exec"), ("podman", "run"), ("kubectl", "exec"),
    ("kubectl", "run"), ("nix", "run"), ("nix", "shell"), ("nix", "develop"), ("cargo", "run"),
    ("go", "run"), ("dotnet", "run"), ("mise", "exec"), ("asdf", "exec"), ("op", "run"),
    ("doppler", "run"), ("chezmoi", "execute-template"),
})  # fmt: skip
_ONLY_LOOKS_UP = frozenset({("command", "-v"), ("command", "-V")})
_VERSION = re.compile(r"(?<=[A-Za-z])-?\d[\d.]*$")
_BARE = re.compile(r"[A-Za-z_-]*")
_EXTENSION = re.compile(r"\.(?:exe|cmd|bat|com)$", re.IGNORECASE)
_SEPARATOR = re.compile(r"[/\\]")


def base_name(program: str) -> str:
    """``/usr/bin/python3.11`` → ``python``; ``Node.EXE`` → ``node``. For refusing, never for
    allowing."""
    if _BARE.fullmatch(program):
        return program
    name = _EXTENSION.sub("", _SEPARATOR.split(program)[-1])
    return _VERSION.sub("", name) or name


def is_shell(program: str) -> bool:
    """Whether `program` reads shell text."""
    return _is_in(program, SHELLS)


def is_interpreter(program: str) -> bool:
    """Whether `program` runs text or files as code; shells included."""
    return is_shell(program) or _is_in(program, INTERPRETERS)


def is_wrapper(program: str) -> bool:
    """Whether `program` runs another program that its arguments name."""
    return _is_in(program, WRAPPERS)


def is_network(program: str) -> bool:
    """Whether `program` sends or fetches whatever its arguments say."""
    return _is_in(program, NETWORK)


def is_writer(program: str) -> bool:
    """Whether `program` changes files, processes, the system or the shell."""
    return _is_in(program, WRITERS)


def runs_another_program(argv: Sequence[str]) -> bool:
    """Whether `argv` starts a wrapper, also as a subcommand: ``uv run``, ``docker exec``."""
    if not argv or tuple(argv[:2]) in _ONLY_LOOKS_UP:
        return False
    return is_wrapper(argv[0]) or (base_name(argv[0]), *argv[1:2]) in _RUNS_ANOTHER


def _is_in(program: str, names: frozenset[str]) -> bool:
    if _BARE.fullmatch(program):
        return program in names or program.lower() in names
    exact = _SEPARATOR.split(program)[-1]
    base = base_name(program)
    return not names.isdisjoint({exact, base, exact.lower(), base.lower()})
