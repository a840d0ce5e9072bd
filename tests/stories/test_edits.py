"""Changing a call: who, what may be changed, and what is bound afterwards."""

import json
from pathlib import Path

import pytest

from adapters.models.scripted import Call, Say
from adapters.workspace.bash import Bash
from adapters.workspace.confined import Confined
from adapters.workspace.directory import Directory
from adapters.workspace.sandbox import Sandbox
from adapters.workspace.write import Write
from core.calls import CallState, DecisionKind
from core.functions import tool
from core.permissions.bash import BashPermissions
from core.permissions.files import WritePermissions
from core.permissions.paths import DiskPaths
from core.permissions.rules import PermissionBehavior, PermissionRule
from core.policy import Gate, Gates, OperatorRule, Policy
from core.tools import Tool
from tests.stories.office import ANA, BO, REQUESTER, OpenOffice, standard_policy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def tools(root: Path) -> list[Tool]:
    directory, paths = Directory(root), DiskPaths(cwd=str(root), home=str(root))
    return [
        Bash(directory, BashPermissions("Bash", paths), Sandbox("none")),
        Write(directory, Confined(WritePermissions("Write", paths), root)),
    ]


MAKE = Call("Bash", '{"command": "mkdir old"}', "c1")
NOTE = Call("Write", '{"file_path": "note.txt", "content": "x"}', "c1")


async def test_an_edit_has_its_own_digest_and_its_editor(
    open_office: OpenOffice, tools: list[Tool]
) -> None:
    """Who modified is on record, and what was approved is the changed input, newly bound."""
    office = open_office([[MAKE], [Say("Done.")]], tools)
    reply_id = await office.ask()
    before = await office.asked()

    await office.modify(before, '{"command":  "mkdir old"}')

    (after,) = (await office.reply(reply_id)).calls
    assert after.state is CallState.DONE
    assert after.digest != before.digest
    assert after.decision is not None
    assert (after.decision.kind, after.decision.actor.id) == (DecisionKind.MODIFY, "ana")


async def test_deny_rules_are_asked_again_about_an_edit(
    open_office: OpenOffice, tools: list[Tool], root: Path
) -> None:
    """An approver can't edit a call into one that the operator denies."""
    deny = PermissionRule(
        tool_name="Bash",
        rule_content="rm:*",
        behavior=PermissionBehavior.DENY,
        source="operator",
    )
    policy = Policy(standard_policy().gates, (OperatorRule(deny),), revision=1)
    office = open_office([[MAKE]], tools, policy)
    await office.ask()
    (root / "keep").write_text("x")

    said = await office.modify(await office.asked(), '{"command": "rm keep"}')

    assert "not permitted" in said
    assert "rm" in said
    assert (root / "keep").exists()
    assert (await office.asked()).state is CallState.OPEN


async def test_an_edit_can_not_lead_outside_the_workspace(
    open_office: OpenOffice, tools: list[Tool], root: Path
) -> None:
    """The tool's own limits hold for people too."""
    office = open_office([[NOTE]], tools)
    await office.ask()
    outside = json.dumps({"file_path": "../outside.txt", "content": "x"})

    said = await office.modify(await office.asked(), outside)

    assert "outside the workspace" in said
    assert not (root.parent / "outside.txt").exists()


async def test_an_edit_that_raises_the_risk_needs_a_second_person(
    open_office: OpenOffice, tools: list[Tool], root: Path
) -> None:
    """Its editor's approval is one; another person's is the other."""
    gates = Gates(
        Gate("default", "sre"), (Gate("removals", "sre", matches=("Bash(rmdir:*)",), risk="high"),)
    )
    office = open_office([[MAKE], [Say("Done.")]], tools, Policy(gates, revision=1))
    reply_id = await office.ask()
    (root / "old").mkdir()

    said = await office.modify(await office.asked(), '{"command": "rmdir old"}', ANA)
    assert said == "Your approval is recorded (1 of 2)."
    assert await office.approve(await office.asked(), ANA) == "Your approval is already recorded."
    assert (root / "old").exists()
    await office.approve(await office.asked(), BO)

    assert not (root / "old").exists()
    assert await office.states(reply_id) == [CallState.DONE]


async def test_who_may_not_approve_may_not_edit(open_office: OpenOffice, tools: list[Tool]) -> None:
    """Rita asked for it."""
    office = open_office([[MAKE]], tools)
    await office.ask()

    said = await office.modify(await office.asked(), '{"command": "ls"}', REQUESTER)

    assert said == "You asked for this, so somebody else has to decide."


async def test_an_edit_of_an_older_form_is_refused(
    open_office: OpenOffice, tools: list[Tool]
) -> None:
    """Two people edit at once: the second is told to look again."""
    office = open_office([[MAKE], [Say("Done.")]], tools, standard_policy(quorum=2))
    await office.ask()
    seen_by_both = await office.asked()

    await office.modify(seen_by_both, '{"command": "mkdir one"}', ANA)
    said = await office.modify(seen_by_both, '{"command": "mkdir two"}', BO)

    assert "changed" in said
    assert json.loads((await office.asked()).input) == {"command": "mkdir one"}


async def test_a_script_that_changed_after_the_approval_does_not_run(
    open_office: OpenOffice, tools: list[Tool], root: Path
) -> None:
    """What people looked at is what runs, or nothing."""
    script = root / "deploy.sh"
    script.write_text("#!/bin/sh\ntouch deployed\n")
    script.chmod(0o755)
    office = open_office([[Call("Bash", '{"command": "./deploy.sh"}', "c1")], [Say("Hm.")]], tools)
    reply_id = await office.ask()
    call = await office.asked()

    script.write_text("#!/bin/sh\ntouch owned\n")
    await office.approve(call)

    assert await office.states(reply_id) == [CallState.DENIED]
    assert not (root / "owned").exists()
    assert not (root / "deployed").exists()


async def test_the_card_shows_what_else_is_bound(
    open_office: OpenOffice, tools: list[Tool], root: Path
) -> None:
    """The real directory and the program that was found."""
    office = open_office([[MAKE]], tools)
    await office.ask()

    context = {row.label: row.shown.text for row in office.card().context}

    assert context["directory"] == str(root)
    assert "mkdir is /" in context["programs"]


async def test_an_edit_can_not_name_another_tool(open_office: OpenOffice) -> None:
    """An edit is an input; the tool stays the one that was asked for."""
    ran: list[str] = []

    @tool()
    def act(x: str) -> str:
        """Do something.

        Args:
            x: what.
        """
        ran.append(x)
        return x

    office = open_office([[Call("act", '{"x": "a"}', "c1")]], [act])
    await office.ask()

    said = await office.modify(await office.asked(), '{"tool": "Bash", "x": "a"}')

    assert "tool" in said
    assert ran == []
