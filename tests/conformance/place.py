"""The directories the reference rows speak of, recreated, and the tools that work there."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.permissions.bash import BashPermissions
from core.permissions.external import ExternalPermissions
from core.permissions.files import ReadPermissions, WritePermissions
from core.permissions.functions import FunctionPermissions
from core.permissions.opinions import NO_OPINION
from core.permissions.paths import DiskPaths
from core.permissions.powershell import PowerShellPermissions
from core.permissions.rules import PermissionBehavior
from core.permissions.search import SearchPermissions
from core.tools import PermissionDecision, ToolPermissions, Traits
from tests.conformance.outcome import Row
from tests.core.permissions.samples import SampleTool

RECORDED = "/srv/ref"


@dataclass(frozen=True)
class Place:
    """The tree of the reference rows under another root."""

    root: str

    @property
    def paths(self) -> DiskPaths:
        """Paths as the reference process saw them."""
        return DiskPaths(cwd=f"{self.root}/cwd", home=f"{self.root}/home")

    def rows(self, file: Path) -> Iterator[Row]:
        """The rows of a file, their paths mapped."""
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line.replace(RECORDED, self.root))

    def tool(self, kind: str, row: Row | None = None) -> SampleTool:
        """The tool that a row is about."""
        name, permissions = self._named(kind.lower(), row or {})
        return SampleTool(name, permissions, Traits())

    def _named(self, kind: str, row: Row) -> tuple[str, ToolPermissions]:
        paths = self.paths
        made: dict[str, ToolPermissions] = {
            "Bash": BashPermissions("Bash", paths),
            "PowerShell": PowerShellPermissions("PowerShell"),
            "AskUser": ExternalPermissions("AskUser", read_only=True),
            "Read": ReadPermissions("Read", paths),
            "Write": WritePermissions("Write", paths),
            "Edit": WritePermissions("Edit", paths),
            "Glob": SearchPermissions("Glob", paths, "names"),
            "Grep": SearchPermissions("Grep", paths, "contents"),
        }
        for name, permissions in made.items():
            if name.lower() == kind.replace("_", ""):
                return name, permissions
        name = str(row.get("name", "fn"))
        return name, FunctionPermissions(name, bool(row.get("is_read_only")), _opinion(row))


def _opinion(row: Row) -> PermissionDecision:
    given = row.get("permission")
    if not given:
        return NO_OPINION
    return PermissionDecision(
        PermissionBehavior(given["behavior"]),
        "the tool's own opinion",
        bypass_immune=given.get("bypass_immune", False),
    )


@contextmanager
def reference_place(where: str = "/var/tmp") -> Iterator[Place]:  # noqa: S108 - see below
    """The tree, in a temporary directory, for as long as it is needed.

    Some rows have rules for /tmp that must not cover it; those of `reference_match` were recorded
    in a directory below /tmp.
    """
    with tempfile.TemporaryDirectory(prefix="keyturn", dir=where) as made:
        root = Path(os.path.realpath(made))
        for directory in ("home", "cwd", "proj", "elsewhere"):
            (root / directory).mkdir()
        (root / "proj" / "innocent.txt").symlink_to(root / "home" / ".bashrc")
        (root / "alias").symlink_to(root / "proj")
        (root / "proj" / "escape").symlink_to(root / "elsewhere")
        yield Place(str(root))
