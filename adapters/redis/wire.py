"""Requests as scripts read them: a JSON body in the clear, and sealed contents beside it."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from adapters.redis.encoding import encoded
from adapters.redis.keys import short_hash
from adapters.redis.layout import actor_row, given
from adapters.redis.records import agent_place
from adapters.redis.sealing import Place, Sealer
from core.calls import Because, CallKey, CallState, Json
from core.ledger import requests as r


@dataclass(frozen=True, slots=True)
class Message:
    """What a script is sent: its name, its first argument, and the sealed ones after it."""

    script: str
    body: Mapping[str, Any]
    blobs: tuple[bytes, ...] = ()

    def args(self) -> list[str | bytes]:
        """As arguments of the script."""
        return [encoded(self.body), *self.blobs]


@dataclass(frozen=True, slots=True)
class Sender:
    """Turns requests about one reply into messages. `session_id` may be empty where no agent
    state is written."""

    sealer: Sealer
    tenant: str
    session_id: str
    reply_id: str

    def message(self, request: Any) -> Message:
        """The message for any request but `Accept`."""
        message = _ENCODE[type(request)](self, request)
        body = {"rid": self.reply_id, "op": getattr(request, "op", ""), **message.body}
        if message.script in _KEEPING:
            body["name"] = _answer_name(request)
        key = getattr(request, "key", None)
        if isinstance(key, CallKey):
            body |= {"call": key.call_id, "turn": key.turn}
        actor = getattr(request, "actor", None) or getattr(request, "worker", None)
        if actor:
            body["actor"] = actor_row(actor)
        return Message(message.script, body, message.blobs)

    def seal(self, kind: str, call_id: str, op: str, value: Any) -> bytes:
        """Seal a content of a call."""
        return self.sealer.seal(value, Place(self.tenant, self.reply_id, (kind, call_id, tag(op))))

    def note(self, call_id: str, op: str, **parts: Any) -> str | None:
        """Seal what people or policy said; nothing said: no note."""
        said = {name: value for name, value in parts.items() if value}
        if not said:
            return None
        place = Place(self.tenant, self.reply_id, ("note", call_id, op))
        return b64encode(self.sealer.seal(said, place)).decode()

    def agent(self, turn: int, state: Json, *, complete: bool) -> bytes:
        """Seal the agent's state."""
        place = agent_place(self.tenant, self.reply_id, self.session_id, turn, complete=complete)
        return self.sealer.seal(state, place)


def tag(op: str) -> str:
    """What ties a sealed content to the request that wrote it."""
    return sha256(op.encode()).hexdigest()[:16]


def accept_message(request: r.Accept, reply_id: str, sealer: Sealer) -> Message:
    """The message for `Accept`; the op is filed by its key."""
    place = Place(request.tenant, reply_id, ("message", tag(request.op)))
    body = {
        "rid": reply_id,
        "op": request.op,
        "session_id": request.session_id,
        "tenant": request.tenant,
        "actor": actor_row(request.actor),
        "queue_limit": request.queue_limit,
        "tag": tag(request.op),
    }
    return Message("accept", body, (sealer.seal(request.message, place),))


def _answer_name(request: Any) -> str:
    return short_hash(encoded([*r.replay_name(request), request.op]))


def _plain(script: str) -> Callable[[Sender, Any], Message]:
    def encode(_sender: Sender, _request: Any) -> Message:
        return Message(script, {})

    return encode


def _held(script: str) -> Callable[[Sender, Any], Message]:
    def encode(_sender: Sender, request: Any) -> Message:
        return Message(script, {"fence": request.fence})

    return encode


def _cancel(sender: Sender, request: r.CancelCall) -> Message:
    note = sender.note(request.key.call_id, request.op, reason=request.reason)
    return Message("cancel", given(note=note))


def _claim(_sender: Sender, request: r.Claim) -> Message:
    return Message("claim", {"lease_ms": request.lease_ms})


def _renew(_sender: Sender, request: r.Renew) -> Message:
    return Message("renew", {"fence": request.fence, "lease_ms": request.lease_ms})


def _turn(sender: Sender, request: r.WriteTurn) -> Message:
    blobs = [sender.agent(request.turn, request.state, complete=False)]
    for new in request.calls:
        blobs.append(sender.seal("input", new.call_id, request.op, new.input))
        blobs.append(sender.seal("content", new.call_id, request.op, dict(new.content)))
    body = {
        "fence": request.fence,
        "number": request.turn,
        "tag": tag(request.op),
        "calls": [_new_call(sender, request, i, new) for i, new in enumerate(request.calls)],
    }
    return Message("turn", body, tuple(blobs))


def _new_call(sender: Sender, request: r.WriteTurn, position: int, new: r.NewCall) -> Json:
    terms, task = new.terms, new.state is CallState.TASK
    escalate = terms.escalate
    return given(
        id=new.call_id,
        turn=request.turn,
        position=position,
        tool=new.tool,
        state=new.state,
        digest=new.digest,
        policy=new.policy,
        revision=0,
        version=-1,
        runs=0,
        reminded=0,
        quorum=terms.quorum,
        cards=[{"channel": name} for name in new.channels],
        because=Because.TASK if task else None,
        note=sender.note(new.call_id, request.op, reason=new.reason),
        approvers=terms.approvers,
        terms_quorum=terms.quorum,
        timeout_ms=terms.timeout_ms,
        task_timeout_ms=terms.task_timeout_ms,
        unknown_timeout_ms=terms.unknown_timeout_ms,
        grant_lifetime_ms=terms.grant_lifetime_ms,
        remind_ms=terms.remind_ms or None,
        escalate={"after_ms": escalate.after_ms, "to": escalate.to} if escalate else None,
        idempotent=terms.idempotent or None,
        external=terms.external or None,
        alone=terms.alone or None,
    )


def _check(sender: Sender, request: r.Check) -> Message:
    call_id, op = request.key.call_id, request.op
    body = given(
        fence=request.fence,
        policy=request.policy,
        state=request.state,
        note=sender.note(call_id, op, reason=request.reason),
        tag=tag(op),
    )
    return Message("check", body, (_content(sender, call_id, op, request.content),))


def _content(sender: Sender, call_id: str, op: str, content: Json | None) -> bytes:
    return b"" if content is None else sender.seal("content", call_id, op, dict(content))


def _start(_sender: Sender, request: r.Start) -> Message:
    return Message(
        "start",
        {
            "fence": request.fence,
            "revision": request.revision,
            "digest": request.digest,
            "policy": request.policy,
        },
    )


def _refuse(sender: Sender, request: r.Refuse) -> Message:
    note = sender.note(request.key.call_id, request.op, reason=request.reason)
    body = given(fence=request.fence, policy=request.policy, note=note)
    return Message("refuse", body)


def _finish(sender: Sender, request: r.Finish) -> Message:
    call_id, op, result = request.key.call_id, request.op, dict(request.result)
    body = given(run=request.run, tag=tag(op), note=sender.note(call_id, op, result=result))
    return Message("finish", body, (sender.seal("result", call_id, op, result),))


def _complete(sender: Sender, request: r.Complete) -> Message:
    body = {"fence": request.fence, "number": request.turn, "outcome": request.outcome}
    return Message("complete", body, (sender.agent(request.turn, request.state, complete=True),))


def _question(request: r.Decide, act: str, note: str | None) -> dict[str, Any]:
    return given(act=act, revision=request.revision, checked_at=request.checked_at, note=note)


def _approve(sender: Sender, request: r.Approve) -> Message:
    call_id, op = request.key.call_id, request.op
    note = sender.note(call_id, op, reason=request.reason, rules=request.rules)
    return Message("decide", _question(request, "approve", note))


def _reject(sender: Sender, request: r.Reject) -> Message:
    note = sender.note(request.key.call_id, request.op, reason=request.reason)
    return Message("decide", _question(request, "reject", note))


def _modify(sender: Sender, request: r.Modify) -> Message:
    call_id, op = request.key.call_id, request.op
    note = sender.note(
        call_id,
        op,
        reason=request.reason,
        rules=request.rules,
        input=request.input,
        digest=request.digest,
    )
    edit = {"digest": request.digest, "quorum": request.quorum, "tag": tag(op)}
    changed = sender.seal("input", call_id, op, request.input)
    content = _content(sender, call_id, op, request.content)
    return Message("decide", _question(request, "modify", note) | edit, (changed, content))


def _fulfil(sender: Sender, request: r.Fulfil) -> Message:
    body = {"act": "fulfil", "checked_at": request.checked_at, "tag": tag(request.op)}
    result = sender.seal("result", request.key.call_id, request.op, dict(request.result))
    return Message("task", body, (result,))


def _task(act: str) -> Callable[[Sender, Any], Message]:
    def encode(_sender: Sender, _request: Any) -> Message:
        return Message("task", {"act": act})

    return encode


def _fire(_sender: Sender, request: r.Fire) -> Message:
    timer = request.timer
    about = {
        "kind": timer.kind,
        "at": timer.at,
        "number": timer.number,
        "call_id": timer.call_id,
        "step": timer.step,
        "channel": timer.channel,
    }
    return Message("fire", {"timer": about, "call": timer.call_id})


def _shown(_sender: Sender, request: r.Shown) -> Message:
    body = {
        "act": "shown",
        "messages": list(request.messages),
        "version": request.version,
        "order": request.order,
        "repeated": request.repeated,
    }
    return Message("card", body | _card(request.card))


def _seen(_sender: Sender, request: r.Seen) -> Message:
    body = {"act": "seen", "messages": [request.message], "order": "", "repeated": False}
    return Message("card", body | _card(request.card))


def _card(card: r.CardKey) -> dict[str, Any]:
    return {"call": card.call.call_id, "turn": card.call.turn, "channel": card.channel}


_ENCODE: Mapping[type, Callable[[Sender, Any], Message]] = {
    r.StopReply: _plain("stop"),
    r.CancelCall: _cancel,
    r.Claim: _claim,
    r.Renew: _renew,
    r.WriteTurn: _turn,
    r.Check: _check,
    r.Start: _start,
    r.Refuse: _refuse,
    r.Finish: _finish,
    r.Release: _held("release"),
    r.HandBack: _held("hand_back"),
    r.Complete: _complete,
    r.Approve: _approve,
    r.Reject: _reject,
    r.Modify: _modify,
    r.Fulfil: _fulfil,
    r.ClaimTask: _task("claim_task"),
    r.ReturnTask: _task("return_task"),
    r.Fire: _fire,
    r.Shown: _shown,
    r.Seen: _seen,
}
_KEEPING = frozenset(
    {"stop", "cancel", "check", "refuse", "release", "hand_back", "decide", "task", "fire"}
)
