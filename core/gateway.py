"""The gateway: the one way from a person to a reply.

Every surface, command and script comes through here: ask, approve, modify, reject, fulfil, claim,
hand back, cancel, stop. Each looks up authority first and then takes one step in the ledger; what
the ledger answers is turned into words for that person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core import private_answers as say
from core.agent.stamps import whole
from core.authority import Authority, Membership, People, Question, Standing, may_decide
from core.calls import Actor, Because, Call, CallKey, CallState, Reply
from core.editor import Edit, Editor, EditRefused
from core.errors import StoreError
from core.ledger import (
    Accept,
    Approve,
    Asked,
    CancelCall,
    ClaimTask,
    Fulfil,
    Ledger,
    Modify,
    Reject,
    ReturnTask,
    StopReply,
)
from core.ledger.answers import Begun, Full, Queued
from core.messages import Msg, ToolResultBlock, ToolResultState
from core.permissions.rules import PermissionRule
from core.ports import Allowed, Directory, Preferences
from core.private_answers import Answered
from core.requests import Request
from core.roster import Roster
from core.tasks import TaskAnswer, read_task_answer

_FULFILLABLE = frozenset({CallState.TASK, CallState.UNKNOWN})
_NO_EDIT = Edit("", {}, 1)


@dataclass(frozen=True, slots=True)
class Desk:
    """What the gateway works with."""

    ledger: Ledger
    roster: Roster
    people: People
    directory: Directory
    preferences: Preferences
    editor: Editor
    tenant: str


class Gateway:
    """What people can do."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ledger = desk.ledger

    async def ask(self, request: Request, message: Msg, op: str) -> Begun | Queued | Full:
        """Give an agent a message: it begins at once, waits its turn, or is refused as too many.

        Raises:
            KeyError: there is no agent of that name.
        """
        spec = self._desk.roster[request.agent]
        return await self._ledger.accept(
            Accept(
                op=op,
                session_id=request.session_id,
                tenant=self._desk.tenant,
                actor=request.requester,
                message=request.dump(message),
                queue_limit=spec.queue_limit,
            )
        )

    async def approve(
        self,
        key: CallKey,
        revision: int,
        actor: Actor,
        op: str,
        rules: Sequence[PermissionRule] = (),
    ) -> Answered:
        """Approve this revision for one run; of an unknown run: run it again.

        `rules` are offered rules that the person ticked; they hold for the session.
        """
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        if not _offered(seat.call, rules):
            return Answered(False, say.RULE_NOT_OFFERED, seat.call)
        said = await self._ledger.decide(
            Approve(
                op=op,
                actor=seat.actor,
                key=key,
                revision=revision,
                checked_at=seat.checked_at,
                rules=tuple(rule.model_dump(mode="json") for rule in rules),
            )
        )
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def reject(
        self, key: CallKey, revision: int, actor: Actor, op: str, reason: str = ""
    ) -> Answered:
        """Reject this revision; of an unknown run: give it up."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        said = await self._ledger.decide(
            Reject(op, seat.actor, key, revision, seat.checked_at, whole(reason))
        )
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def modify(
        self, key: CallKey, revision: int, actor: Actor, op: str, new_input: str
    ) -> Answered:
        """Put this input in the place of the old one, and so approve the changed call."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        if seat.call.revision < revision:
            return Answered(False, say.CHANGED, seat.call)
        edit, changed = _NO_EDIT, ""
        # Of an older revision nothing is changed; but it may be a submit that was sent again, and
        # its sender is owed the answer that the ledger gave before.
        if seat.call.revision == revision:
            try:
                edit = await self._desk.editor.edit(seat.reply, seat.call, new_input)
                changed = new_input
            except EditRefused as refused:
                return Answered(False, str(refused), seat.call)
        said = await self._ledger.decide(
            Modify(
                op=op,
                actor=seat.actor,
                key=key,
                revision=revision,
                checked_at=seat.checked_at,
                input=changed,
                digest=edit.digest,
                content=edit.content,
                quorum=edit.quorum,
            )
        )
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def allow_always(self, key: CallKey, actor: Actor, rule: PermissionRule) -> Answered:
        """Put an offered rule on the requester's allowlist; deciding this call is another act."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        if refusal := _no_standing_rule(seat.call, rule):
            return Answered(False, refusal, seat.call)
        request = Request.load(seat.reply.message)
        now = await self._ledger.now()
        person = self._desk.people.voter(request.requester.id)
        entry = Allowed(rule, seat.actor.id, f"offered with {key.call_id}", now)
        added = await self._desk.preferences.allow(person, entry)
        return Answered(True, say.rule_added(rule, person, added), seat.call)

    async def fulfil(self, key: CallKey, actor: Actor, op: str, answer: TaskAnswer) -> Answered:
        """Give the result of a task; of an unknown run: say that it was done."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        call = seat.call
        if not call.final and call.state not in _FULFILLABLE:
            # Whoever decides this question need not be who does the task that may come of it.
            return Answered(False, say.not_asked(call), call)
        spec = self._desk.roster.get(Request.load(seat.reply.message).agent)
        tool = spec.tool(call.tool) if spec else None
        schema = tool.traits.result_schema if tool and call.state is CallState.TASK else None
        read = read_task_answer(answer, schema)
        if read.faults:
            return Answered(False, say.result_does_not_fit(read.faults), call)
        result = ToolResultBlock(
            id=key.call_id,
            name=call.tool,
            output=read.text,
            state=ToolResultState.SUCCESS,
            metadata=read.metadata,
        )
        said = await self._ledger.fulfil(
            Fulfil(op, seat.actor, key, seat.checked_at, result.model_dump(mode="json"))
        )
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def claim_task(self, key: CallKey, actor: Actor, op: str) -> Answered:
        """Take a task on, as a courtesy to others."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        said = await self._ledger.claim_task(ClaimTask(op, seat.actor, key))
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def return_task(self, key: CallKey, actor: Actor, op: str) -> Answered:
        """Hand a claimed task back."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return seat
        said = await self._ledger.return_task(ReturnTask(op, seat.actor, key))
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def cancel(self, key: CallKey, actor: Actor, op: str, reason: str = "") -> Answered:
        """Withdraw one call that has not started: by its requester, or by one of its deciders."""
        seat = await self._seat(key, actor, withdrawing=True)
        if isinstance(seat, Answered):
            return seat
        said = await self._ledger.cancel(CancelCall(op, seat.actor, key, whole(reason)))
        return await self._answered(key, say.of_decision(said, actor.id, self._desk.people))

    async def stop(self, reply_id: str, actor: Actor, op: str) -> Answered:
        """End a reply: by its requester, its agent's owner, or one of its deciders."""
        reply = await self._ledger.reply(reply_id)
        if reply is None:
            return Answered(False, say.NO_SUCH_REPLY)
        if not await self._may_stop(reply, actor):
            return Answered(False, say.MAY_NOT_STOP)
        voter = self._as_voter(actor)
        return Answered(*say.of_stop(await self._ledger.stop(StopReply(op, voter, reply_id))))

    async def pending(self) -> tuple[Call, ...]:
        """Everything that people are asked, oldest first."""
        return await self._ledger.open_calls(Asked(self._desk.tenant))

    async def standing(self, key: CallKey, actor: Actor) -> Authority:
        """Whether this person may decide this call now."""
        seat = await self._seat(key, actor)
        if isinstance(seat, Answered):
            return Authority(Standing.NO, seat.said)
        return Authority(Standing.YES, person=seat.actor.id)

    async def _seat(
        self, key: CallKey, actor: Actor, *, withdrawing: bool = False
    ) -> "_Seat | Answered":
        """The call and the right of this person to decide it, or the refusal."""
        call = await self._ledger.call(key)
        reply = await self._ledger.reply(key.reply_id)
        if call is None or reply is None or reply.tenant != self._desk.tenant:
            return Answered(False, say.NO_SUCH_CALL)
        checked_at = await self._ledger.now()
        if withdrawing and self._is_requester(reply, actor):
            return _Seat(call, reply, self._as_voter(actor), checked_at)
        authority = await self._authority(reply, call, actor)
        if authority.standing is not Standing.YES:
            return Answered(False, authority.reason, call)
        return _Seat(call, reply, self._as_voter(actor), checked_at)

    async def _authority(self, reply: Reply, call: Call, actor: Actor) -> Authority:
        """The verdict of this moment. Only a verified person can have one."""
        if actor.kind != "person":
            return Authority(Standing.NO, say.ONLY_PEOPLE)
        people = self._desk.people
        question = question_of(reply, call, self._desk.roster)
        groups = people.groups(question.approvers)
        known: Mapping[str, Membership] = {}
        if groups:
            known = await self._desk.directory.memberships(actor.id, groups)
        return may_decide(question, actor.id, people, known)

    async def _may_stop(self, reply: Reply, actor: Actor) -> bool:
        if actor.kind == "operator" or self._is_requester(reply, actor):
            return True
        spec = self._desk.roster.get(Request.load(reply.message).agent)
        if spec is not None and self._as_voter(actor).id == self._desk.people.voter(spec.owner):
            return True
        deciders = [await self._authority(reply, call, actor) for call in reply.present]
        return any(one.standing is Standing.YES for one in deciders)

    def _is_requester(self, reply: Reply, actor: Actor) -> bool:
        voter = self._desk.people.voter
        return voter(Request.load(reply.message).requester.id) == voter(actor.id)

    def _as_voter(self, actor: Actor) -> Actor:
        return replace(actor, id=self._desk.people.voter(actor.id))

    async def _answered(self, key: CallKey, spoken: tuple[bool, str]) -> Answered:
        try:
            return Answered(*spoken, await self._ledger.call(key))
        except StoreError:
            return Answered(*spoken)  # what was recorded is recorded, whatever a look says


@dataclass(frozen=True, slots=True)
class _Seat:
    """A person who may decide a call, as of `checked_at` on the store's clock."""

    call: Call
    reply: Reply
    actor: Actor
    checked_at: int


def question_of(reply: Reply, call: Call, roster: Roster) -> Question:
    """What authority has to know of this call.

    A task is done by its fulfillers, and whoever asked for it may be one of them.
    """
    request = Request.load(reply.message)
    spec = roster.get(request.agent)
    was_task = call.final and call.because is Because.TASK
    is_task = call.state is CallState.TASK or was_task
    fulfillers = call.content.get("fulfillers")
    return Question(
        approvers=(str(fulfillers),) if is_task and fulfillers else call.approvers,
        requester="" if is_task else request.requester.id,
        owner="" if is_task or spec is None else spec.owner,
        risk=call.content.get("risk", "medium"),
    )


def _no_standing_rule(call: Call, rule: PermissionRule) -> str:
    """Why nobody may make this rule a standing one beside this call; empty: they may."""
    if not _offered(call, [rule]):
        return say.RULE_NOT_OFFERED
    if call.final:
        return say.not_asked(call)
    return say.RULE_NEEDS_MORE_PEOPLE if call.quorum > 1 else ""


def _offered(call: Call, rules: Sequence[PermissionRule]) -> bool:
    """Whether every one of these rules stood on the card, to the letter."""
    offers = call.content.get("suggested_rules", [])
    return all(rule.model_dump(mode="json") in offers for rule in rules)
