"""Answers at the terminal: what counts, what does not, and what is asked once more."""

import json
import sys
from pathlib import Path

import pytest

from adapters.models.scripted import Call
from adapters.terminal.listener import Outcome
from core.calls import CallState
from tests.stories.office import BO, REQUESTER
from tests.terminal.desk import Desk, Mailer, desk

HOSTILE = "Kim\u202e\x1b[2J"


async def asked(mailer: Mailer, risk: str | None = None, **arguments: object) -> Desk:
    """A desk at which one mail is asked about."""
    values = {"to": "Kim", **arguments}
    opened = desk([mailer.mail], Call("mail", json.dumps(values), "c1"), risk=risk)  # type: ignore[arg-type]
    await opened.office.ask()
    return opened


async def test_one_word_approves_what_is_shown_whole() -> None:
    """The card, the word, one run."""
    mailer = Mailer()
    at = await asked(mailer, text="hello")

    assert await at.answer("a") is Outcome.ANSWERED
    assert [mail["text"] for mail in mailer.sent] == ["hello"]
    assert "Write to Kim" in at.screen
    assert "→ to: Kim" in at.screen
    assert "Approved for one run." in at.screen


@pytest.mark.parametrize("line", ["", "y", "yes", "ok", "aprove", "[a]", "approve?"])
async def test_a_line_that_is_no_answer_decides_nothing(line: str) -> None:
    """A bare Enter and near misses are told what to say; the end of input leaves it open."""
    mailer = Mailer()
    at = await asked(mailer)

    assert await at.answer(line) is Outcome.QUIT
    assert mailer.sent == []
    assert (await at.office.asked()).state is CallState.OPEN


async def test_the_reason_of_a_rejection_reaches_the_agent() -> None:
    """Asked for at the terminal; an empty one is taken too."""
    at = await asked(Mailer())

    assert await at.answer("reject", "wrong person") is Outcome.ANSWERED
    assert "Rejected. It will not run." in at.screen


async def test_what_hides_something_has_to_be_read_to_the_end() -> None:
    """No approval at a glance; the characters are drawn; yes on the last page approves."""
    mailer = Mailer()
    at = await asked(mailer, to=HOSTILE)

    assert await at.answer("a", "review", "no", "review", "yes") is Outcome.ANSWERED
    assert len(mailer.sent) == 1
    assert "can't be judged at a glance" in at.screen
    assert "Kim<U+202E><U+001B>[2J" in at.screen
    assert "\x1b" not in at.screen
    assert "\u202e" not in at.screen
    assert "[a]pprove" not in at.screen


async def test_every_page_has_to_be_turned() -> None:
    """Leaving before the last page approves nothing."""
    mailer = Mailer()
    at = await asked(mailer, text="word " * 2000)

    assert await at.answer("review", "", "q", "later") is Outcome.LATER
    assert mailer.sent == []
    assert "Page 1 of" in at.screen


async def test_high_risk_asks_for_the_code() -> None:
    """A wrong code approves nothing; the right one does."""
    mailer = Mailer()
    at = await asked(mailer, "high")
    code = (await at.office.asked()).digest[:4]

    assert await at.answer("a", "0000" if code != "0000" else "1111", "later") is Outcome.LATER
    assert mailer.sent == []
    assert await at.answer("a", f"#{code}") is Outcome.ANSWERED
    assert len(mailer.sent) == 1


async def test_an_edit_in_the_editor_is_checked_shown_and_confirmed(tmp_path: Path) -> None:
    """The first version does not fit, the second is confirmed; the changed call runs."""
    mailer = Mailer()
    at = await asked(mailer, text="hello", copies=1)
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "text = file.read_text()\n"
        "file.write_text(text.replace('1', '\"two\"') if ': 1' in text"
        " else text.replace('\"two\"', '2'))\n"
    )
    at.environment = {"EDITOR": f"{sys.executable} {script}"}

    assert await at.answer("modify", "", "yes") is Outcome.ANSWERED
    assert [mail["copies"] for mail in mailer.sent] == [2]
    assert "/copies must be of type integer" in at.screen
    assert "- /copies: 1" in at.screen
    assert "+ /copies: 2" in at.screen


async def test_an_edit_that_is_not_confirmed_changes_nothing() -> None:
    """Without an editor the changed input is typed; only yes approves it."""
    mailer = Mailer()
    at = await asked(mailer)
    at.environment = {"EDITOR": ""}

    changed = 'modify {"to": "Lee"}'
    assert await at.answer(changed, "", "later") is Outcome.LATER
    assert mailer.sent == []
    assert await at.answer(changed, "yes") is Outcome.ANSWERED
    assert [mail["to"] for mail in mailer.sent] == ["Lee"]


async def test_an_editor_never_sees_a_secret_and_keeps_it(tmp_path: Path) -> None:
    """A placeholder stands for it; what is left alone keeps its value."""
    mailer, secret = Mailer(), "hunter" + "2" * 8
    at = await asked(mailer, password=secret)
    seen = tmp_path / "seen"
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        f"pathlib.Path({str(seen)!r}).write_text(file.read_text())\n"
        "file.write_text(file.read_text().replace('Kim', 'Lee'))\n"
    )
    at.environment = {"EDITOR": f"{sys.executable} {script}"}

    assert await at.answer("modify", "yes") is Outcome.ANSWERED
    assert [(mail["to"], mail["password"]) for mail in mailer.sent] == [("Lee", secret)]
    assert secret not in seen.read_text()
    assert secret not in at.screen


async def test_a_changed_secret_is_masked_in_the_difference() -> None:
    """Old and new one: what is confirmed is that it changed."""
    mailer, old, new = Mailer(), "kX9" + "vQ2mZ7wq", "pL4" + "rT8yB1ne"
    at = await asked(mailer, password=old)

    changed = json.dumps({"to": "Kim", "password": new})
    assert await at.answer(f"modify {changed}", "yes") is Outcome.ANSWERED
    assert mailer.sent[0]["password"] == new
    assert "+ /password [has masked secrets]: <secret" in at.screen
    assert old not in at.screen
    assert new not in at.screen


async def test_a_program_names_the_call_it_answers() -> None:
    """An answer to another call or tool never decides this one."""
    mailer = Mailer()
    at = await asked(mailer)
    code = (await at.office.asked()).digest[:8]
    other = "f" * 8 if code != "f" * 8 else "e" * 8

    outcome = await at.answer(
        json.dumps({"answer": "approve", "call": other}),
        json.dumps({"answer": "approve", "tool": "Bash"}),
        json.dumps({"answer": "reject", "call": code}),
        typed=False,
    )

    assert outcome is Outcome.ANSWERED
    assert mailer.sent == []
    assert "Rejected. It will not run." in at.screen


async def test_always_accepts_only_what_is_named() -> None:
    """`always` lists; a number accepts; the call itself still waits."""
    mailer = Mailer()
    at = await asked(mailer)

    assert await at.answer("always", "always 9", "always 1", "later") is Outcome.LATER
    assert mailer.sent == []
    assert "None is chosen for you." in at.screen
    assert "There are 1 rules to choose from." in at.screen
    (entry,) = await at.office.preferences.allowlist("rita")
    assert entry.rule.tool_name == "mail"
    assert (await at.office.asked()).state is CallState.OPEN


async def test_who_asked_and_who_is_no_approver_is_refused() -> None:
    """The gateway says so; the call stays open."""
    mailer = Mailer()
    at = await asked(mailer)
    at.person = REQUESTER

    assert await at.answer("a", "later") is Outcome.LATER
    assert "somebody else has to decide" in at.screen
    assert mailer.sent == []


async def test_a_call_that_somebody_else_decided_is_not_asked_on() -> None:
    """The second one is told who was first."""
    mailer = Mailer()
    at = await asked(mailer)
    other = Desk(at.office, BO)

    await other.answer("a")
    with pytest.raises(ValueError, match="unpack"):
        await at.office.asked()

    assert len(mailer.sent) == 1
