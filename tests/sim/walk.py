"""Random walks over a ledger: requests that a worker, a person or a timer could send, right ones
and wrong ones, fresh ones and old ones.

A walk is a pure function of its seed and of the ledger it looks at, so it can be repeated.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.calls import (
    FINAL,
    GRANTED,
    Actor,
    Call,
    CallKey,
    CallState,
    Escalation,
    Reply,
    ReplyState,
    Terms,
)
from core.ledger import (
    Accept,
    Approve,
    CancelCall,
    CardKey,
    Check,
    Claim,
    ClaimTask,
    Complete,
    Finish,
    Fire,
    Fulfil,
    HandBack,
    Ledger,
    Modify,
    NewCall,
    Refuse,
    Reject,
    Release,
    Renew,
    ReturnTask,
    Seen,
    Shown,
    Start,
    StopReply,
    WriteTurn,
)
from core.messages import ReplyFinishedReason

PEOPLE = tuple(Actor("person", name, name.title(), "slack") for name in ("ana", "bo", "cy"))
WORKERS = (Actor("worker", "w1"), Actor("worker", "w2"))
SESSIONS = ("s1", "s2")
POLICIES = ("p1", "p2")


@dataclass
class Walk:
    """One walk. `known`: replies by session, in the order in which they came."""

    seed: int
    ledger: Ledger
    known: list[str] = field(default_factory=list[str])
    sent: list[Any] = field(default_factory=list[Any])
    count: int = 0
    now: int = 0
    dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)  # noqa: S311 - repeatable on purpose

    async def next(self) -> Any:
        """The next request; sometimes one that was sent before."""
        if self.sent and self.dice.random() < 0.08:
            return self.dice.choice(self.sent[-30:])
        request = await self._fresh()
        self.sent.append(request)
        return request

    async def _fresh(self) -> Any:
        reply = await self._some_reply()
        if reply is None or self.dice.random() < 0.04:
            return self._accept()
        if self.dice.random() < 0.3 and (timers := await self.ledger.due()):
            first = min(timers, key=lambda t: (t.at, t.kind, t.reply_id, t.call_id, t.channel))
            return Fire(self._op(), first)
        makers = self._sensible(reply) if self.dice.random() < 0.85 else self._anything()
        return self.dice.choice(makers)(reply)

    def _sensible(self, reply: Reply) -> list[Callable[[Reply], Any]]:
        """What somebody who sees the reply as it is would send."""
        states = {call.state for call in reply.present}
        makers: list[Callable[[Reply], Any]] = [self._card]
        if reply.state is ReplyState.READY:
            makers += [self._claim] * 5
        if states & {CallState.OPEN, CallState.UNKNOWN}:
            makers += [self._decide] * 6
        if states & {CallState.TASK, CallState.UNKNOWN}:
            makers += [self._task] * 5
        if reply.state is ReplyState.RUNNING:
            makers += self._as_worker(states)
        return makers + self._about_runs(reply, states)

    def _about_runs(self, reply: Reply, states: set[CallState]) -> list[Callable[[Reply], Any]]:
        makers: list[Callable[[Reply], Any]] = []
        crashes = self.seed % 2 == 1
        if CallState.STARTED in states:
            makers += [self._card] * 12 + [self._stop] if crashes else [self._finish] * 4
        if any(call.runs and not call.final for call in reply.present):
            makers += [self._finish] * 2
        if CallState.UNKNOWN in states:
            makers += [self._decide] * 6
        if CallState.ALLOWED in states:
            makers += [self._refuse, self._cancel]
        if any(call.runs and call.state in GRANTED for call in reply.present):
            makers += [self._refuse, self._cancel] * 3
        return makers

    def _as_worker(self, states: set[CallState]) -> list[Callable[[Reply], Any]]:
        if states <= FINAL:
            return [self._turn] * 6 + [self._complete] * 2
        makers: list[Callable[[Reply], Any]] = [self._release, self._renew]
        if states & GRANTED:
            makers += [self._start] * 6
        if CallState.WAITING in states:
            makers += [self._check] * 3
        return makers

    def _anything(self) -> list[Callable[[Reply], Any]]:
        return [
            self._claim,
            self._renew,
            self._turn,
            self._start,
            self._finish,
            self._release,
            self._hand_back,
            self._complete,
            self._check,
            self._refuse,
            self._decide,
            self._task,
            self._cancel,
            self._stop,
            self._card,
        ]

    async def _some_reply(self) -> Reply | None:
        if not self.known:
            return None
        active = [
            session.active
            for name in SESSIONS
            if (session := await self.ledger.session(name)) and session.active
        ]
        names = active if active and self.dice.random() < 0.93 else self.known
        return await self.ledger.reply(self.dice.choice(names))

    def _op(self) -> str:
        self.count += 1
        return f"op{self.seed}-{self.count}"

    def _mostly(self, right: Any, *wrong: Any, odds: float = 0.92) -> Any:
        return right if self.dice.random() < odds else self.dice.choice(wrong)

    def _person(self) -> Actor:
        return self.dice.choice(PEOPLE)

    def _worker(self) -> Actor:
        return self.dice.choice(WORKERS)

    def _fence(self, reply: Reply) -> int:
        return int(self._mostly(reply.fence, reply.fence - 1, reply.fence + 1))

    def _some_call(self, reply: Reply, *states: CallState) -> Call | None:
        fitting = [call for call in reply.present if call.state in states]
        pool = fitting if fitting and self.dice.random() < 0.9 else list(reply.calls)
        return self.dice.choice(pool) if pool else None

    def _key(self, reply: Reply, call: Call | None) -> CallKey:
        if call is None:
            return CallKey(reply.reply_id, "none", 1)
        turn = call.key.turn
        return CallKey(reply.reply_id, call.key.call_id, self._mostly(turn, turn + 1, odds=0.97))

    def _accept(self) -> Accept:
        session = self.dice.choice(SESSIONS)
        return Accept(
            self._op(), session, "T1", self._person(), {"text": f"m{self.count}"}, queue_limit=2
        )

    def _claim(self, reply: Reply) -> Claim:
        return Claim(self._op(), self._worker(), reply.reply_id, self.dice.choice((500, 30_000)))

    def _renew(self, reply: Reply) -> Renew:
        return Renew(reply.reply_id, self._fence(reply), 30_000)

    def _turn(self, reply: Reply) -> WriteTurn:
        number = self._mostly(reply.turn + 1, reply.turn, reply.turn + 2)
        calls = tuple(self._new_call(number, i) for i in range(self.dice.choice((1, 2, 2, 3))))
        state = {"turn": number, "op": self.count}
        return WriteTurn(
            self._op(), self._worker(), reply.reply_id, self._fence(reply), number, state, calls
        )

    def _new_call(self, turn: int, position: int) -> NewCall:
        pick = self.dice.choice
        state = pick(("open", "open", "open", "allowed", "waiting", "task", "denied"))
        terms = Terms(
            "sre",
            quorum=pick((1, 1, 1, 2)),
            timeout_ms=pick((20_000, 600_000)),
            task_timeout_ms=90_000,
            unknown_timeout_ms=pick((30_000, 600_000)),
            grant_lifetime_ms=pick((5_000, 60_000)),
            remind_ms=pick(((), (5_000, 10_000))),
            escalate=pick((None, Escalation(8_000, "leads"), Escalation(8_000, "sre"))),
            idempotent=pick((True, False)),
            external=state == "task" or pick((True, False, False)),
            alone=pick((True, False)),
        )
        name = self._mostly(f"c{turn}.{position}", "c1.0", odds=0.97)
        return NewCall(
            name,
            "refund",
            f'{{"n": {self.count}}}',
            CallState(state),
            f"digest-{name}",
            terms,
            content={"title": name},
            policy=pick(POLICIES),
            channels=pick(((), ("slack:C1",), ("slack:C1", "discord:1"))),
            reason="no" if state == "denied" else "",
        )

    def _check(self, reply: Reply) -> Check:
        call = self._some_call(reply, CallState.WAITING)
        state = self.dice.choice((CallState.OPEN, CallState.ALLOWED, CallState.DENIED))
        content = self.dice.choice((None, {"title": "checked"}))
        return Check(
            self._op(),
            self._worker(),
            self._key(reply, call),
            self._fence(reply),
            self._mostly("p1", "p2"),
            state,
            "checked",
            content,
        )

    def _start(self, reply: Reply) -> Start:
        call = self._some_call(reply, CallState.APPROVED, CallState.ALLOWED)
        revision, digest = (call.revision, call.digest) if call else (0, "")
        return Start(
            self._op(),
            self._worker(),
            self._key(reply, call),
            self._fence(reply),
            self._mostly(revision, revision + 1),
            self._mostly(digest, "another"),
            self._mostly("p1", "p2"),
        )

    def _refuse(self, reply: Reply) -> Refuse:
        call = self._some_call(reply, CallState.APPROVED, CallState.ALLOWED)
        key, policy = self._key(reply, call), self._mostly("p1", "p2")
        return Refuse(self._op(), self._worker(), key, self._fence(reply), policy, "denied")

    def _finish(self, reply: Reply) -> Finish:
        ran = [call for call in reply.present if call.runs and not call.final]
        call = self.dice.choice(ran) if ran else self._some_call(reply, CallState.DONE)
        runs = call.runs if call else 0
        run = self._mostly(runs, runs - 1, runs + 1)
        result = {"type": "tool_result", "output": f"r{self.count}"}
        return Finish(self._op(), self._worker(), self._key(reply, call), run, result)

    def _release(self, reply: Reply) -> Release:
        return Release(self._op(), self._worker(), reply.reply_id, self._fence(reply))

    def _hand_back(self, reply: Reply) -> HandBack:
        return HandBack(self._op(), self._worker(), reply.reply_id, self._fence(reply))

    def _complete(self, reply: Reply) -> Complete:
        outcome = self.dice.choice((ReplyFinishedReason.COMPLETED, ReplyFinishedReason.ERROR))
        turn = self._mostly(reply.turn, reply.turn - 1)
        state = {"complete": self.count}
        fence = self._fence(reply)
        return Complete(self._op(), self._worker(), reply.reply_id, fence, turn, outcome, state)

    def _decide(self, reply: Reply) -> Approve | Reject | Modify:
        call = self._some_call(reply, CallState.OPEN, CallState.UNKNOWN)
        revision = call.revision if call else 0
        asked = {
            "op": self._op(),
            "actor": self._person(),
            "key": self._key(reply, call),
            "revision": self._mostly(revision, revision - 1, revision + 1),
            "checked_at": self._mostly(self.now, self.now - 16_000),
            "reason": self.dice.choice(("", "because")),
        }
        act = self.dice.random()
        if act < 0.15:
            return Reject(**asked)
        if act < 0.3:
            content = self.dice.choice((None, {"title": "edited"}))
            text, digest = f'{{"e": {self.count}}}', f"edit-{self.count}"
            quorum = self.dice.choice((1, 2))
            return Modify(**asked, input=text, digest=digest, content=content, quorum=quorum)
        rules = self.dice.choice(((), ({"tool": "refund"},)))
        return Approve(**asked, rules=rules)

    def _task(self, reply: Reply) -> Fulfil | ClaimTask | ReturnTask:
        call = self._some_call(reply, CallState.TASK, CallState.UNKNOWN)
        key, who, op = self._key(reply, call), self._person(), self._op()
        act = self.dice.random()
        if act < 0.4:
            checked = self._mostly(self.now, self.now - 16_000)
            return Fulfil(op, who, key, checked, {"type": "tool_result", "output": "by hand"})
        return ClaimTask(op, who, key) if act < 0.75 else ReturnTask(op, who, key)

    def _cancel(self, reply: Reply) -> CancelCall:
        call = self._some_call(reply, *CallState)
        return CancelCall(self._op(), self._person(), self._key(reply, call), "no need")

    def _stop(self, reply: Reply) -> StopReply:
        return StopReply(self._op(), self._person(), reply.reply_id)

    def _card(self, reply: Reply) -> Shown | Seen:
        call = self._some_call(reply, *CallState)
        channel = self.dice.choice(("slack:C1", "discord:1", "slack:C9"))
        card = CardKey(self._key(reply, call), channel)
        message = self.dice.choice(("m1", "m2"))
        if self.dice.random() < 0.4:
            return Seen(card, message)
        version = self._mostly(call.version if call else 0, 0, odds=0.6)
        repeated = self.dice.random() < 0.3
        return Shown(card, (message, "m0"), version, repeated=repeated)


_METHODS: Mapping[type, str] = {
    Accept: "accept",
    StopReply: "stop",
    CancelCall: "cancel",
    Claim: "claim",
    Renew: "renew",
    WriteTurn: "turn",
    Check: "check",
    Start: "start",
    Refuse: "refuse",
    Finish: "finish",
    Release: "release",
    HandBack: "hand_back",
    Complete: "complete",
    Approve: "decide",
    Reject: "decide",
    Modify: "decide",
    Fulfil: "fulfil",
    ClaimTask: "claim_task",
    ReturnTask: "return_task",
    Fire: "fire",
    Shown: "shown",
    Seen: "seen",
}


async def send(ledger: Ledger, request: Any) -> Any:
    """Hand a request to the method it is for."""
    return await getattr(ledger, _METHODS[type(request)])(request)
