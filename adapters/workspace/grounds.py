"""What the effect of a call in the workspace depends on besides its input.

The facts are bound into the call's digest when it is asked, shown on its card, and taken again when
the run starts: a program, script, directory or link that moved in between stops the run.
"""

import hashlib
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from adapters.workspace.sandbox import PATH
from core.permissions.shell.programs import TooMuch, programs

MOST_PROGRAMS = 8
"""Programs of one command that are named; a command with more is bound by their hash."""

_MOST_BYTES = 16 * 1024 * 1024


def of_command(command: str, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Directory, programs and environment of a command."""
    named = " ".join(f"{key}={value}" for key, value in sorted(environment.items()))
    return {
        "directory": str(root),
        "programs": _programs(command, root),
        "environment": f"sha256:{hashlib.sha256(named.encode()).hexdigest()[:16]}",
    }


def of_file(path: str, root: Path) -> dict[str, str]:
    """Where a path of a file tool really leads at this moment."""
    try:
        return {"file": os.path.realpath(root / path)}
    except (OSError, ValueError):
        return {"file": "can't be found out"}


def _programs(command: str, root: Path) -> str:
    try:
        names = dict.fromkeys(argv[0] for argv in programs(command) if argv[0] != ">")
    except TooMuch:
        return "too many to tell apart"
    facts = [f"{shlex.quote(name)} is {_program(name, root)}" for name in names]
    facts = [fact for fact in facts if not fact.endswith(" is ")]
    if len(facts) <= MOST_PROGRAMS:
        return ", ".join(facts) or "the shell's own"
    return f"{len(facts)}, sha256:{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:16]}"


def _program(name: str, root: Path) -> str:
    """Where a program is found; a script that is given by its path is named with its content."""
    try:
        if "/" not in name:
            found = shutil.which(name, path=PATH)
            return os.path.realpath(found) if found else ""
        real = os.path.realpath(root / name)
        return f"{real} {_content(real)}"
    except (OSError, ValueError):
        return "not to be found"


def _content(path: str) -> str:
    with Path(path).open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        return f"over {_MOST_BYTES} bytes"
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"
