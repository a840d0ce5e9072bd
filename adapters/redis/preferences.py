"""Preferences in Redis or Valkey: one hash per person; what rules say is sealed."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from adapters.redis.connection import Connections, store_errors
from adapters.redis.keys import Keys
from adapters.redis.sealing import Place, Sealer
from core.permissions.rules import AutoRunMode, PermissionRule
from core.ports import Allowed, Clock

_MODE = "mode"
_RULE = "rule:"
_PLACE = "preferences"


@dataclass(frozen=True, slots=True)
class RedisPreferences:
    """Modes and allowlists of one tenant's people."""

    connections: Connections
    sealer: Sealer
    clock: Clock
    tenant: str

    async def mode(self, person: str) -> AutoRunMode:
        """The person's auto-run mode; an unreadable one is the strictest."""
        async with store_errors():
            found = await self.connections.commands.hget(self._key(person), _MODE)
        if found is None:
            return AutoRunMode.USE_ALLOWLIST
        known = {mode.value: mode for mode in AutoRunMode}
        return known.get(found.decode(errors="replace"), AutoRunMode.ASK_EVERY_TIME)

    async def set_mode(self, person: str, mode: AutoRunMode) -> None:
        """Choose a mode."""
        async with store_errors():
            await self.connections.commands.hset(self._key(person), _MODE, mode.value)

    async def allowlist(self, person: str) -> tuple[Allowed, ...]:
        """The person's entries that hold now, oldest first."""
        async with store_errors():
            stored = await self.connections.commands.hgetall(self._key(person))
        now = self.clock.now().timestamp() * 1000
        entries = [
            _read(self.sealer.open(blob, self._place(person, name.decode())))
            for name, blob in stored.items()
            if name.startswith(_RULE.encode())
        ]
        held = [one for one in entries if one.expires_at is None or one.expires_at > now]
        return tuple(sorted(held, key=lambda one: one.added_at))

    async def allow(self, person: str, entry: Allowed) -> bool:
        """Add or renew an entry."""
        name = _field(entry.rule.tool_name, entry.rule.rule_content)
        blob = self.sealer.seal(_written(entry), self._place(person, name))
        async with store_errors():
            added = await self.connections.commands.hset(self._key(person), name, blob)
        return bool(added)

    async def disallow(self, person: str, tool_name: str, content: str | None) -> bool:
        """Remove an entry."""
        async with store_errors():
            gone = await self.connections.commands.hdel(
                self._key(person), _field(tool_name, content)
            )
        return bool(gone)

    def _key(self, person: str) -> str:
        return Keys(0).person(self.tenant, person)

    def _place(self, person: str, name: str) -> Place:
        return Place(self.tenant, _PLACE, (person, name))


def _field(tool_name: str, content: str | None) -> str:
    """One name per tool and pattern; hashed, since a pattern may hold what is nobody's business."""
    named = f"{len(tool_name)}:{tool_name}{content or ''}"
    return _RULE + sha256(named.encode()).hexdigest()


def _written(entry: Allowed) -> dict[str, Any]:
    return {
        "rule": entry.rule.model_dump(mode="json"),
        "author": entry.author,
        "reason": entry.reason,
        "added_at": entry.added_at,
        "expires_at": entry.expires_at,
    }


def _read(kept: Mapping[str, Any]) -> Allowed:
    rule = PermissionRule.model_validate(kept["rule"])
    return Allowed(rule, kept["author"], kept["reason"], kept["added_at"], kept["expires_at"])
