"""The shape of the repository, checked without any third-party tool."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "core", "adapters")
INWARD = {"core": set[str](), "adapters": {"core"}, "bot": {"core", "adapters"}}
CORE_LIBRARIES = {"pydantic", "jsonschema", "referencing", "rfc8785", "griffe"}
SHELL_LIBRARIES = {"tree_sitter", "tree_sitter_bash"}
PLATFORM_FILES = {"listener.py", "payloads.py", "cards.py", "channel.py"}
PLATFORMS = ("terminal", "slack", "discord")
PURE = (
    "messages",
    "events",
    "errors",
    "state",
    "calls",
    "digest",
    "inputs",
    "text",
    "cards",
    "policy",
)
MODULE_LINES = 400


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """Dotted names of everything `file` imports, in functions too."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_inward(package: str) -> None:
    """bot may import adapters and core; adapters only core; core neither."""
    outside = set(PACKAGES) - INWARD[package] - {package}

    for file in modules(package):
        assert not {name.split(".")[0] for name in imported(file)} & outside, file


def test_core_imports_only_the_libraries_it_may() -> None:
    """The standard library and a handful of pure ones; the parser stays inside the shell rules."""
    import sys

    for file in modules("core"):
        allowed = CORE_LIBRARIES | {"core"} | set(sys.stdlib_module_names)
        if "permissions" in file.parts and "shell" in str(file):
            allowed |= SHELL_LIBRARIES
        assert {name.split(".")[0] for name in imported(file)} <= allowed, file


def test_adapters_do_not_know_each_other() -> None:
    """An adapter imports the core and its own library."""
    for file in modules("adapters"):
        own = file.relative_to(ROOT / "adapters").parts[0]
        others = {name for name in imported(file) if name.startswith("adapters.")}
        assert all(name.split(".")[1] == own for name in others), file


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_has_the_same_four_files(platform: str) -> None:
    """Whoever knows one platform finds everything in the next."""
    folder = ROOT / "adapters" / platform
    if not folder.exists():
        return  # not built yet: nothing that could have another shape

    assert {file.name for file in folder.glob("*.py")} >= PLATFORM_FILES


@pytest.mark.parametrize("folder", sorted({file.parent for file in ROOT.glob("tests/**/*.py")}))
def test_every_test_folder_is_a_package(folder: Path) -> None:
    """Without tests/__init__.py, tests/core would be imported as `core` and hide the real one."""
    assert (folder / "__init__.py").exists()


@pytest.mark.parametrize("name", PURE)
def test_what_decides_holds_no_coroutine(name: str) -> None:
    """A pure file can be tested without a loop, a clock or a store."""
    package = ROOT / "core" / name
    files = sorted(package.rglob("*.py")) if package.is_dir() else [package.with_suffix(".py")]

    assert not [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.AsyncFunctionDef)
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_stay_readable(package: str) -> None:
    """A module that outgrows this hides a noun that wants a file of its own."""
    for file in modules(package):
        assert len(file.read_text().splitlines()) <= MODULE_LINES, file
