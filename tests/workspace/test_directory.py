"""File tools can't leave their directory, nor reach what belongs to Keyturn."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.workspace.directory import Directory
from core.errors import SetupRefused, ToolFailed

LIMIT = 1000


def read(directory: Directory, path: str) -> bytes:
    return directory.read(path, LIMIT)[0]


def test_a_file_is_found_by_relative_and_by_absolute_path(directory: Directory, root: Path) -> None:
    """Both name the same file, and `..` that stays inside is allowed."""
    (root / "sub").mkdir()
    (root / "a").write_text("text")

    assert read(directory, "a") == b"text"
    assert read(directory, str(root / "a")) == b"text"
    assert read(directory, "sub/../a") == b"text"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "sub/../../outside/secret",
        "/etc/passwd",
        "",
        ".",
        "a\0b",
        "\ud800",
        "~",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(
    directory: Directory, root: Path, path: str
) -> None:
    """Whether by dots, by the root of the system, or because it is no path at all."""
    (root / "sub").mkdir()

    with pytest.raises(ToolFailed):
        read(directory, path)
    with pytest.raises(ToolFailed):
        directory.write(path, b"x")


def test_links_out_are_refused_and_links_inside_are_followed(
    directory: Directory, root: Path, outside: Path
) -> None:
    """A link counts as what it points at, whether it is a file or a directory on the way."""
    (root / "a").write_text("text")
    (root / "in").symlink_to("a")
    (root / "absolute").symlink_to(root / "a")
    (root / "out").symlink_to(outside / "secret")
    (root / "door").symlink_to(outside)
    (root / "loop").symlink_to("loop")

    assert read(directory, "in") == read(directory, "absolute") == b"text"
    for path in ("out", "door/secret", "door/../outside/secret", "loop"):
        with pytest.raises(ToolFailed):
            read(directory, path)
    for path in ("out", "door/new"):
        with pytest.raises(ToolFailed):
            directory.write(path, b"x")
    assert sorted(file.name for file in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "treasure"


NAMES = ("a", "sub", "..", ".", "in", "out", "door", "deep", "up", "none")


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        (top / "outside").mkdir()
        (top / "outside" / "a").write_text("outside")
        root = top / "work"
        (root / "sub" / "sub").mkdir(parents=True)
        for place in (root, root / "sub", root / "sub" / "sub"):
            (place / "a").write_text("inside")
            (place / "in").symlink_to("a")
            (place / "out").symlink_to(top / "outside" / "a")
            (place / "door").symlink_to(top / "outside")
            (place / "deep").symlink_to(root / "sub")
            (place / "up").symlink_to("..")
        yield root


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from(NAMES), min_size=1, max_size=7))
def test_a_walk_agrees_with_the_kernel_or_refuses(tree: Path, parts: list[str]) -> None:
    """What is read is the file that the kernel finds, and only if every step stays inside."""
    path = "/".join(parts)
    try:
        found = read(Directory(tree), path)
    except ToolFailed:
        found = None

    real = Path(os.path.realpath(tree / path))
    if found is not None:
        assert found == b"inside"
        assert real.is_relative_to(tree)
        assert real.read_bytes() == found
    elif (tree / path).is_file():
        assert _leaves(tree, parts)


def _leaves(root: Path, parts: list[str]) -> bool:
    """Whether some step on the way is outside."""
    return any(
        not Path(os.path.realpath(root / "/".join(parts[: count + 1]))).is_relative_to(root)
        for count in range(len(parts))
    )


def test_a_directory_swapped_for_a_link_while_reading_never_leaks(
    directory: Directory, root: Path, outside: Path
) -> None:
    """The check and the opening are one: a race is lost by the one who races."""
    (root / "real").mkdir()
    (root / "real" / "secret").write_text("harmless")
    (root / "link").symlink_to(outside)
    (root / "here").symlink_to("real")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for target in ("real", "link"):
                (root / "next").symlink_to(target)
                (root / "next").rename(root / "here")
            (root / "real").rename(root / "spare")
            (root / "real").symlink_to(outside)
            (root / "real").unlink()
            (root / "spare").rename(root / "real")

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[bytes] = set()
    try:
        for _ in range(1500):
            try:
                seen.add(read(directory, "here/secret"))
                directory.write("here/new", b"x")
            except ToolFailed:
                seen.add(b"refused")
    finally:
        stop.set()
        thread.join()

    assert seen <= {b"harmless", b"refused"}
    assert [file.name for file in outside.iterdir()] == ["secret"]


@pytest.mark.parametrize(
    "path", ["keys", "data/a", "data/new", "hard", "inner", "soft", "later", "data"]
)
def test_what_belongs_to_keyturn_is_refused(root: Path, path: str) -> None:
    """By its path, through a hard or symbolic link, inside a directory, or before it exists."""
    (root / "keys").write_text("k")
    (root / "data").mkdir()
    (root / "data" / "a").write_text("d")
    os.link(root / "keys", root / "hard")
    os.link(root / "data" / "a", root / "inner")
    (root / "soft").symlink_to("data/a")
    directory = Directory(root, [root / "keys", root / "data", root / "later"])

    with pytest.raises(ToolFailed):
        read(directory, path)
    with pytest.raises(ToolFailed):
        directory.write(path, b"x")
    assert (root / "keys").read_text() == "k"
    assert not (root / "later").exists()


def test_pipes_and_directories_are_no_files(directory: Directory, root: Path) -> None:
    """A pipe without a writer does not hang the gateway; it is refused."""
    os.mkfifo(root / "pipe")
    (root / "sub").mkdir()

    for path in ("pipe", "sub"):
        with pytest.raises(ToolFailed):
            read(directory, path)
        with pytest.raises(ToolFailed):
            directory.write(path, b"x")


def test_a_write_keeps_the_mode_and_leaves_nothing_behind(directory: Directory, root: Path) -> None:
    """An executable stays one; there is no temporary file afterwards."""
    script = root / "run.sh"
    script.write_text("old")
    script.chmod(0o750)

    assert directory.write("run.sh", b"new") is False
    assert directory.write("made/on/the/way", b"new") is True

    assert script.read_text() == "new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert (root / "made/on/the/way").read_text() == "new"
    assert sorted(file.name for file in root.iterdir()) == ["made", "run.sh"]


def test_a_reader_holds_the_old_file_or_the_new_one(directory: Directory, root: Path) -> None:
    """A write replaces the name; whoever has the old file open still reads it whole."""
    (root / "a").write_text("old")
    with (root / "a").open() as held:
        directory.write("a", b"newer")

        assert held.read() == "old"
    assert (root / "a").read_text() == "newer"


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(
    directory: Directory, root: Path
) -> None:
    """Somebody else's change is not lost, and no temporary file stays."""
    (root / "a").write_text("first")
    _, stamp = directory.read("a", LIMIT)
    (root / "a").write_text("theirs!")

    with pytest.raises(ToolFailed, match="changed"):
        directory.write("a", b"mine", expected=stamp)

    assert (root / "a").read_text() == "theirs!"
    assert [file.name for file in root.iterdir()] == ["a"]


def test_a_file_longer_than_the_limit_is_refused(directory: Directory, root: Path) -> None:
    """Its size is named, nothing is read."""
    (root / "a").write_bytes(b"x" * (LIMIT + 1))

    with pytest.raises(ToolFailed, match="1001"):
        read(directory, "a")


def test_a_workspace_that_could_show_keyturns_files_is_refused(root: Path) -> None:
    """Missing, the root of the system, or inside the data directory."""
    with pytest.raises(SetupRefused, match="Create it"):
        Directory(root / "none")
    with pytest.raises(SetupRefused):
        Directory(Path("/"))
    with pytest.raises(SetupRefused, match="Choose another"):
        Directory(root, [root.parent])
