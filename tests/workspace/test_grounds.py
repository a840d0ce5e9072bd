"""What is bound beside the input of a call in the workspace."""

from pathlib import Path

from adapters.workspace.bash import Bash
from adapters.workspace.directory import Directory
from adapters.workspace.edit import Edit
from adapters.workspace.sandbox import Sandbox
from adapters.workspace.write import Write
from tests.workspace.calls import Nobody


def bash(directory: Directory) -> Bash:
    return Bash(directory, Nobody(), Sandbox("none"))


def test_a_command_is_bound_to_the_real_directory(root: Path, tmp_path: Path) -> None:
    """A workspace that is reached through a link is named by where it really is."""
    (tmp_path / "alias").symlink_to(root)

    context = bash(Directory(tmp_path / "alias")).context({"command": "ls"})

    assert context["directory"] == str(root)


def test_a_command_is_bound_to_the_programs_it_finds(directory: Directory) -> None:
    """By their real place; what the shell does itself has none."""
    context = bash(directory).context({"command": "cd sub && cat notes | head -3"})

    assert "cat is /" in context["programs"]
    assert "head is /" in context["programs"]


def test_a_changed_script_is_another_ground(directory: Directory, root: Path) -> None:
    """A script is bound with its content: what people looked at is what runs."""
    (root / "deploy.sh").write_text("echo one")
    before = bash(directory).context({"command": "./deploy.sh"})
    assert bash(directory).context({"command": "./deploy.sh"}) == before

    (root / "deploy.sh").write_text("echo two")

    assert bash(directory).context({"command": "./deploy.sh"}) != before


def test_a_file_tool_is_bound_to_where_its_path_leads(directory: Directory, root: Path) -> None:
    """A link that is turned after the question is another ground."""
    (root / "a").mkdir()
    (root / "b").mkdir()
    (root / "now").symlink_to("a")
    value = {"file_path": "now/x", "content": "", "old_string": "a", "new_string": "b"}
    tools = (Write(directory, Nobody()), Edit(directory, Nobody()))
    before = [tool.context(value) for tool in tools]
    assert before == [{"file": str(root / "a" / "x")}] * 2

    (root / "now").unlink()
    (root / "now").symlink_to("b")

    assert [tool.context(value) for tool in tools] != before


def test_what_can_not_be_read_still_has_a_ground(directory: Directory) -> None:
    """Nothing raises: the input may be anything."""
    for command in ("", "./missing", "a\0b", "x" * 200_000, "'"):
        assert bash(directory).context({"command": command})
    assert Write(directory, Nobody()).context({"file_path": "a\0b"})
