"""What the sub-commands of `keyturn` do."""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module

from bot.cli import REFUSED, UNAVAILABLE, USAGE
from core.errors import InvalidSettings, KeyturnError, SetupRefused, StoreError

_HOMES = {
    "demo": "bot.demo.play",
    "chat": "bot.commands.talk",
    "ask": "bot.commands.talk",
    "stop": "bot.commands.talk",
    "pending": "bot.commands.look",
    "tasks": "bot.commands.look",
    "show": "bot.commands.look",
    "rules": "bot.commands.standing",
    "mode": "bot.commands.standing",
    "config": "bot.commands.standing",
}
_DECIDING = "bot.commands.decide"

Command = Callable[[argparse.Namespace], Awaitable[int]]


def run(options: argparse.Namespace) -> int:
    """Run one command and return its exit code; what went wrong is said with what to do."""
    command: Command = import_module(_HOMES.get(options.command, _DECIDING)).command
    try:
        return asyncio.run(_awaited(command(options)))
    except InvalidSettings as error:
        return _said(error, USAGE)
    except SetupRefused as error:
        return _said(error, UNAVAILABLE)
    except StoreError as error:
        return _said(error, UNAVAILABLE, "Nothing new is recorded. Try again in a moment.")
    except KeyturnError as error:
        return _said(error, REFUSED)
    except PermissionError as error:
        return _said(error, UNAVAILABLE, "Give this user the right to it, or choose another place.")


async def _awaited(command: Awaitable[int]) -> int:
    return await command


def _said(error: Exception, code: int, more: str = "") -> int:
    words = f"{error}\n{more}".strip()
    print(words, file=sys.stderr)
    return code


def environment() -> dict[str, str]:
    """The environment of this process."""
    return dict(os.environ)
