"""A request: a message on its way to an agent, with who asked, where and of whom.

The ledger keeps it as JSON with the reply that answers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.calls import Actor
from core.messages import Msg


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks which agent, in which session, from where.

    Attributes:
        session: of the surface (a thread, a direct message, a terminal); the agent's name is part
            of the ledger's session id, so two agents in one thread keep two conversations.
        channel: where the request came from, as the router names it; the answer goes there.
    """

    agent: str
    session: str
    requester: Actor
    channel: str = ""

    @property
    def session_id(self) -> str:
        """The ledger's name of the conversation."""
        return f"{self.agent}@{self.session}"

    def dump(self, message: Msg) -> dict[str, Any]:
        """As the ledger keeps it."""
        return {
            "v": 1,
            "agent": self.agent,
            "session": self.session,
            "channel": self.channel,
            "requester": {
                "kind": self.requester.kind,
                "id": self.requester.id,
                "name": self.requester.name,
                "surface": self.requester.surface,
            },
            "msg": message.model_dump(mode="json"),
        }

    @classmethod
    def load(cls, kept: Mapping[str, Any]) -> "Request":
        """The request in what the ledger keeps."""
        return cls(
            kept["agent"], kept["session"], Actor(**kept["requester"]), kept.get("channel", "")
        )


def message_of(kept: Mapping[str, Any]) -> Msg:
    """The message in what the ledger keeps."""
    return Msg.model_validate(kept["msg"])
