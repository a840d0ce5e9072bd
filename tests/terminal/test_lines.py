"""Lines from pipes and files."""

import asyncio
import os
from pathlib import Path

import pytest

from adapters.terminal.lines import Ended, Typed, written
from adapters.terminal.payloads import MAX_LINE, NotUnderstood, read_line


async def test_lines_come_one_at_a_time_from_a_pipe() -> None:
    """Also when they were written in one piece, and the last one without its end."""
    read, write = os.pipe()
    os.write(write, "approve\nreject nö\r\nlater".encode())
    os.close(write)
    lines, wake = Typed(read), asyncio.Event()

    got = [await lines.next(wake) for _ in range(3)]

    assert got == ["approve", "reject nö", "later"]
    with pytest.raises(Ended):
        await lines.next(wake)


async def test_a_wait_can_be_given_up_without_losing_what_comes_later() -> None:
    """The question changed; the line that is typed afterwards goes to the next question."""
    read, write = os.pipe()
    lines, wake = Typed(read), asyncio.Event()
    wake.set()

    assert await lines.next(wake) is None

    wake.clear()
    os.write(write, b"approve\n")
    assert await lines.next(wake) == "approve"
    os.close(write)


async def test_a_regular_file_is_read_too(tmp_path: Path) -> None:
    """`keyturn demo < answers`: the event loop can't watch files."""
    file = tmp_path / "answers"
    file.write_text("later\n")

    with file.open() as stream:
        assert await Typed(stream.fileno()).next(asyncio.Event()) == "later"


async def test_the_end_of_a_far_too_long_line_is_no_line() -> None:
    """Else its last piece could pass for an answer."""
    read, write = os.pipe()
    lines, wake = Typed(read), asyncio.Event()

    async with asyncio.TaskGroup() as group:
        text = b"x" * (5 * MAX_LINE) + b" approve\nlater\n"
        group.create_task(asyncio.to_thread(_write_all, write, text))
        first, second = await lines.next(wake), await lines.next(wake)

    assert first is not None
    assert isinstance(read_line(first), NotUnderstood)
    assert second == "later"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
    os.close(descriptor)


async def test_lines_written_beforehand_skip_comments() -> None:
    """A file of answers may explain itself."""
    lines = written(["# first", "", "approve"])

    assert await lines.next(asyncio.Event()) == "approve"
    with pytest.raises(Ended):
        await lines.next(asyncio.Event())
