"""From the store's JSON to the core's records, and the places where their contents are sealed.

Lua writes an empty list as `{}`; `lists` puts that right again.
"""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from adapters.redis.sealing import Place, Sealer
from core.calls import AgentPayload, Call, Reply, Session
from core.errors import StoreDamaged
from core.ledger import answers
from core.ledger.requests import AuditRecord

_LISTS = frozenset(
    {
        "approvers",
        "calls",
        "cards",
        "changes",
        "granted",
        "messages",
        "present",
        "remind_ms",
        "running",
        "votes",
        "withdrawn",
    }
)
Hash = Mapping[bytes, bytes]


@cache
def _reader(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: type, value: Mapping[str, Any]) -> Any:
    """A dataclass of the core from its JSON.

    Raises:
        StoreDamaged: it does not fit.
    """
    try:
        return _reader(kind).validate_python(value)
    except ValidationError as wrong:
        raise StoreDamaged(f"A stored {kind.__name__} can't be read.") from wrong


def lists(value: Any) -> Any:
    """Empty objects where lists belong become lists again."""
    if isinstance(value, dict):
        return {k: [] if k in _LISTS and v == {} else lists(v) for k, v in value.items()}
    return [lists(item) for item in value] if isinstance(value, list) else value


def load(text: bytes) -> dict[str, Any]:
    """A record in the clear.

    Raises:
        StoreDamaged: not the JSON object that a script wrote.
    """
    try:
        value = lists(json.loads(text))
    except ValueError:
        raise StoreDamaged("A record in the store is not JSON.") from None
    if not isinstance(value, dict):
        raise StoreDamaged("A record in the store is not an object.")
    return value


def answer_from(text: bytes) -> answers.Answer | None:
    """What a script answered; `null` is "no such reply"."""
    if text == b"null":
        return None
    value = load(text)
    kind = getattr(answers, value.pop("k"))
    answer: answers.Answer = read(kind, value)
    return answer


@dataclass(frozen=True, slots=True)
class Records:
    """Reads whole records, contents opened."""

    sealer: Sealer

    def reply(self, stored: Hash) -> Reply:
        """A reply from its hash."""
        meta = load(stored[b"m"])
        tenant, reply_id = meta["tenant"], meta["reply_id"]
        place = Place(tenant, reply_id, ("message", meta.pop("seal")))
        meta["message"] = self.sealer.open(stored.get(b"message"), place)
        names = (name[2:].decode() for name in stored if name.startswith(b"c:"))
        calls = [self.call(stored, name, tenant, reply_id) for name in names]
        calls.sort(key=lambda call: (call.key.turn, call.position))
        meta["calls"] = calls
        reply: Reply = read(Reply, meta)
        return reply

    def call(self, stored: Hash, call_id: str, tenant: str, reply_id: str) -> Call:
        """A call from the hash of its reply."""
        record = load(stored[b"c:" + call_id.encode()])
        seals = record.pop("seals")

        def content(kind: str) -> Any:
            sealed_as = "input" if kind == "original" else kind
            place = Place(tenant, reply_id, (sealed_as, call_id, seals[kind]))
            return self.sealer.open(stored.get(f"{kind}:{call_id}".encode()), place)

        place = Place(tenant, reply_id, ("note", call_id))
        for noted in (*record["votes"], record.get("decision")):
            if noted:
                self._add_note(noted, place)
        record["key"] = {
            "reply_id": reply_id,
            "call_id": record.pop("id"),
            "turn": record.pop("turn"),
        }
        record["input"] = content("input")
        record["original_input"] = content("original") if "original" in seals else record["input"]
        record["content"] = content("content")
        record["result"] = content("result") if "result" in seals else None
        call: Call = read(Call, record)
        return call

    def _add_note(self, noted: dict[str, Any], place: Place) -> None:
        note = self.note(noted.pop("note", None), place, noted.pop("op", ""))
        noted["reason"], noted["rules"] = note.get("reason", ""), note.get("rules", ())

    def note(self, sealed: str | None, place: Place, op: str) -> Mapping[str, Any]:
        """What people said, out of a vote, a decision or an audit record."""
        if sealed is None:
            return {}
        bound = Place(place.tenant, place.reply_id, (*place.parts, op))
        note: Mapping[str, Any] = self.sealer.open(b64decode(sealed), bound)
        return note

    def session(self, session_id: str, stored: Hash, queue: list[bytes]) -> Session:
        """A session from its hash and queue."""
        tenant = stored[b"tenant"].decode()
        active = stored.get(b"active")
        return Session(
            session_id,
            tenant,
            active.decode() if active else None,
            tuple(item.decode() for item in queue),
            self._agent(session_id, tenant, stored),
        )

    def _agent(self, session_id: str, tenant: str, stored: Hash) -> AgentPayload | None:
        if b"agent" not in stored:
            return None
        reply_id, turn = stored[b"a_reply"].decode(), int(stored[b"a_turn"])
        complete = stored[b"a_complete"] == b"1"
        place = agent_place(tenant, reply_id, session_id, turn, complete=complete)
        return AgentPayload(reply_id, turn, complete, self.sealer.open(stored[b"agent"], place))

    def audit(self, line: bytes) -> AuditRecord:
        """One transition from a reply's history."""
        value = load(line)
        place = Place(value["tenant"], value["reply_id"], ("note", value.pop("call")))
        value["note"] = self.note(value.pop("note", None), place, value["op"])
        record: AuditRecord = read(AuditRecord, value)
        return record


def agent_place(tenant: str, reply_id: str, session_id: str, turn: int, *, complete: bool) -> Place:
    """Where an agent state belongs: an older turn's can't be put back for a newer one."""
    parts = ("agent", session_id, str(turn), "complete" if complete else "turn")
    return Place(tenant, reply_id, parts)


def require_agent_of(reply: Reply, session: Session) -> None:
    """Refuse an agent state that is older than its reply.

    Raises:
        StoreDamaged: the reply has written a turn that the state does not have.
    """
    agent = session.agent
    written = (agent.reply_id, agent.turn) if agent else ("", 0)
    if reply.turn and written != (reply.reply_id, reply.turn):
        raise StoreDamaged("The agent's state is not the one this reply has written.")
