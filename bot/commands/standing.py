"""`keyturn rules`, `keyturn mode` and `keyturn config check`: what holds without being asked."""

import argparse
import os
import sys

from adapters.terminal.channel import console_for
from bot.cli import DONE, REFUSED, USAGE
from bot.commands.exchange import say
from bot.commands.opening import config_file, opened, settings_for
from bot.settings import Settings
from bot.settings.checks import tool_names
from bot.settings.mistakes import suggestion
from bot.wiring import Keyturn
from core.permissions.rule_strings import covers_name, parse_rule, print_rule, split_rule
from core.permissions.rules import AutoRunMode, PermissionBehavior
from core.ports import Allowed

_EXPLAINED = {
    AutoRunMode.ASK_EVERY_TIME: "every call asks, read-only ones too",
    AutoRunMode.USE_ALLOWLIST: "what your allowlist covers runs unasked",
    AutoRunMode.RUN_EVERYTHING: "everything runs unasked, except what gates and deny rules stop",
}


async def command(options: argparse.Namespace) -> int:
    """Run the one that was named."""
    if options.command == "config":
        return _check(options)
    async with opened(options) as keyturn:
        if options.command == "mode":
            return await _mode(options, keyturn)
        actions = {"list": _list, "add": _add, "remove": _remove}
        return await actions[options.action](options, keyturn)


def _check(options: argparse.Namespace) -> int:
    settings = settings_for(options)
    if options.json:
        say({"ok": True, "agents": list(settings.agents), "gates": 1 + len(settings.gates.list)})
        return DONE
    agents, gates = ", ".join(settings.agents), len(settings.gates.list)
    print(f"{config_file(options)} is right: agents {agents}; {gates} gates and the default one.")
    for warning in _warnings(settings):
        print(f"Note: {warning}")
    return DONE


def _warnings(settings: Settings) -> list[str]:
    loose = [name for name, agent in settings.agents.items() if agent.sandbox == "none"]
    found = [f'agent {name} runs commands without a sandbox (sandbox = "none")' for name in loose]
    if settings.local.self_approval != "never":
        found.append("people may approve their own low-risk calls (local.self_approval)")
    return found


def _me(keyturn: Keyturn) -> str:
    return keyturn.people.voter(keyturn.me.id)


async def _list(options: argparse.Namespace, keyturn: Keyturn) -> int:
    entries = await keyturn.preferences.allowlist(_me(keyturn))
    console = console_for(sys.stdout, dict(os.environ))
    if not entries and not options.json:
        console.write(f"The allowlist of {_me(keyturn)} is empty.")
    for entry in entries:
        if options.json:
            say({"rule": print_rule(entry.rule), "author": entry.author, "at_ms": entry.added_at})
        else:
            console.write(f"{print_rule(entry.rule)}  (by {entry.author})")
    return DONE


async def _add(options: argparse.Namespace, keyturn: Keyturn) -> int:
    """Only for tools that the agent has, and only rules that those tools accept."""
    agent = keyturn.settings.agents.get(options.agent)
    if agent is None:
        known = list(keyturn.settings.agents)
        print(f"There is no such agent. {suggestion(options.agent, known)}", file=sys.stderr)
        return USAGE
    rule = parse_rule(options.rule, PermissionBehavior.ALLOW, f"person:{_me(keyturn)}")
    tools = [t for t in keyturn.roster[options.agent].tools if covers_name(rule.tool_name, t.name)]
    if not tools:
        has = ", ".join(tool_names(agent))
        print(f"{options.agent} has no tool {rule.tool_name!a}. It has: {has}.", file=sys.stderr)
        return USAGE
    for tool in tools:
        tool.permissions.check_rule(rule)
    now = await keyturn.ledger.now()
    entry = Allowed(rule, keyturn.me.id, "keyturn rules add", now)
    added = await keyturn.preferences.allow(_me(keyturn), entry)
    return _told(options, f"{print_rule(rule)} {'added' if added else 'was there already'}.", True)


async def _remove(options: argparse.Namespace, keyturn: Keyturn) -> int:
    name, content = split_rule(options.rule)
    removed = await keyturn.preferences.disallow(_me(keyturn), name, content)
    words = "removed." if removed else "is not on your allowlist. `keyturn rules list` shows it."
    return _told(options, f"{options.rule} {words}", removed)


async def _mode(options: argparse.Namespace, keyturn: Keyturn) -> int:
    if options.mode is not None:
        await keyturn.preferences.set_mode(_me(keyturn), AutoRunMode(options.mode))
    mode = await keyturn.preferences.mode(_me(keyturn))
    if options.json:
        say({"person": _me(keyturn), "mode": mode.value})
        return DONE
    print(f"{mode.value}: {_EXPLAINED[mode]}.")
    for name, agent in keyturn.settings.agents.items():
        if list(AutoRunMode).index(agent.max_auto_run) < list(AutoRunMode).index(mode):
            print(f"Note: for agent {name} the operator allows no more than {agent.max_auto_run}.")
    return DONE


def _told(options: argparse.Namespace, words: str, ok: bool) -> int:
    if options.json:
        say({"ok": ok, "said": words})
    else:
        print(words)
    return DONE if ok else REFUSED
