"""The demo: its scripts end as they say, and kill -9 anywhere only interrupts it."""

from pathlib import Path

import pytest

from bot.demo.files import prepare
from bot.demo.play import no_sandbox_because
from tests.bot.playing import Played, keyturn, play_demo

OLD = ("app.log.2", "app.log.3", "app.log.4")


def left(folder: Path) -> set[str]:
    return {file.name for file in (folder / "work" / "logs").iterdir()}


def kept(folder: Path) -> str:
    lines = (folder / "work" / "config" / "logs.conf").read_text().splitlines()
    return next(line for line in lines if line.startswith("keep"))


@pytest.mark.parametrize(
    ("script", "deleted", "keep"),
    [
        ("approve", set(OLD), "keep = 7"),
        ("mixed", {"app.log.4"}, "keep = 30"),
        ("reject", set[str](), "keep = 30"),
    ],
)
def test_each_script_leaves_what_was_decided(
    tmp_path: Path, script: str, deleted: set[str], keep: str
) -> None:
    """What was approved ran, what was rejected did not, what was changed ran as changed."""
    played = keyturn("demo", "--dir", str(tmp_path), "--script", script)

    assert played.returncode == 0, played.stdout + played.stderr
    assert set(OLD) - left(tmp_path) == deleted
    assert kept(tmp_path) == keep
    assert "Done. In short:" in played.stdout
    assert "\x1b" not in played.stdout


def test_without_answers_nothing_is_decided(tmp_path: Path) -> None:
    """The end of input is no approval: the demo leaves everything open, and exits with 4."""
    played = keyturn("demo", "--dir", str(tmp_path), "--answer", "-")

    assert played.returncode == 4
    assert left(tmp_path) >= set(OLD)
    assert kept(tmp_path) == "keep = 30"


def test_without_a_sandbox_it_says_so(tmp_path: Path) -> None:
    """On a machine where nothing can be confined the demo works, and never silently."""
    work = tmp_path / "work"
    assert no_sandbox_because(work / "missing")
    settings = prepare(tmp_path, "somebody", "none", fresh=False).read_text()

    assert 'sandbox = "none"' in settings
    played = keyturn("demo", "--dir", str(tmp_path), "--script", "reject")
    because = no_sandbox_because(work)
    assert ("The sandbox is OFF" in played.stdout) == bool(because)
    assert (
        f'sandbox = "{"none" if because else "bubblewrap"}"'
        in (tmp_path / "keyturn.toml").read_text()
    )


def test_fresh_starts_anew(tmp_path: Path) -> None:
    """A finished demo stays finished until it is asked for anew."""
    keyturn("demo", "--dir", str(tmp_path), "--script", "approve")

    again = keyturn("demo", "--dir", str(tmp_path), "--script", "reject")
    assert "played to its end" in again.stdout
    assert not left(tmp_path) & set(OLD)

    fresh = keyturn("demo", "--dir", str(tmp_path), "--fresh", "--script", "reject")
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr
    assert left(tmp_path) >= set(OLD)


MOMENTS = {
    "as soon as the request is taken": ("a colleague:", ()),
    "while it looks": ("▸ Bash", ()),
    "when the first card is shown": ("[a]pprove once", ()),
    "right after an approval was given": ("", ("approve",)),
    "when the approval is confirmed": ("» Approved", ("approve",)),
    "when the deletion has run": ("✔ Completed", ("approve",)),
    "when the task is shown": ("[f]ulfil", ("approve", "approve")),
    "when the task is answered": (
        "» Recorded",
        ("approve", "approve", '{"answer": "fulfil", "input": {"confirmed": true}}'),
    ),
    "when the summary begins": (
        "Done. In short",
        ("approve", "approve", '{"answer": "fulfil", "input": {"confirmed": true}}'),
    ),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_demo_goes_on(tmp_path: Path, moment: str) -> None:
    """kill -9 at a named moment; the next start asks only what is open and does nothing twice."""
    marker, answers = MOMENTS[moment]
    played = Played(("demo", "--dir", str(tmp_path), "--answer", "-"))
    for answer in answers:
        assert played.until("[a]pprove once", "[f]ulfil")
        played.answer(answer)
    assert not marker or played.until(marker), played.output
    played.kill()

    output = play_demo(tmp_path, lambda: not left(tmp_path) & set(OLD))

    assert "Done. In short:" in output
    assert not left(tmp_path) & set(OLD)
    assert kept(tmp_path) == "keep = 7"
    assert "failed" not in output
    confirmed = "» Approved" in played.output
    assert not (confirmed and "Run rm logs" in output and "Outcome unknown" not in output), output
