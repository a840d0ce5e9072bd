"""Preferences in memory, for tests and as the measure of the Redis ones."""

from dataclasses import dataclass, field

from core.permissions.rules import AutoRunMode
from core.ports import Allowed, Clock


@dataclass(slots=True)
class MemoryPreferences:
    """Modes and allowlists that last as long as the process."""

    clock: Clock
    _modes: dict[str, AutoRunMode] = field(default_factory=dict[str, AutoRunMode])
    _lists: dict[str, dict[tuple[str, str], Allowed]] = field(
        default_factory=dict[str, dict[tuple[str, str], Allowed]]
    )

    async def mode(self, person: str) -> AutoRunMode:
        """The person's auto-run mode."""
        return self._modes.get(person, AutoRunMode.USE_ALLOWLIST)

    async def set_mode(self, person: str, mode: AutoRunMode) -> None:
        """Choose a mode."""
        self._modes[person] = mode

    async def allowlist(self, person: str) -> tuple[Allowed, ...]:
        """The person's entries that hold now, oldest first."""
        now = self.clock.now().timestamp() * 1000
        entries = self._lists.get(person, {}).values()
        held = [one for one in entries if one.expires_at is None or one.expires_at > now]
        return tuple(sorted(held, key=lambda one: one.added_at))

    async def allow(self, person: str, entry: Allowed) -> bool:
        """Add or renew an entry."""
        mine = self._lists.setdefault(person, {})
        name = (entry.rule.tool_name, entry.rule.rule_content or "")
        is_new = name not in mine
        mine[name] = entry
        return is_new

    async def disallow(self, person: str, tool_name: str, content: str | None) -> bool:
        """Remove an entry."""
        return self._lists.get(person, {}).pop((tool_name, content or ""), None) is not None
