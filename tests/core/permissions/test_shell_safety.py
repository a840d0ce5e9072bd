"""Some commands always ask; some edits are accepted; some commands only read."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.permissions import profiles
from core.permissions.paths import DiskPaths
from core.permissions.shell.readonly import is_read_only
from core.permissions.shell.safety import edits_inside, safety_reason
from core.permissions.shell.sed import sed_reason

CASES = Path(__file__).parents[2] / "cases"
PERMISSION_ROWS: list[dict[str, Any]] = [
    row
    for row in map(json.loads, (CASES / "reference_permission.jsonl").read_text().splitlines())
    if row["group"].startswith("bash")
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The directories that the recorded commands name, with the same symbolic links."""
    for name in ("home", "cwd", "proj/d", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home/.bashrc").touch()
    (tmp_path / "proj/innocent.txt").symlink_to(tmp_path / "home/.bashrc")
    (tmp_path / "proj/escape").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "alias").symlink_to(tmp_path / "proj")
    return tmp_path


@pytest.fixture
def paths(place: Path) -> DiskPaths:
    """Seen from the working directory of the recorded commands."""
    return DiskPaths(str(place / "cwd"), str(place / "home"))


def test_whatever_the_reference_always_asks_about_asks(place: Path, paths: DiskPaths) -> None:
    """Every recorded ask that no rule could silence."""
    for row in PERMISSION_ROWS:
        if row["expect"]["bypass_immune"]:
            command = row["input"]["command"].replace("/srv/ref", str(place))
            assert safety_reason(command, paths), row["id"]


@pytest.mark.parametrize(
    "command",
    [
        *("rm -fr x", "rm -r -f x", "rm --recursive --force x", "/bin/rm -r -f x", "'rm' '-rf' x"),
        *("sudo rm x", "env rm -fr x", "sh -c 'rm -rf x'", "chmod 0777 f", "chmod a+rwx f"),
        *(
            "chown --recursive u d",
            "kill -KILL 1",
            "ls >/dev/sda",
            "dd if=a of=b",
            "rm ~",
            "rm /usr",
        ),
        *('rm ".env"', "echo x > '.env'", "cat a | tee .env", "touch a/.git/x", "mv a ~/.bashrc"),
        *(
            "cp -t .git a",
            "dd of=.env",
            "sed -i.bak 's/a/b/' f",
            "sed 's/a/b/e' f",
            "sed -n '1e id' f",
        ),
        *(
            "sed -f x f",
            "sed 's/a/b/;e' f",
            "ls $(id)",
            "ls `id`",
            "(ls)",
            "for i in a; do ls; done",
        ),
        *("ls ${x@P}", "ls 'unterminated", "rm x/*", "rm ./*", "echo ok; rm -fr x", "a|" * 3000),
    ],
)
def test_dangers_ask_however_they_are_written(command: str, paths: DiskPaths) -> None:
    """Quotes, flags in another order and wrappers hide nothing."""
    assert safety_reason(command, paths)


@pytest.mark.parametrize(
    "command",
    [
        *("", "ls", "rm x", "rm -r build", "git push", "ls 2>/dev/null", "ls $x", "npm run build"),
        *("sed -n '1,5p' f", "sed -i 's/a/b/g' f", "sed -e 's|a|b|' -e 's#a#b#2' f", "chmod 644 f"),
        *(
            "echo '$(id)'",
            "grep 'a(b)' f",
            "cat .env",
            "kill 1",
            "ls && pwd | wc -l",
            "touch a.txt",
        ),
    ],
)
def test_ordinary_commands_are_left_to_rules_and_modes(command: str, paths: DiskPaths) -> None:
    """Asking too often trains people to press Approve."""
    assert safety_reason(command, paths) is None


@pytest.mark.parametrize(
    "script", ["s/a/b/w f", "s/a/b/e", "1d", "{p}", "s/a{2}/b/", "!p", "#n", "s,a,b,"]
)
def test_sed_scripts_are_known_or_asked(script: str) -> None:
    """Only printing lines and replacing text."""
    assert sed_reason(["-n", script, "f"])


def _accepted(command: str, place: Path, paths: DiskPaths) -> bool:
    inside = [paths.real(str(place / "proj"))]
    return edits_inside(command.replace("P/", f"{place}/proj/"), inside, paths)


@pytest.mark.parametrize(
    "command",
    [
        *("touch P/n", "mkdir -p P/d/e", "rm P/a", "rmdir P/d", "mv P/a P/b", "cp -p P/a P/b"),
        *("sed -i 's/x/y/g' P/f", "mkdir P/e && touch P/e/a 'P/e/b'", "touch P/d/../n"),
    ],
)
def test_plain_edits_inside_are_accepted(command: str, place: Path, paths: DiskPaths) -> None:
    """Every part an edit, every path inside."""
    assert _accepted(command, place, paths)


@pytest.mark.parametrize(
    "command",
    [
        *("touch /etc/x", "touch P/../elsewhere/x", "touch P/escape/x", "cp /etc/hosts P/x"),
        *("touch P/n; curl x", "touch P/n\ncurl x", "touch P/n & curl x", "mkdir P/d && npm i"),
        *("touch $X P/n", 'touch "$X" P/n', 'touch "P/n"', "touch P/n > P/log", "X=1 touch P/n"),
        *(
            "touch P/.env",
            "rm P/innocent.txt",
            "rm -rf P/d",
            "rm P/*",
            "touch P/a*",
            "sudo touch P/n",
        ),
        *(
            "cp -t /tmp P/a",
            "cp -r P/d P/e",
            "touch -r /etc/hosts P/n",
            "touch",
            "ls P/",
            "mkdir -m 777 P/d",
        ),
        *("cp P/a P/link", "sed -i '1d' P/f", "sed -n 's/a/b/w f' P/f"),
    ],
)
def test_anything_else_is_no_plain_edit(command: str, place: Path, paths: DiskPaths) -> None:
    """One part, one path or one option that is not certain is enough."""
    (place / "proj/link").mkdir(exist_ok=True)
    (place / "proj/link/a").unlink(missing_ok=True)
    (place / "proj/link/a").symlink_to("/etc/hosts")

    assert not _accepted(command, place, paths)


def test_reading_is_never_wider_than_the_reference() -> None:
    """Every recorded verdict: what it asks about, we ask about."""
    rows = map(json.loads, (CASES / "reference_readonly.jsonl").read_text().splitlines())
    for row in rows:
        read_only = is_read_only(row["input"].get("command", ""), profiles)
        assert row["read_only"] or not read_only, row


@pytest.mark.parametrize(
    "command",
    ["ls -la", "git status", "git log --oneline -3", "cat README.md | head -n 3", "ls && pwd"],
)
def test_plain_reading_needs_no_question(command: str) -> None:
    """The commands that agents run all day."""
    assert is_read_only(command, profiles)


@pytest.mark.parametrize(
    "command",
    [
        *("rg --pre ./x a", "git diff --ext-diff", "find . '-delete'", "ls & rm x", "ls\nrm x"),
        *(
            "LD_PRELOAD=x ls",
            "cat .env",
            "ls > f",
            "git diff --output=f",
            "ag --pager=./x a",
            "less f",
        ),
        *("ls; npm i", "sort f", "", "git  push", "cat <<E\nE"),
    ],
)
def test_what_only_looks_like_reading_is_asked(command: str) -> None:
    """The reference lets some of these through; we do not."""
    assert not is_read_only(command, profiles)
