from pathlib import Path

import pytest

from adapters.workspace.directory import Directory


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the workspace, with something in it worth stealing."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("treasure")
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def directory(root: Path) -> Directory:
    return Directory(root)
