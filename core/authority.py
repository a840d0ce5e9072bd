"""Who may decide: people, approver sets, and one verdict at the moment of deciding.

A person is known by verified identities only (`local:ana`, `slack:T0001/U0001`,
`discord:2201`); names and texts carry no authority. One person with several identities is one
voter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from core.tools import Risk

SelfApproval = Literal["never", "low_risk"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a name in the configuration and verified identities on surfaces."""

    name: str
    identities: frozenset[str]


@dataclass(frozen=True, slots=True)
class ApproverSet:
    """A named set of people who may decide, given by person, group, role or other set."""

    name: str
    people: frozenset[str] = frozenset()
    slack_groups: frozenset[str] = frozenset()
    discord_roles: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()


class Membership(StrEnum):
    """What the directory says of one identity and one group."""

    MEMBER = "member"
    NOT_MEMBER = "not_member"
    UNKNOWN = "unknown"


class Standing(StrEnum):
    """The three verdicts. Only `yes` lets anything happen."""

    YES = "yes"
    NO = "no"
    COULD_NOT_CHECK = "could_not_check"


@dataclass(frozen=True, slots=True)
class Authority:
    """A verdict with its reason, in words for the person who asked."""

    standing: Standing
    reason: str = ""
    person: str = ""
    """The voter that this identity counts as; empty unless `yes`."""


@dataclass(frozen=True, slots=True)
class People:
    """Everybody the configuration names, and the sets they are in."""

    persons: Mapping[str, Person] = field(default_factory=dict[str, Person])
    sets: Mapping[str, ApproverSet] = field(default_factory=dict[str, ApproverSet])
    self_approval: SelfApproval = "never"

    def voter(self, identity: str) -> str:
        """The person behind an identity; an identity that nobody claims is its own voter."""
        for person in self.persons.values():
            if identity in person.identities:
                return person.name
        return identity

    def groups(self, names: Iterable[str]) -> frozenset[str]:
        """Group ids (`slack:S1`, `discord:2`) that the named sets are made of, nested sets too."""
        found = set[str]()
        for one in self._reached(names):
            found |= {f"slack:{group}" for group in one.slack_groups}
            found |= {f"discord:{role}" for role in one.discord_roles}
        return frozenset(found)

    def named(self, names: Iterable[str]) -> frozenset[str]:
        """People whom the named sets list by name, nested sets too."""
        return frozenset(person for one in self._reached(names) for person in one.people)

    def _reached(self, names: Iterable[str]) -> list[ApproverSet]:
        waiting, seen = list(names), dict[str, ApproverSet]()
        while waiting:
            name = waiting.pop()
            found = self.sets.get(name)
            if found is not None and name not in seen:
                seen[name] = found
                waiting.extend(found.sets)
        return list(seen.values())


@dataclass(frozen=True, slots=True)
class Question:
    """What authority has to know of the call that somebody wants to decide."""

    approvers: tuple[str, ...]
    requester: str
    owner: str
    risk: Risk


def may_decide(
    question: Question,
    identity: str,
    people: People,
    memberships: Mapping[str, Membership],
) -> Authority:
    """Whether the person behind `identity` may decide this call now.

    Args:
        identity: verified by the surface that it comes from.
        memberships: what the directory says of this identity, for `people.groups(approvers)`;
            a group that is missing counts as unknown.
    """
    voter = people.voter(identity)
    names = ", ".join(question.approvers)
    own = _own_request(question, voter, people)
    if own:
        return Authority(Standing.NO, own)
    if voter in people.named(question.approvers):
        return Authority(Standing.YES, person=voter)
    said = {
        memberships.get(group, Membership.UNKNOWN) for group in people.groups(question.approvers)
    }
    if Membership.MEMBER in said:
        return Authority(Standing.YES, person=voter)
    if Membership.UNKNOWN in said:
        reason = (
            "I couldn't verify your groups right now. Nothing was recorded. Try again in a minute."
        )
        return Authority(Standing.COULD_NOT_CHECK, reason)
    return Authority(Standing.NO, f"You can't decide this one. Approvers: {names}.")


def _own_request(question: Question, voter: str, people: People) -> str:
    involved = {people.voter(question.requester), people.voter(question.owner)} - {""}
    if voter not in involved:
        return ""
    if people.self_approval == "low_risk" and question.risk == "low":
        return ""
    if voter == people.voter(question.requester):
        return "You asked for this, so somebody else has to decide."
    return "You own this agent, so somebody else has to decide."
