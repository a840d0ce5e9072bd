"""Read, Write and Edit."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.workspace.directory import Directory
from adapters.workspace.edit import Edit, replace
from adapters.workspace.read import MAX_LINES, MAX_TEXT, Read, lines
from adapters.workspace.write import Write
from core.errors import ToolFailed
from core.messages import ToolResultState
from tests.workspace.calls import Nobody, call


@pytest.fixture
def read(directory: Directory) -> Read:
    return Read(directory, Nobody())


@pytest.fixture
def write(directory: Directory) -> Write:
    return Write(directory, Nobody())


@pytest.fixture
def edit(directory: Directory) -> Edit:
    return Edit(directory, Nobody())


async def test_a_short_file_is_read_as_it_is(read: Read, root: Path) -> None:
    """No numbers, no changes to its line ends."""
    (root / "a").write_bytes("één\r\ntwo".encode())

    result = await call(read, file_path="a")

    assert result.text == "één\r\ntwo"
    assert result.state is ToolResultState.SUCCESS


async def test_a_part_of_a_file_says_how_to_go_on(read: Read, root: Path) -> None:
    """The next offset is in the note."""
    (root / "a").write_text("".join(f"line {number}\n" for number in range(1, 11)))

    result = await call(read, file_path="a", offset=3, limit=2)
    after = await call(read, file_path="a", offset=11)

    assert result.text == "line 3\nline 4\n[lines 3 to 4 of 10; go on with offset 5]"
    assert after.text == "[the file has only 10 lines]"


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"\r", b"bc", b"\x0b"]), max_size=60).map(b"".join)
)
def test_reading_in_parts_gives_the_whole(data: bytes) -> None:
    """Following the offsets of the notes, no line is lost or read twice."""
    text = ""
    offset: int | None = 1
    while offset:
        part = lines(data, offset, 3)
        body, mark, rest = part.rpartition("go on with offset ")
        text += body[: body.rindex("[")] if mark else part
        offset = int(rest[:-1]) if mark else None

    assert text.encode() == data or (data == b"" and text == "[the file is empty]")


def test_one_huge_line_is_cut() -> None:
    """A file without line ends does not flood the model."""
    text = lines(b"x" * (MAX_TEXT + 5), 1, MAX_LINES)

    assert text == "x" * MAX_TEXT + f"\n[line 1 is cut after {MAX_TEXT} characters]"


async def test_binary_and_undecodable_files_are_named_as_such(read: Read, root: Path) -> None:
    """Binary is refused; a stray byte is shown as replaced, with a note."""
    (root / "binary").write_bytes(b"\x7fELF\0\0")
    (root / "latin").write_bytes(b"caf\xe9\n")

    with pytest.raises(ToolFailed, match="binary"):
        await call(read, file_path="binary")
    assert (await call(read, file_path="latin")).text == (
        "caf\ufffd\n[not valid UTF-8: undecodable bytes are shown as U+FFFD]"
    )


async def test_a_file_is_written_and_replaced(write: Write, root: Path) -> None:
    """The bytes are the content's UTF-8, nothing added."""
    first = await call(write, file_path="new/a", content="één")
    second = await call(write, file_path="new/a", content="")

    assert first.text == "Created the file: 5 bytes."
    assert second.text == "Replaced the file: 0 bytes."
    assert (root / "new" / "a").read_bytes() == b""


async def test_half_a_character_is_not_written(write: Write, edit: Edit, root: Path) -> None:
    """A lone surrogate has no bytes."""
    (root / "a").write_text("x")

    with pytest.raises(ToolFailed, match="surrogate"):
        await call(write, file_path="a", content="\ud800")
    with pytest.raises(ToolFailed, match="surrogate"):
        await call(edit, file_path="a", old_string="x", new_string="\udfff")
    assert (root / "a").read_text() == "x"


async def test_an_edit_changes_exactly_one_place(edit: Edit, root: Path) -> None:
    """Bytes around it stay, undecodable ones and the mode included."""
    (root / "a").write_bytes(b"caf\xe9 one two\r\n")
    (root / "a").chmod(0o640)

    result = await call(edit, file_path="a", old_string="one", new_string="1")

    assert result.text == "Replaced the text in 1 place."
    assert (root / "a").read_bytes() == b"caf\xe9 1 two\r\n"
    assert (root / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("old", "why"),
    [("no", "not in the file"), ("b", "2 times"), ("aa", "2 times"), ("x\ny", r"\\r\\n")],
)
async def test_an_edit_without_exactly_one_place_is_refused(
    edit: Edit, root: Path, old: str, why: str
) -> None:
    """Nowhere, twice, or twice overlapping; the file stays as it is."""
    (root / "f").write_bytes(b"aaa b b x\r\ny")

    with pytest.raises(ToolFailed, match=why):
        await call(edit, file_path="f", old_string=old, new_string="z")

    assert (root / "f").read_bytes() == b"aaa b b x\r\ny"


async def test_an_edit_of_every_place(edit: Edit, root: Path) -> None:
    """Only when asked for."""
    (root / "f").write_text("b b b")

    result = await call(edit, file_path="f", old_string="b", new_string="c", replace_all=True)

    assert result.text == "Replaced the text in 3 places."
    assert (root / "f").read_text() == "c c c"


def test_an_edit_that_changes_nothing_is_refused() -> None:
    """The model should learn that nothing happened."""
    with pytest.raises(ToolFailed, match="the same"):
        replace(b"a", b"a", b"a", every=True)
