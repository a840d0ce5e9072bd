"""The command `keyturn`: what it understands. What it does is in `bot.commands`.

Imported on every start, also for `--help`, so nothing heavy is imported here.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

VERSION = "0.1.0"

DONE = 0
REFUSED = 1
USAGE = 2
UNAVAILABLE = 3
WAITING = 4
INTERRUPTED = 130

_ABOUT = """\
Keyturn stops an AI agent before it does something dangerous, shows a person what exactly it wants
to do, and goes on when that person turned the key: approve once, modify, or reject.

A call that waits for a person is parked in a store on disk: nothing is lost when this program is
killed, and nothing runs that nobody approved. Silence never approves.
"""

_MORE = """\
try it
  keyturn demo                          a scripted agent on real files; you hold the key
  keyturn demo --script mixed           the same, with answers that were written beforehand

at work, with a keyturn.toml in this directory
  keyturn config check                  every mistake at once, with its line and remedy
  keyturn chat --agent ops              talk to an agent; its risky calls ask here
  keyturn ask --agent ops "rotate logs" one message, then leave (exit 4 if people must decide)
  keyturn pending                       what waits for people
  keyturn show 1a2b3c4d                 one call in full; the code stands on its card
  keyturn approve 1a2b3c4d              and the agent goes on
  keyturn reject 1a2b3c4d "wrong host"  and the agent is told why
  keyturn modify 1a2b3c4d --input '{"command": "rm old.log"}'
  keyturn fulfil 1a2b3c4d --input '{"confirmed": true}'

exit codes
  0  done              2  wrong arguments or configuration    4  waits for people
  1  refused           3  store, model or machine not able    130  interrupted, nothing lost

environment
  KEYTURN_CONFIG  the configuration file (default keyturn.toml)
  REDIS_URL       a Valkey or Redis of your own; default: an embedded one in .keyturn
  NO_COLOR        no colours
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="keyturn",
        description=_ABOUT,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _demo(commands)
    _conversation(commands)
    _questions(commands)
    _tasks(commands)
    _standing(commands)
    version = commands.add_parser("version", help="print the version")
    version.add_argument("--json", action="store_true", help="as one JSON line")
    return top


class Commands(Protocol):
    """What argparse returns for sub-commands; its own class has no public name."""

    def add_parser(
        self,
        name: str,
        *,
        help: str,  # noqa: A002 - argparse's word
        description: str = "",
    ) -> argparse.ArgumentParser:
        """Add a sub-command."""
        ...


def _demo(commands: Commands) -> None:
    demo = commands.add_parser(
        "demo",
        help="a scripted agent on real files; you hold the key",
        description="A scripted operations agent works on real files in a scratch directory and"
        " asks before it deletes or edits. Interrupt it where you like, even with kill -9: the"
        " next start goes on.",
    )
    demo.add_argument("--dir", type=Path, default=Path(".keyturn/demo"), help="scratch directory")
    demo.add_argument("--fresh", action="store_true", help="forget the last demo and start anew")
    demo.add_argument(
        "--script",
        choices=("approve", "mixed", "reject"),
        help="play these answers instead of asking; without a terminal: mixed",
    )
    _answers(demo)


def _conversation(commands: Commands) -> None:
    chat = commands.add_parser("chat", help="talk to an agent; its risky calls ask here")
    chat.add_argument("--agent", required=True, help="which agent of the configuration")
    chat.add_argument("--session", default="terminal", help="which conversation to go on with")
    _answers(chat)
    _common(chat)
    ask = commands.add_parser(
        "ask",
        help="send one message; exit 4 if people must decide",
        description="Send one message to an agent and follow the reply until it ends (exit 0) or"
        " waits for people (exit 4). Deciding is for `keyturn approve` and the others.",
    )
    ask.add_argument("message", help="the message; - reads it from standard input")
    ask.add_argument("--agent", required=True, help="which agent of the configuration")
    ask.add_argument("--session", default="", help="a conversation to go on with; default: new")
    _answers(ask)
    _common(ask)
    stop = commands.add_parser("stop", help="stop a reply: what is not started never runs")
    stop.add_argument("reply", help="reply id, as `keyturn pending` shows it")
    _common(stop)


def _questions(commands: Commands) -> None:
    pending = commands.add_parser("pending", help="what waits for people, oldest first")
    _common(pending)
    show = commands.add_parser("show", help="one call, or all calls of a reply, in full")
    show.add_argument("what", metavar="CALL|REPLY", help="code of a call, or reply id")
    _common(show)
    approve = _call(commands, "approve", "let a call run, once")
    approve.add_argument(
        "--reviewed", action="store_true", help="you have read all of `keyturn show CALL`"
    )
    approve.add_argument(
        "--always", type=int, nargs="+", default=[], metavar="N", help="accept offered rules too"
    )
    reject = _call(commands, "reject", "a call will not run; the agent is told")
    reject.add_argument("reason", nargs="?", default="", help="why, for the agent")
    modify = _call(commands, "modify", "change the input of a call and approve it so")
    _input(modify, "the changed input: JSON, @FILE or -; default: your $EDITOR")
    modify.add_argument("--yes", action="store_true", help="do not ask to confirm the difference")
    _call(commands, "cancel", "withdraw a call")
    unknown = _call(commands, "settle", "say what became of a run whose end is not proven")
    unknown.add_argument("outcome", choices=("done", "again", "abandon"))


def _tasks(commands: Commands) -> None:
    tasks = commands.add_parser("tasks", help="what people are asked to do")
    _common(tasks)
    _call(commands, "claim", "take a task, so that others know")
    _call(commands, "return", "hand a claimed task back")
    fulfil = _call(commands, "fulfil", "say what came of a task")
    _input(fulfil, "the result: JSON, @FILE or -; default: asks field by field")
    fulfil.add_argument("--yes", action="store_true", help="submit without reading back")


def _standing(commands: Commands) -> None:
    rules = commands.add_parser("rules", help="your allowlist: list, add, remove")
    actions = rules.add_subparsers(dest="action", metavar="ACTION", required=True)
    _common(actions.add_parser("list", help="your allowlist"))
    for name, help_text in (("add", "let such calls run unasked"), ("remove", "ask again")):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("rule", help='a rule, as in "Bash(git status:*)"')
        action.add_argument("--agent", required=name == "add", help="whose tools it is about")
        _common(action)
    mode = commands.add_parser("mode", help="how much your agents may do unasked")
    mode.add_argument(
        "mode", nargs="?", choices=("ask_every_time", "use_allowlist", "run_everything")
    )
    _common(mode)
    config = commands.add_parser("config", help="check the configuration")
    actions = config.add_subparsers(dest="action", metavar="ACTION", required=True)
    _common(actions.add_parser("check", help="every mistake at once, with its line and remedy"))


def _call(commands: Commands, name: str, help_text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_text)
    command.add_argument("call", metavar="CALL", help="code of the call, as its card shows it")
    _common(command)
    return command


def _input(command: argparse.ArgumentParser, help_text: str) -> None:
    command.add_argument("--input", metavar="JSON", help=help_text)


def _answers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--answer", metavar="FILE", help="read answers from here, one a line; - is standard input"
    )


def _common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--config", type=Path, help="configuration file (default keyturn.toml)")
    command.add_argument("--json", action="store_true", help="JSON lines, for programs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `keyturn` and return its exit code."""
    options = parser().parse_args(arguments)
    if options.command == "version":
        print(f'{{"keyturn": "{VERSION}"}}' if options.json else f"keyturn {VERSION}")
        return DONE
    from bot.commands import run  # noqa: PLC0415 - `--help` must not wait for this import

    try:
        return run(options)
    except KeyboardInterrupt:
        print("\nInterrupted. What was decided is kept; the next start goes on.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return DONE
