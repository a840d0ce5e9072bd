"""Rule strings checked by the tool that they are about, before any tool is opened."""

from collections.abc import Mapping

from bot.settings.checks import MCP_PREFIX
from bot.settings.meaning import profiles_of
from bot.settings.model import Settings
from core.permissions.bash import BashPermissions
from core.permissions.external import ExternalPermissions
from core.permissions.files import ReadPermissions, WritePermissions
from core.permissions.functions import FunctionPermissions
from core.permissions.paths import DiskPaths
from core.permissions.rules import PermissionRule
from core.permissions.search import SearchPermissions
from core.tools import ToolPermissions

# A rule is checked by its form only, so no real place is needed.
_PATHS = DiskPaths(cwd="/", home="/")

_BUILT_IN: Mapping[str, ToolPermissions] = {
    "Read": ReadPermissions("Read", _PATHS),
    "Write": WritePermissions("Write", _PATHS),
    "Edit": WritePermissions("Edit", _PATHS),
    "Glob": SearchPermissions("Glob", _PATHS, "names"),
    "Grep": SearchPermissions("Grep", _PATHS, "contents"),
}


def check_tool_rule(rule: PermissionRule, settings: Settings) -> None:
    """Refuse a rule that its tool can't use.

    Raises:
        RuleRefused: says what to write instead.
    """
    name = rule.tool_name
    if name == "Bash":
        BashPermissions(name, _PATHS, profiles_of(settings)).check_rule(rule)
    elif name in _BUILT_IN:
        _BUILT_IN[name].check_rule(rule)
    elif name.startswith(MCP_PREFIX):
        FunctionPermissions(name).check_rule(rule)
    elif "*" not in name:
        ExternalPermissions(name).check_rule(rule)
