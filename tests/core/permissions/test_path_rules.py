"""Rules over paths: where a path really leads."""

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RuleRefused
from core.permissions.files import ReadPermissions, WritePermissions
from core.permissions.path_rules import check_path_rule
from core.permissions.paths import DiskPaths
from core.permissions.search import SearchPermissions
from core.permissions.wildcards import WildcardIndex
from tests.core.permissions.samples import PATHS, rule


@pytest.fixture
def tree(tmp_path: Path) -> DiskPaths:
    """cwd with a link out of it, and a link into it from outside."""
    root = Path(os.path.realpath(tmp_path))
    for name in ("cwd", "cwd/src", "home", "secret"):
        (root / name).mkdir()
    (root / "cwd" / "out").symlink_to(root / "secret")
    (root / "alias").symlink_to(root / "cwd")
    return DiskPaths(cwd=str(root / "cwd"), home=str(root / "home"))


def covers(paths: DiskPaths, behavior: str, pattern: str, path: object) -> bool:
    """Whether one rule for Write covers one path; `ROOT` stands for the tree's root."""
    root = os.path.dirname(paths.cwd)  # noqa: PTH120 - text, not a file
    rules = [rule(behavior, "Write", pattern.replace("ROOT", root))]
    named = path.replace("ROOT", root) if isinstance(path, str) else path
    return WritePermissions("Write", paths).index(rules).find({"file_path": named}) is not None


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/**", "src/a/b.py"),
        ("./src/**", "./src/a"),
        ("ROOT/cwd/**", "ROOT/cwd/src/x"),
        ("ROOT/alias/**", "ROOT/alias/x"),
        ("~/notes/*", "~/notes/x"),
        ("*.py", "src/a.py"),
        ("?.py", "a.py"),
        ("a[[]1].txt", "a[1].txt"),
    ],
)
def test_an_allow_rule_covers_what_it_says(tree: DiskPaths, pattern: str, path: str) -> None:
    """As written and where it leads."""
    assert covers(tree, "allow", pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("ROOT/cwd/**", "ROOT/cwd/../secret/x"),
        ("ROOT/cwd/**", "ROOT/cwd/out/x"),
        ("src/**", "src/../../secret/x"),
        ("src/**", "ROOT/cwd/src/x"),
        ("SRC/**", "src/x"),
        ("**", ""),
        ("**", 5),
    ],
)
def test_an_allow_rule_covers_no_more(tree: DiskPaths, pattern: str, path: object) -> None:
    """Not by `..`, not by a link, not in another spelling than the rule's."""
    assert not covers(tree, "allow", pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("ROOT/secret/**", "ROOT/cwd/../secret/x"),
        ("ROOT/secret/**", "out/x"),
        ("ROOT/secret/**", "ROOT/SECRET/x"),
        ("ROOT/alias/**", "src/x"),
        ("src/**", "ROOT/alias/src/x"),
        ("out", "ROOT/secret"),
        ("*.env", "prod.ENV"),
        ("**", 5),
    ],
)
def test_a_deny_rule_covers_every_spelling(tree: DiskPaths, pattern: str, path: object) -> None:
    """And everything if the path can't be read."""
    assert covers(tree, "deny", pattern, path)


letters = st.text(st.sampled_from("aB/.*?[]!-~"), max_size=8)


@given(letters, letters.filter(bool))
def test_a_deny_rule_never_covers_less_than_the_pattern_as_written(pattern: str, path: str) -> None:
    """Whatever else it sees."""
    index = WritePermissions("Write", PATHS).index([rule("deny", "Write", pattern)])

    if pattern and fnmatchcase(path, pattern):
        assert index.find({"file_path": path}) is not None


@given(letters, letters.filter(bool))
def test_an_allow_rule_never_covers_more_than_the_pattern_as_written(
    pattern: str, path: str
) -> None:
    """Whatever else it asks for."""
    index = WritePermissions("Write", PATHS).index([rule("allow", "Write", pattern)])

    if index.find({"file_path": path}) is not None:
        assert fnmatchcase(path, pattern)


@given(st.lists(letters, max_size=10), letters)
def test_an_index_of_wildcards_finds_what_each_alone_finds(patterns: list[str], text: str) -> None:
    """Filing patterns by what they ask for loses none."""
    found = set(WildcardIndex(patterns).find(text))

    assert found == {at for at, pattern in enumerate(patterns) if fnmatchcase(text, pattern)}


@pytest.mark.parametrize("pattern", ["a/../b", "src/", "//a", "a\nb", "a\0", "[ab"])
def test_a_pattern_that_can_never_match_is_refused(pattern: str) -> None:
    """With what to write instead."""
    with pytest.raises(RuleRefused) as refused:
        check_path_rule(rule("allow", "Write", pattern))

    assert refused.value.remedy


@pytest.mark.parametrize(
    ("path", "offer"),
    [
        ("/srv/work/src/a.py", ["/srv/work/src/**"]),
        ("src/a.py", ["src/**"]),
        ("/srv/a[b]/c", ["/srv/a[[]b]/**"]),
        ("a.py", ["a.py"]),
        ("~/x", ["~/x"]),
        ("/etc/passwd", ["/etc/passwd"]),
        ("src/../x", []),
        (".env", []),
        ("", []),
        ("/", []),
    ],
)
def test_what_is_offered_beside_a_write(path: str, offer: list[str]) -> None:
    """The directory, or the file where the directory is too wide; nothing for what asks anyway."""
    offered = WritePermissions("Write", PATHS).suggest({"file_path": path})

    assert [each.rule_content for each in offered] == offer


@pytest.mark.parametrize(
    ("path", "reads"),
    [
        ("src/a.py", True),
        (".env", False),
        (".env.example", True),
        ("x/.ENV.local", False),
        ("~/.ssh/id_ed25519", False),
        (None, False),
    ],
)
def test_reading_secrets_is_not_just_reading(path: str | None, reads: bool) -> None:
    """They would go to the model unasked."""
    assert ReadPermissions("Read", PATHS).check_read_only({"file_path": path}) is reads


@pytest.mark.parametrize(
    "value",
    [
        {"pattern": "x", "path": "/srv/secret"},
        {"pattern": "x", "path": "/srv/secret/"},
        {"pattern": "x", "path": "/srv/work/../secret/a"},
    ],
)
def test_a_search_of_a_denied_directory_is_denied(value: dict[str, str]) -> None:
    """However the directory is written."""
    index = SearchPermissions("Grep", PATHS, "contents").index(
        [rule("deny", "Grep", "/srv/secret/**")]
    )

    assert index.find(value) is not None
