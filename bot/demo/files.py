"""The scratch directory of the demo: log files, a configuration, and a `keyturn.toml`."""

import json
import shutil
from pathlib import Path

ROTATED = ("app.log.1", "app.log.2", "app.log.3", "app.log.4")
LINES_PER_LOG = 1500
CONFIG = """\
# How the staging service keeps its logs.
rotate_at_mb = 16
keep = 30
compress = false
"""

_SETTINGS = """\
# Written by `keyturn demo`. Look around with it while the demo waits:
#   keyturn pending --config {file}

[agents.ops]
model = "scripted:demo"
instructions = "You look after the staging service."
tools = ["Bash", "Read", "Edit", "external:ask_customer"]
workspace = "work"
sandbox = "{sandbox}"

[people.you]
local = {user}

[approvers.you]
people = ["you"]

[gates.default]
approvers = "you"
timeout = "7d"

[[gates.list]]
name = "configuration"
match = "Edit"
approvers = "you"
timeout = "7d"
risk = "medium"

[tasks.ask_customer]
fulfillers = "you"
timeout = "7d"
description = "Ask the customer a question that only a person can ask."
title = "Ask {{customer}}: {{question}}"
input = {{ type = "object", properties = {{ customer = {{ type = "string" }}, question = {{ type = \
"string" }} }}, required = ["customer", "question"] }}
result = {{ type = "object", properties = {{ confirmed = {{ type = "boolean" }}, note = {{ type = \
"string" }} }}, required = ["confirmed"] }}

[local]
data = "data"
"""


def prepare(folder: Path, user: str, sandbox: str, *, fresh: bool) -> Path:
    """Make the scratch directory, unless it is there, and return its configuration file.

    A directory that is there is left as it is, so that an interrupted demo goes on.

    Raises:
        OSError: the directory can't be written.
    """
    if fresh:
        for name in ("work", "data"):
            shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "work").mkdir(parents=True, exist_ok=True)
    settings = folder / "keyturn.toml"
    settings.write_text(_SETTINGS.format(file=settings, user=json.dumps(user), sandbox=sandbox))
    marker = folder / "work" / "config" / "logs.conf"
    if not marker.exists():
        _write_files(folder / "work")
    return settings


def _write_files(work: Path) -> None:
    """The marker is written last: a half-made directory is made again."""
    logs = work / "logs"
    logs.mkdir(exist_ok=True)
    (logs / "app.log").write_text(_log(0, 40))
    for number, name in enumerate(ROTATED, start=1):
        (logs / name).write_text(_log(number, LINES_PER_LOG))
    (work / "config").mkdir(exist_ok=True)
    (work / "config" / "logs.conf").write_text(CONFIG)


def _log(age: int, lines: int) -> str:
    return "".join(
        f"2026-11-{29 - age:02d}T{n // 60 % 24:02d}:{n % 60:02d}:00Z INFO request served in"
        f" {(n * 7919 + age) % 180 + 3} ms\n"
        for n in range(lines)
    )
