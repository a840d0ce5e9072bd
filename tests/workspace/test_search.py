"""Glob and Grep."""

import asyncio
import os
from pathlib import Path
from time import perf_counter

import pytest

from adapters.workspace.directory import Directory
from adapters.workspace.glob import Glob
from adapters.workspace.globs import anywhere, compile_glob
from adapters.workspace.grep import Grep
from core.errors import ToolFailed
from core.messages import ToolResultState
from tests.workspace.calls import Nobody, call


@pytest.fixture
def glob(directory: Directory) -> Glob:
    return Glob(directory, Nobody())


@pytest.fixture
def grep(directory: Directory) -> Grep:
    return Grep(directory, Nobody())


@pytest.fixture
def files(root: Path, outside: Path) -> Path:
    (root / "src" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config.py").write_text("needle")
    (root / "src" / "a.py").write_text("one\nneedle two\nthree\nfour\nNEEDLE five\n")
    (root / "src" / "deep" / "b.ts").write_text("nothing\n")
    (root / "src" / "deep" / "c.bin").write_bytes(b"needle\0")
    (root / "top.py").write_text("x = 'needle'\n")
    (root / "link.py").symlink_to(outside / "secret")
    (root / "door").symlink_to(outside)
    for age, name in enumerate(("top.py", "src/a.py", "src/deep/b.ts")):
        os.utime(root / name, (1000 - age, 1000 - age))
    return root


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**", "src/deep/a.py", True),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "srca.py", False),
        ("?.py", "a.py", True),
        ("?.py", "/.py", False),
        ("[a-c].py", "b.py", True),
        ("[!a-c].py", "b.py", False),
        ("[!a]x", "/x", False),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.ts,tsx", False),
        ("{src,lib}/*.py", "lib/a.py", True),
        ("a{b", "a{b", True),
        ("a.b", "axb", False),
        ("*", ".hidden", True),
        ("a+(b)", "a+(b)", True),
        ("*.py", "a.py\n", False),
        ("./a.py", "a.py", True),
    ],
)
def test_globs_mean_what_programmers_expect(pattern: str, path: str, matches: bool) -> None:
    """Stars stay inside a name, two of them do not, braces choose, all else is literal."""
    assert bool(compile_glob(pattern).match(path)) is matches


def test_a_filter_without_a_slash_is_for_the_name() -> None:
    """As ripgrep reads it."""
    assert compile_glob(anywhere("*.py")).match("src/deep/a.py")
    assert not compile_glob(anywhere("src/*.py")).match("x/src/a.py")


async def test_files_are_listed_newest_first(glob: Glob, files: Path) -> None:
    """Version control's directories and what lies behind links are not."""
    result = await call(glob, pattern="**/*.{py,ts}")
    below = await call(glob, pattern="*", path="src")

    assert result.text.splitlines()[1:] == ["top.py", "src/a.py", "src/deep/b.ts"]
    assert result.text.splitlines()[0] == "link.py"
    assert below.text.splitlines() == ["src/a.py"]
    assert (await call(glob, pattern="*.none")).text == "[no file matches]\n"


async def test_lines_paths_and_counts_are_found(grep: Grep, files: Path) -> None:
    """Neither binary files nor links nor version control are searched."""
    paths = await call(grep, pattern="needle|treasure")
    shown = await call(grep, pattern="needle", output_mode="content", path="src/a.py")
    counts = await call(grep, pattern="needle", output_mode="count", i=True)

    assert paths.text.splitlines() == ["top.py", "src/a.py"]
    assert shown.text == "src/a.py:2:needle two\n"
    assert counts.text.splitlines() == ["top.py:1", "src/a.py:2"]
    assert (await call(grep, pattern="absent")).text == "[nothing matches]\n"


async def test_context_filters_and_limits(grep: Grep, files: Path) -> None:
    """Lines around, only some files, the first few, and how to go on."""
    around = await call(grep, pattern="two|five", output_mode="content", context=1, glob="a.*")
    bare = await call(grep, pattern="^", output_mode="content", type="py", n=False, head_limit=2)
    later = await call(grep, pattern="^", output_mode="content", type="py", head_limit=1, offset=2)

    assert around.text.splitlines() == [
        "src/a.py-1-one",
        "src/a.py:2:needle two",
        "src/a.py-3-three",
        "src/a.py-4-four",
        "src/a.py:5:NEEDLE five",
    ]
    assert bare.text.splitlines()[0] == "top.py:x = 'needle'"
    assert bare.text.splitlines()[2] == "[there is more; go on with offset 2]"
    assert later.text.splitlines()[0] == "src/a.py:2:needle two"


async def test_a_match_may_span_lines(grep: Grep, files: Path) -> None:
    """Only when asked for."""
    single = await call(grep, pattern="two.three", output_mode="content")
    several = await call(grep, pattern="two.three", output_mode="content", multiline=True)

    assert single.text == "[nothing matches]\n"
    assert several.text == "src/a.py:2:needle two\nsrc/a.py:3:three\n"


@pytest.mark.parametrize("path", ["..", "door", "link.py", "/etc", "none"])
async def test_a_search_stays_inside(grep: Grep, glob: Glob, files: Path, path: str) -> None:
    """By dots, by a link, by the system's root; and a missing path is no empty answer."""
    with pytest.raises(ToolFailed):
        await call(grep, pattern="treasure", path=path)
    with pytest.raises(ToolFailed):
        await call(glob, pattern="*", path=path)


async def test_what_belongs_to_keyturn_is_not_found(files: Path) -> None:
    """Neither its name nor its content, by itself, below a directory or through a hard link."""
    (files / "data").mkdir()
    (files / "data" / "key.py").write_text("needle")
    os.link(files / "top.py", files / "hard.py")
    directory = Directory(files, [files / "data", files / "top.py"])

    names = await call(Glob(directory, Nobody()), pattern="**/*.py")
    found = await call(Grep(directory, Nobody()), pattern="needle")

    assert sorted(names.text.splitlines()) == ["link.py", "src/a.py"]
    assert found.text == "src/a.py\n"
    with pytest.raises(ToolFailed):
        await call(Grep(directory, Nobody()), pattern="needle", path="data")


async def test_files_that_may_hold_secrets_are_searched_only_by_name(
    grep: Grep, root: Path
) -> None:
    """A search of everything would hand them to the model without anybody being asked."""
    (root / ".env").write_text("needle\n")
    (root / ".ssh").mkdir()
    (root / ".ssh" / "config").write_text("needle\n")
    (root / "a.txt").write_text("needle\n")

    everything = await call(grep, pattern="needle")
    by_name = await call(grep, pattern="needle", path=".env")
    below = await call(grep, pattern="needle", path=".ssh")

    assert everything.text.splitlines() == [
        "a.txt",
        "[files that may hold secrets, left out unless path names one: 2]",
    ]
    assert by_name.text == ".env\n"
    assert below.text == ".ssh/config\n"


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<x>a)(?P<x>b)"])
async def test_a_pattern_that_can_not_be_read_is_refused(grep: Grep, pattern: str) -> None:
    """With what is wrong about it."""
    with pytest.raises(ToolFailed, match="no regular expression"):
        await call(grep, pattern=pattern)


async def test_a_pattern_that_never_ends_is_stopped(
    grep: Grep, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is killed at the deadline, and the loop runs on meanwhile."""
    monkeypatch.setattr("adapters.workspace.search.DEADLINE", 1.0)
    (root / "a").write_text("a" * 60 + "b\n")
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, perf_counter() - before)

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        result = await call(grep, pattern="^(a+)+$")
        ticking.cancel()

    assert result.state is ToolResultState.ERROR
    assert "stopped after" in result.text
    assert 0 < longest < 0.8
