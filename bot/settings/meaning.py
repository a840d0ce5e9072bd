"""What the settings mean to the core: people, approver sets, gates, rules, caps, routes."""

import hashlib

from bot.settings.model import Escalation as EscalationTable
from bot.settings.model import Gate as GateTable
from bot.settings.model import ListedGate, Rule, Settings
from bot.settings.model import Person as PersonTable
from core.authority import ApproverSet, People, Person
from core.permissions.profiles import Profiles, profile_from_config
from core.permissions.rule_strings import parse_rule
from core.permissions.rules import PermissionBehavior
from core.policy import OPERATOR, Escalation, Gate, Gates, ModeCap, OperatorRule, Policy

LOCAL = "local"
DEFAULT_GATE = "default"


def people_of(settings: Settings) -> People:
    """Everybody the file names, and the sets they are in."""
    return People(
        persons={
            name: Person(name, frozenset(identities(person)))
            for name, person in settings.people.items()
        },
        sets={
            name: ApproverSet(
                name=name,
                people=frozenset(found.people),
                slack_groups=frozenset(found.slack_groups),
                discord_roles=frozenset(found.discord_roles),
                sets=frozenset(found.sets),
            )
            for name, found in settings.approvers.items()
        },
        self_approval=settings.local.self_approval,
    )


def identities(person: PersonTable) -> list[str]:
    """The accounts of a person, each with its surface: `local:ana`, `slack:T1/U1`."""
    accounts = (("slack", person.slack), ("discord", person.discord), (LOCAL, person.local))
    return [f"{surface}:{account}" for surface, account in accounts if account]


def profiles_of(settings: Settings) -> Profiles:
    """The shipped flag profiles with the operator's own over them."""
    declared = [profile_from_config(table) for table in settings.profiles]
    return Profiles({profile.command: profile for profile in declared})


def policy_of(settings: Settings) -> Policy:
    """Gates, rules, caps and routes. The revision is a number made of the whole file's content,
    so that two processes with the same file agree, and a changed file is noticed."""
    listed = tuple(_listed(gate) for gate in settings.gates.list)
    return Policy(
        gates=Gates(_gate(DEFAULT_GATE, settings.gates.default), listed),
        rules=tuple(_rule(rule) for rule in settings.rules if not rule.agents),
        caps=(
            *(ModeCap(agent=n, auto_run=a.max_auto_run) for n, a in settings.agents.items()),
            *(ModeCap(cap.agent, cap.channel, cap.mode, cap.auto_run) for cap in settings.caps),
        ),
        routes={
            name: {s: c for s, c in (("slack", r.slack), ("discord", r.discord)) if c}
            for name, r in settings.routes.items()
        },
        self_approval=settings.local.self_approval,
        revision=int(hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:12], 16),
    )


def _listed(gate: ListedGate) -> Gate:
    return _gate(gate.name or gate.match, gate, (gate.match,))


def _gate(name: str, gate: GateTable, matches: tuple[str, ...] = ()) -> Gate:
    return Gate(
        name=name,
        approvers=gate.approvers,
        matches=matches,
        quorum=gate.quorum,
        timeout=gate.timeout,
        remind=gate.remind,
        escalate=_escalation(gate.escalate),
        risk=gate.risk,
        grant_lifetime=gate.grant_lifetime,
        unknown_timeout=gate.unknown_timeout,
        second_person_for_edits=gate.second_person_for_edits,
        route=gate.route,
    )


def _escalation(table: EscalationTable | None) -> Escalation | None:
    return None if table is None else Escalation(table.after, table.to)


def _rule(rule: Rule) -> OperatorRule:
    parsed = parse_rule(rule.text(), PermissionBehavior(rule.behavior()), OPERATOR)
    return OperatorRule(parsed, frozenset(filter(None, [rule.passes_gate])))
