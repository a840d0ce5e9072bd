"""What the shapes can't say: names that exist, sets with somebody in them, rules that work."""

from collections.abc import Callable, Iterator, Mapping

from bot.settings.mistakes import Mistake, suggestion
from bot.settings.model import Agent, Gate, ListedGate, Rule, Settings
from core.errors import InvalidSchema, KeyturnError, RuleRefused
from core.inputs import check_schema
from core.permissions.rule_strings import covers_name, parse_rule, split_rule
from core.permissions.rules import PermissionBehavior, PermissionRule

BUILT_IN = ("Bash", "Read", "Write", "Edit", "Glob", "Grep")
MCP_PREFIX = "mcp__"
NEEDS_WORKSPACE = frozenset(BUILT_IN)

RuleCheck = Callable[[PermissionRule, Settings], None]
"""Refuses a rule that its tool can't use (`RuleRefused`); the tools live outside the settings."""


def mistakes(settings: Settings, check_rule: RuleCheck | None = None) -> list[Mistake]:
    """Everything that is wrong with `settings`, or nothing."""
    return [
        *_agents(settings),
        *_approver_sets(settings),
        *_gates(settings),
        *_rules(settings, check_rule),
        *_tool_words(settings),
        *_tasks(settings),
        *_accounts(settings),
    ]


def tool_names(agent: Agent) -> tuple[str, ...]:
    """The names the agent's tools go by; `mcp__NAME__*` stands for those of a whole server."""
    return tuple(_tool_name(entry) for entry in agent.tools)


def _tool_name(entry: str) -> str:
    kind, colon, name = entry.partition(":")
    if colon and kind == "mcp":
        return f"{MCP_PREFIX}{name}__*"
    return name if colon and kind == "external" else entry


def _agents(settings: Settings) -> Iterator[Mistake]:
    for name, agent in settings.agents.items():
        place = ("agents", name)
        for index, entry in enumerate(agent.tools):
            yield from _tool_entry((*place, "tools", index), entry, settings)
        if agent.owner is not None:
            yield from _known((*place, "owner"), "person", agent.owner, settings.people)
        if NEEDS_WORKSPACE & set(agent.tools) and agent.workspace is None:
            yield Mistake(
                (*place, "tools"),
                "has tools that work on files, but no workspace",
                f'Add workspace = "./work" to [agents.{name}].',
            )
        if agent.api_key_env and agent.api_key_file:
            yield Mistake((*place, "api_key_file"), "says where the key is a second time")


def _tool_entry(path: tuple[str | int, ...], entry: str, settings: Settings) -> Iterator[Mistake]:
    kind, colon, name = entry.partition(":")
    if colon and kind == "mcp":
        yield from _known(path, "MCP server", name, settings.mcp, "[mcp.{}]")
    elif colon and kind == "external":
        yield from _known(path, "task", name, settings.tasks, "[tasks.{}]")
    elif entry not in BUILT_IN:
        remedy = suggestion(entry, list(BUILT_IN)) or (
            f"Known: {', '.join(BUILT_IN)}, mcp:NAME, external:NAME."
        )
        yield Mistake(path, f'there is no tool "{entry}"', remedy)


def _known(
    path: tuple[str | int, ...],
    kind: str,
    name: str,
    known: Mapping[str, object],
    table: str = "",
) -> Iterator[Mistake]:
    if name not in known:
        made = f"Describe it in {table.format(name)}." if table else ""
        listed = f"Known: {', '.join(known)}." if known else f"No {kind} is described yet."
        yield Mistake(
            path, f'there is no {kind} "{name}"', suggestion(name, list(known)) or made or listed
        )


def _approver_sets(settings: Settings) -> Iterator[Mistake]:
    for name, approvers in settings.approvers.items():
        place = ("approvers", name)
        if approvers.empty():
            yield Mistake(
                place,
                "is empty: nobody could ever decide",
                "Name people, slack_groups, discord_roles or other sets.",
            )
        for index, person in enumerate(approvers.people):
            yield from _known(
                (*place, "people", index), "person", person, settings.people, "[people.{}]"
            )
        for index, other in enumerate(approvers.sets):
            yield from _set((*place, "sets", index), other, settings)
        if name in _reachable(settings, name):
            yield Mistake((*place, "sets"), "contains itself", "Take the circle out.")


def _reachable(settings: Settings, name: str) -> set[str]:
    """Every set that is part of `name`, however deep."""
    found: set[str] = set()
    todo = list(settings.approvers[name].sets)
    while todo:
        other = todo.pop()
        if other not in found and other in settings.approvers:
            found.add(other)
            todo.extend(settings.approvers[other].sets)
    return found


def _set(path: tuple[str | int, ...], name: str, settings: Settings) -> Iterator[Mistake]:
    yield from _known(path, "approver set", name, settings.approvers, "[approvers.{}]")


def _gates(settings: Settings) -> Iterator[Mistake]:
    default = ("gates", "default")
    yield from _set((*default, "approvers"), settings.gates.default.approvers, settings)
    if settings.gates.default.escalate:
        to = settings.gates.default.escalate.to
        yield from _set((*default, "escalate", "to"), to, settings)
    for index, gate in enumerate(settings.gates.list):
        place = ("gates", "list", index)
        yield from _set((*place, "approvers"), gate.approvers, settings)
        if gate.escalate:
            yield from _set((*place, "escalate", "to"), gate.escalate.to, settings)
        yield from _pattern((*place, "match"), gate.match, "ask", settings, "this gate")
    yield from _timers(settings)
    yield from _quorums(settings)
    yield from _routes(settings)


def _routes(settings: Settings) -> Iterator[Mistake]:
    for place, gate in _every_gate(settings):
        if gate.route is not None:
            yield from _known((*place, "route"), "route", gate.route, settings.routes)
    for index, cap in enumerate(settings.caps):
        if cap.agent is not None:
            yield from _known(("caps", index, "agent"), "agent", cap.agent, settings.agents)


def _every_gate(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], Gate]]:
    yield ("gates", "default"), settings.gates.default
    for index, gate in enumerate(settings.gates.list):
        yield ("gates", "list", index), gate


def _timers(settings: Settings) -> Iterator[Mistake]:
    """Reminders and escalations that come after the question is closed would never happen."""
    for place, gate in _every_gate(settings):
        for index, after in enumerate(gate.remind):
            if after >= gate.timeout:
                yield Mistake((*place, "remind", index), "comes after the timeout")
        if gate.escalate and gate.escalate.after >= gate.timeout:
            yield Mistake((*place, "escalate", "after"), "comes after the timeout")


def _quorums(settings: Settings) -> Iterator[Mistake]:
    """A set of named people only must be large enough, without the owner of the agent."""
    for place, gate in _every_gate(settings):
        people = _named_people(settings, gate.approvers)
        if people is None:
            continue
        for name, agent in settings.agents.items():
            left = people - {agent.owner}
            if len(left) < gate.quorum and _concerns(gate, agent):
                yield Mistake(
                    (*place, "quorum"), _too_few(gate, len(people), len(left), name), _MORE_PEOPLE
                )


_MORE_PEOPLE = "Lower the quorum or name more people."


def _too_few(gate: Gate, named: int, left: int, agent: str) -> str:
    owner = f", the owner of {agent} not counted" if left < named else ""
    who = f"{left} {'person' if left == 1 else 'people'}"
    return (
        f'is {gate.quorum}, but "{gate.approvers}" has {who}{owner}: nothing could ever be approved'
    )


def _concerns(gate: Gate, agent: Agent) -> bool:
    """Whether a call of this agent can come to this gate."""
    if not isinstance(gate, ListedGate):
        return True
    try:
        wanted, _ = split_rule(gate.match)
    except RuleRefused:
        return False
    return any(_meets(wanted, name) for name in tool_names(agent))


def _named_people(settings: Settings, name: str) -> set[str] | None:
    """The people of a set, or None if groups decide who belongs to it."""
    if name not in settings.approvers:
        return None
    sets = [settings.approvers[n] for n in {name, *_reachable(settings, name)}]
    if any(one.slack_groups or one.discord_roles for one in sets):
        return None
    return {person for one in sets for person in one.people}


def _rules(settings: Settings, check_rule: RuleCheck | None) -> Iterator[Mistake]:
    gates = {gate.name or gate.match for gate in settings.gates.list}
    for index, rule in enumerate(settings.rules):
        place = ("rules", index)
        key = rule.behavior()
        for position, agent in enumerate(rule.agents):
            yield from _known((*place, "agents", position), "agent", agent, settings.agents)
        found = list(_pattern((*place, key), rule.text(), key, settings, "this rule", rule.agents))
        yield from found
        if not found and check_rule is not None:
            yield from _refused_by_tool((*place, key), rule, settings, check_rule)
        if rule.passes_gate is not None and rule.passes_gate not in gates:
            yield from _known(
                (*place, "passes_gate"), "gate", rule.passes_gate, dict.fromkeys(gates)
            )
        yield from _shadowed(settings, index)


def _refused_by_tool(
    path: tuple[str | int, ...], rule: Rule, settings: Settings, check_rule: RuleCheck
) -> Iterator[Mistake]:
    try:
        parsed = parse_rule(rule.text(), PermissionBehavior(rule.behavior()), "operator")
        check_rule(parsed, settings)
    except RuleRefused as error:
        yield Mistake(path, error.reason, error.remedy)
    except KeyturnError as error:
        yield Mistake(path, str(error))


def _shadowed(settings: Settings, index: int) -> Iterator[Mistake]:
    """An allow rule that another rule or gate always answers first can never match."""
    rule = settings.rules[index]
    if rule.allow is None:
        return
    for other in settings.rules:
        blocked = other.deny or other.ask
        if blocked and not other.agents and _covers(blocked, rule.allow):
            yield Mistake(
                ("rules", index, "allow"),
                f'can never match: {other.behavior()} = "{blocked}" is looked at first',
                "Take one of the two out.",
            )
    for gate in settings.gates.list:
        passes = rule.passes_gate == (gate.name or gate.match)
        if not passes and _covers(gate.match, rule.allow):
            yield Mistake(
                ("rules", index, "allow"),
                f'can never match: the gate "{gate.name or gate.match}" asks before any rule',
                f'Name the gate in the rule: passes_gate = "{gate.name or gate.match}".',
            )


def _covers(wide: str, narrow: str) -> bool:
    """Whether `wide` plainly covers all of `narrow`: the same text, or the tool as a whole."""
    try:
        wide_name, wide_pattern = split_rule(wide)
        name, pattern = split_rule(narrow)
    except RuleRefused:
        return False
    return covers_name(wide_name, name) and wide_pattern in (None, pattern)


def _pattern(
    path: tuple[str | int, ...],
    text: str,
    key: str,
    settings: Settings,
    what: str,
    agents: tuple[str, ...] = (),
) -> Iterator[Mistake]:
    """A rule string that can't be read, or that names a tool no agent has."""
    try:
        rule = parse_rule(text, PermissionBehavior(key), "operator")
    except RuleRefused as error:
        yield Mistake(path, error.reason, error.remedy)
        return
    chosen = [a for name, a in settings.agents.items() if not agents or name in agents]
    names = [name for agent in chosen for name in tool_names(agent)]
    if not any(_meets(rule.tool_name, name) for name in names):
        given = [entry for agent in chosen for entry in agent.tools]
        remedy = suggestion(rule.tool_name, names) or f"Tools given: {', '.join(given) or 'none'}."
        yield Mistake(
            path, f'{what} can never match: no agent has a tool "{rule.tool_name}"', remedy
        )


def _meets(pattern: str, name: str) -> bool:
    """Whether a rule's tool name and an agent's tool name can mean the same tool."""
    if name.endswith("*"):
        return pattern.startswith(name[:-1]) or covers_name(pattern, name[:-1])
    return covers_name(pattern, name)


def _tool_words(settings: Settings) -> Iterator[Mistake]:
    names = [name for agent in settings.agents.values() for name in tool_names(agent)]
    for tool in settings.tools:
        if not any(_meets(tool, name) for name in names):
            yield Mistake(
                ("tools", tool), "describes a tool that no agent has", suggestion(tool, names)
            )


def _tasks(settings: Settings) -> Iterator[Mistake]:
    for name, task in settings.tasks.items():
        place = ("tasks", name)
        yield from _set((*place, "fulfillers"), task.fulfillers, settings)
        for key, schema in (("input", task.input), ("result", task.result)):
            try:
                check_schema(schema)
            except InvalidSchema as error:
                yield Mistake((*place, key), str(error))
            if schema.get("type") != "object":
                yield Mistake((*place, key), 'must describe an object: type = "object"')


def _accounts(settings: Settings) -> Iterator[Mistake]:
    """One account is one person: else two votes could come from the same hand."""
    owners: dict[tuple[str, str], str] = {}
    for name, person in settings.people.items():
        for surface in ("slack", "discord", "local"):
            account = getattr(person, surface)
            if account is None:
                continue
            other = owners.setdefault((surface, account), name)
            if other != name:
                yield Mistake(("people", name, surface), f'is already the account of "{other}"')
