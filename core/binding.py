"""What one revision of a call is bound to, and the digest over it.

The same function makes the digest when a call is asked, when it is changed, and once more right
before it starts: whatever moved in between makes another digest, and the call does not run.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from core.digest import Envelope, digest
from core.errors import GroundsUnknown
from core.faults import outline
from core.tools import Input, Tool

_log = logging.getLogger(__name__)

BOUND = "bound"
"""Field of a call's content: the revision whose digest the call bears. The ledger counts revisions
on when it asks the same input again (lapse, unknown run); the input is bound only once."""


@runtime_checkable
class Grounded(Protocol):
    """A tool whose effect depends on more than its input: directory, program, environment."""

    def context(self, value: Input) -> Mapping[str, str]:
        """Facts of this moment that decide about the effect, by name: bound and shown."""
        ...


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds calls of one reply."""

    tenant: str
    reply_id: str
    agent: str
    session: str

    def digest(
        self, tool: Tool, call_id: str, turn: int, revision: int, raw: str, value: Mapping[str, Any]
    ) -> str:
        """The digest of this revision, on the grounds of this moment.

        Raises:
            InvalidInput: the call holds text that is not valid Unicode.
            GroundsUnknown: the tool can't tell what it would run on.
        """
        envelope = Envelope(
            tenant=self.tenant,
            reply_id=self.reply_id,
            call_id=call_id,
            turn=turn,
            revision=revision,
            agent=self.agent,
            session=self.session,
            tool=tool.name,
            input=raw,
            context=grounds(tool, value),
        )
        return digest(envelope)


def grounds(tool: Tool, value: Mapping[str, Any]) -> Mapping[str, str]:
    """What the effect of this call depends on besides its input; empty for most tools.

    Raises:
        GroundsUnknown: the tool can't tell now.
    """
    try:
        return tool.context(value) if isinstance(tool, Grounded) else {}
    except Exception as error:  # noqa: BLE001 - a tool may raise anything
        _log.warning("grounds unknown", extra={"tool": tool.name, "why": outline(error)})
        raise GroundsUnknown("What this call would run on can't be told now.") from None
