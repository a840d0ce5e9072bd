"""The reader of shell words with one check taken out, to see that something notices."""

from pathlib import Path
from types import ModuleType

import pytest

from core.permissions.shell import rules, words


def mutant(before: str, after: str) -> ModuleType:
    """A copy of `core.permissions.shell.words` in which `before` reads `after`."""
    source = Path(words.__file__).read_text()
    assert source.count(before) == 1, f"the check {before!r} is not there any more"
    module = ModuleType("mutant")
    module.__dict__["__name__"] = words.__name__
    exec(compile(source.replace(before, after), "mutant", "exec"), module.__dict__)  # noqa: S102
    module.__dict__["NotPlain"] = words.NotPlain
    return module


def use(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let allow rules read commands with `module`."""
    monkeypatch.setattr(rules, "read_commands", module.__dict__["read_commands"])
