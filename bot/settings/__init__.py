"""`keyturn.toml` → frozen `Settings`: validated whole, every mistake reported at once."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.settings.checks import RuleCheck, mistakes, tool_names
from bot.settings.lines import lines_of
from bot.settings.mistakes import Mistake, from_pydantic, refusal
from bot.settings.model import (
    Agent,
    Approvers,
    Gate,
    ListedGate,
    McpServer,
    Person,
    Rule,
    Settings,
    Task,
    ToolWords,
)
from bot.settings.remains import without
from core.errors import InvalidSettings

__all__ = [
    "Agent",
    "Approvers",
    "Gate",
    "ListedGate",
    "McpServer",
    "Person",
    "Rule",
    "RuleCheck",
    "Settings",
    "Task",
    "ToolWords",
    "parse_settings",
    "read_settings",
    "tool_names",
]

MAX_FILE_BYTES = 1024 * 1024


def read_settings(file: Path, check_rule: RuleCheck | None = None) -> Settings:
    """The settings in `file`. Relative paths in it are relative to its directory.

    Raises:
        InvalidSettings: the file can't be read, or something in it is wrong; names every mistake
            with its line and the remedy.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidSettings(
            f"{file}: {error.strerror}.\n    Write one, or name another with --config FILE;"
            " `keyturn demo` needs none."
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise InvalidSettings(f"{file}: has more than {MAX_FILE_BYTES} bytes.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidSettings(f"{file}:{line}: is not valid UTF-8.") from None
    return _anchored(parse_settings(text, str(file), check_rule), file.resolve().parent)


def parse_settings(text: str, file: str, check_rule: RuleCheck | None = None) -> Settings:
    """The settings that `text` says; `file` names it in messages.

    Raises:
        InvalidSettings: names every mistake.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        named = re.search(r"line (\d+)", str(error))
        line = named.group(1) if named else text.rstrip().count("\n") + 1
        raise InvalidSettings(
            f"{file}:{line}: is not TOML: {error}. Nothing was started."
        ) from None
    settings, found = _examined(data, check_rule)
    if settings is None or found:
        raise refusal(file, lines_of(text.replace("\r\n", "\n")), found)
    return settings


def _examined(
    data: dict[str, Any], check_rule: RuleCheck | None
) -> tuple[Settings | None, list[Mistake]]:
    """The settings, if they have the right shape, and everything that is wrong."""
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        return None, _with_the_rest(data, from_pydantic(error, Settings), check_rule)
    return settings, mistakes(settings, check_rule)


def _with_the_rest(
    data: dict[str, Any], found: list[Mistake], check_rule: RuleCheck | None
) -> list[Mistake]:
    """Mistakes of shape, and those of names in what remains when the misshapen is left out."""
    remains = without(
        data, [m.path for m in found if not m.unknown_key], [m.path for m in found if m.unknown_key]
    )
    try:
        settings = Settings.model_validate(remains.data)
    except ValidationError:
        return found
    rest = [m for m in mistakes(settings, check_rule) if not remains.misled(m.path)]
    return [*found, *(replace(m, path=remains.original(m.path)) for m in rest)]


def _anchored(settings: Settings, folder: Path) -> Settings:
    agents = {name: _agent_anchored(agent, folder) for name, agent in settings.agents.items()}
    local = settings.local.model_copy(update={"data": folder / settings.local.data})
    return settings.model_copy(update={"agents": agents, "local": local})


def _agent_anchored(agent: Agent, folder: Path) -> Agent:
    paths = {
        key: folder / value
        for key, value in (("workspace", agent.workspace), ("api_key_file", agent.api_key_file))
        if value is not None
    }
    readable = tuple(folder / path for path in agent.read_only)
    return agent.model_copy(update={**paths, "read_only": readable})
