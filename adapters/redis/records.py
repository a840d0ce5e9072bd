"""From the store's rows to the core's records, and the places where their contents are sealed.

Lua writes an empty list as `{}`: `tuple` makes the same of both.
"""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.redis import layout
from adapters.redis.encoding import decoded
from adapters.redis.sealing import Place, Sealer
from core.calls import (
    Actor,
    AgentPayload,
    Because,
    Call,
    CallKey,
    CallState,
    Card,
    Decision,
    DecisionKind,
    Escalation,
    Late,
    Reply,
    ReplyState,
    Session,
    Stop,
    Terms,
    Vote,
)
from core.errors import StoreDamaged
from core.ledger.requests import AuditRecord
from core.messages import ReplyFinishedReason

Hash = Mapping[bytes, bytes]
Fields = dict[str, Any]
MISFITS = (KeyError, TypeError, ValueError)
"""What reading something raises that no script of ours wrote."""


def load(text: bytes) -> Any:
    """What stands in the clear.

    Raises:
        StoreDamaged: not the JSON that a script wrote.
    """
    try:
        return decoded(text)
    except ValueError:
        raise StoreDamaged("A record in the store is not JSON.") from None


@dataclass(frozen=True, slots=True)
class Records:
    """Reads whole records, contents opened.

    Every method raises `StoreDamaged` for what it can't read.
    """

    sealer: Sealer

    def reply(self, reply_id: str, stored: Hash) -> Reply:
        """A reply from its hash."""
        try:
            return self._reply(reply_id, layout.record(layout.REPLY, load(stored[b"m"])), stored)
        except MISFITS as wrong:
            raise StoreDamaged("A stored reply can't be read.") from wrong

    def call(self, stored: Hash, call_id: str, tenant: str, reply_id: str) -> Call:
        """A call from the hash of its reply."""
        try:
            row = layout.record(layout.CALL, load(stored[b"c:" + call_id.encode()]))
            return self._call(row, stored, call_id, Place(tenant, reply_id, ()))
        except MISFITS as wrong:
            raise StoreDamaged("A stored call can't be read.") from wrong

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

    def audit(self, line: bytes) -> AuditRecord:
        """One transition from a reply's history."""
        try:
            row = layout.record(layout.AUDIT, load(line))
            place = Place(row["tenant"], row["reply_id"], ("note", row.pop("call"), row["op"]))
            note = row.pop("note", None)
            changes = tuple(map(tuple, row.pop("changes")))
            fields: Fields = {**row, "actor": Actor(*row["actor"])}
            return AuditRecord(**fields, changes=changes, note=self._note(note, place))
        except MISFITS as wrong:
            raise StoreDamaged("A stored audit record can't be read.") from wrong

    def _reply(self, reply_id: str, row: Fields, stored: Hash) -> Reply:
        tenant, stop = row["tenant"], row.get("stop")
        place = Place(tenant, reply_id, ("message", row["tag"]))
        names = (name[2:].decode() for name in stored if name.startswith(b"c:"))
        calls = [self.call(stored, name, tenant, reply_id) for name in names]
        calls.sort(key=lambda call: (call.key.turn, call.position))
        outcome = row.get("outcome")
        return Reply(
            reply_id=reply_id,
            session_id=row["session_id"],
            tenant=tenant,
            state=ReplyState(row["state"]),
            message=self.sealer.open(stored.get(b"message"), place),
            accepted_at=row["accepted_at"],
            calls=tuple(calls),
            fence=row["fence"],
            claim_op=row.get("claim_op"),
            lease_until=row.get("lease_until"),
            wake_at=row.get("wake_at"),
            turn=row["turn"],
            turn_fence=row.get("turn_fence"),
            tries=row["tries"],
            stop=Stop(Actor(*stop["actor"]), stop["at"]) if stop else None,
            outcome=ReplyFinishedReason(outcome) if outcome else None,
            closed_at=row.get("closed_at"),
            closed_fence=row.get("closed_fence"),
            next_reply=row.get("next_reply"),
        )

    def _call(self, row: Fields, stored: Hash, call_id: str, home: Place) -> Call:
        said = self._contents(row, stored, call_id, home)
        place = Place(home.tenant, home.reply_id, ("note", call_id))
        votes = row.get("votes", ())
        decision, claimant, late = row.get("decision"), row.get("claimant"), row.get("late")
        added = (row["escalated_to"],) if "escalated_to" in row else ()
        return Call(
            key=CallKey(home.reply_id, call_id, row["turn"]),
            position=row["position"],
            tool=row["tool"],
            state=CallState(row["state"]),
            digest=row["digest"],
            terms=_terms(row),
            **said,
            approvers=(row["approvers"], *added),
            quorum=row["quorum"],
            by=Actor(*row["by"]),
            at=row["at"],
            revision=row["revision"],
            version=row["version"],
            because=Because(row.get("because", "new")),
            policy=row["policy"],
            votes=tuple(Vote(**self._noted(vote, place)) for vote in votes),
            asked_at=row.get("asked_at"),
            reminded=row["reminded"],
            escalated=row.get("escalated", False),
            deadline=row.get("deadline"),
            grant_until=row.get("grant_until"),
            runs=row["runs"],
            run_op=row.get("run_op"),
            claimant=Actor(*claimant) if claimant else None,
            decision=self._decision(decision, place) if decision else None,
            done_run=row.get("done_run"),
            late=Late(late["run"], late["at"]) if late else None,
            cards=tuple(_card(card) for card in row["cards"]),
        )

    def _contents(self, row: Fields, stored: Hash, call_id: str, home: Place) -> Fields:
        def opened(kind: str, field: str, tag: str) -> Any:
            place = Place(home.tenant, home.reply_id, (kind, call_id, tag))
            return self.sealer.open(stored.get(f"{field}:{call_id}".encode()), place)

        tag: str = row["input_tag"]
        text = opened("input", "input", tag)
        original = row.get("original_tag")
        result = row.get("result_tag")
        return {
            "input": text,
            "original_input": opened("input", "original", original) if original else text,
            "content": opened("content", "content", row.get("content_tag") or tag),
            "result": opened("result", "result", result) if result else None,
        }

    def _decision(self, noted: Fields, place: Place) -> Decision:
        fields: Fields = {**self._noted(noted, place), "kind": DecisionKind(noted["kind"])}
        return Decision(**fields)

    def _noted(self, noted: Fields, place: Place) -> Fields:
        """A vote or a decision with what the person said."""
        bound = Place(place.tenant, place.reply_id, (*place.parts, noted.get("op", "")))
        note = self._note(noted.get("note"), bound)
        said = {"reason": note.get("reason", ""), "rules": tuple(note.get("rules", ()))}
        clear: Fields = {name: noted[name] for name in ("kind", "at", "revision") if name in noted}
        return {**clear, "actor": Actor(*noted["actor"]), **said}

    def _note(self, sealed: str | None, place: Place) -> Mapping[str, Any]:
        if sealed is None:
            return {}
        note: Mapping[str, Any] = self.sealer.open(b64decode(sealed), place)
        return note

    def _agent(self, session_id: str, tenant: str, stored: Hash) -> AgentPayload | None:
        if b"agent" not in stored:
            return None
        reply_id, turn, complete = load(stored[b"a"])
        place = agent_place(tenant, reply_id, session_id, turn, complete=bool(complete))
        state = self.sealer.open(stored[b"agent"], place)
        return AgentPayload(reply_id, turn, bool(complete), state)


def _terms(row: Fields) -> Terms:
    escalate = row.get("escalate")
    return Terms(
        approvers=row["approvers"],
        quorum=row["terms_quorum"],
        timeout_ms=row["timeout_ms"],
        task_timeout_ms=row["task_timeout_ms"],
        unknown_timeout_ms=row["unknown_timeout_ms"],
        grant_lifetime_ms=row["grant_lifetime_ms"],
        remind_ms=tuple(row.get("remind_ms", ())),
        escalate=Escalation(escalate["after_ms"], escalate["to"]) if escalate else None,
        idempotent=row.get("idempotent", False),
        external=row.get("external", False),
        alone=row.get("alone", False),
    )


def _card(card: Fields) -> Card:
    messages = tuple(card.get("messages", ()))
    return Card(card["channel"], card.get("ordered", False), messages, card.get("look_at"))


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
