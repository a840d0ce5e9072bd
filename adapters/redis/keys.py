"""Every key of the store. All keys of a partition share its hash tag, so each transition is one
script on one node, in a cluster as well."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

PREFIX = "keyturn"
META = f"{PREFIX}:meta"
POSTERS = "post"
"""Consumer group of the outbox."""
WORKERS = "work"
"""Consumer group of the wake-ups."""


def short_hash(text: bytes) -> str:
    """A name for a text that may be long or secret: 128 bits."""
    return urlsafe_b64encode(sha256(text).digest()[:16]).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one partition."""

    partition: int

    @property
    def prefix(self) -> str:
        """How every key of the partition begins."""
        return f"{PREFIX}:{{{self.partition:02x}}}:"

    def _key(self, name: str) -> str:
        return self.prefix + name

    @property
    def clock(self) -> str:
        """Hash: `last` time handed out; `fixed` in tests only, refused at start."""
        return self._key("clock")

    @property
    def policy(self) -> str:
        """String: the policy revision in force."""
        return self._key("policy")

    @property
    def mark(self) -> str:
        """String: written before replicas are asked, so that a repeated request is waited for."""
        return self._key("mark")

    @property
    def due(self) -> str:
        """Sorted set: timers by due time."""
        return self._key("due")

    @property
    def outbox(self) -> str:
        """Stream: what posters shall show."""
        return self._key("out")

    @property
    def wake(self) -> str:
        """Stream: ids of replies that became ready."""
        return self._key("wake")

    @property
    def audit(self) -> str:
        """Stream: every transition of the partition."""
        return self._key("audit")

    @property
    def asked(self) -> str:
        """Sorted set: open questions, tasks and unknown runs by the time of asking."""
        return self._key("asked")

    def reply(self, reply_id: str) -> str:
        """Hash: a reply, its calls, its sealed contents, answers kept under the op of a request."""
        return self._key(f"reply:{reply_id}")

    def history(self, reply_id: str) -> str:
        """List: which entries of the audit stream are about one reply."""
        return self._key(f"history:{reply_id}")

    def event(self, tenant: str, op: str) -> str:
        """String: the answer to an accepted event."""
        return self._key(f"event:{short_hash(f'{len(tenant)}:{tenant}{op}'.encode())}")

    def session(self, session_id: str) -> str:
        """Hash: a session's tenant, active reply and sealed agent state."""
        return self._key(f"session:{session_id}")

    def queue(self, session_id: str) -> str:
        """List: ids of the replies that wait in a session."""
        return self._key(f"queue:{session_id}")

    def person(self, tenant: str, person: str) -> str:
        """Hash: a person's auto-run mode and sealed allowlist entries."""
        return self._key(f"person:{sha256(f'{len(tenant)}:{tenant}{person}'.encode()).hexdigest()}")

    def for_script(self, reply_id: str, session_id: str, following: str = "") -> list[str]:
        """Keys in the order in which scripts/prelude.lua names them."""
        shared, prefix = _shared(self.partition)
        return [
            *shared,
            f"{prefix}reply:{reply_id}",
            f"{prefix}history:{reply_id}",
            f"{prefix}session:{session_id}",
            f"{prefix}queue:{session_id}",
            f"{prefix}reply:{following or reply_id}",
        ]


@cache
def _shared(partition: int) -> tuple[tuple[str, ...], str]:
    """The keys that every script of a partition has, and how all of its keys begin."""
    keys = Keys(partition)
    names = (keys.clock, keys.policy, keys.due, keys.outbox, keys.wake, keys.audit, keys.asked)
    return names, keys.prefix


def keys_of(reply_id: str) -> Keys | None:
    """The keys of a reply's partition, or None for what can't be a reply's id."""
    try:
        return Keys(int(reply_id[:2], 16)) if len(reply_id) >= 46 else None
    except ValueError:
        return None
