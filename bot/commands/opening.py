"""Opening Keyturn for a command: the configuration, the parts at work, a call by its code."""

import argparse
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from adapters.terminal.channel import Activity, Console, TerminalSurface, console_for
from adapters.terminal.payloads import read_code
from bot.chat import at_work
from bot.machine import SystemClock
from bot.settings import Settings, read_settings
from bot.settings.tool_rules import check_tool_rule
from bot.wiring import Keyturn, Outside, open_keyturn
from core.calls import Call, Reply, ReplyState
from core.errors import KeyturnError
from core.events import AgentEvent

CONFIG = "KEYTURN_CONFIG"
DEFAULT_CONFIG = "keyturn.toml"
POLL_S = 0.05


class NotFound(KeyturnError):
    """What was named is not there, or not the only one."""


class Hears:
    """Passes what replies stream on to the terminal."""

    def __init__(self, console: Console | None) -> None:
        self._activity = Activity(console) if console is not None else None

    async def happened(self, reply: Reply, event: AgentEvent) -> None:
        """Write it."""
        if self._activity is not None:
            self._activity.on(event)


def config_file(options: argparse.Namespace) -> Path:
    """The configuration file: the option, the environment, or the default."""
    return Path(options.config or os.environ.get(CONFIG) or DEFAULT_CONFIG)


def settings_for(options: argparse.Namespace) -> Settings:
    """The configuration, checked.

    Raises:
        InvalidSettings: names every mistake.
    """
    return read_settings(config_file(options), check_tool_rule)


@asynccontextmanager
async def opened(
    options: argparse.Namespace, console: Console | None = None
) -> AsyncGenerator[Keyturn]:
    """Keyturn as the configuration describes it; what replies stream goes to `console`."""
    with unwrapped():
        settings = settings_for(options)
        outside = Outside(config_file(options), dict(os.environ), Hears(console))
        async with open_keyturn(settings, outside) as keyturn:
            yield keyturn


@contextmanager
def unwrapped() -> Generator[None]:
    """Raise the first error of a group as itself: one cause, one sentence for the person."""
    try:
        yield
    except* KeyturnError as group:
        raise _first(group) from None


def _first(group: ExceptionGroup[KeyturnError]) -> KeyturnError:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first


async def find_call(keyturn: Keyturn, text: str) -> tuple[Reply, Call]:
    """The one open call whose code begins so.

    Raises:
        NotFound: there is none, or more than one: nothing is guessed.
    """
    code = read_code(text)
    if code is None:
        raise NotFound(f"{text[:40]!a} is no code. `keyturn pending` lists the codes.")
    calls = [c for c in await keyturn.gateway.pending() if c.digest.startswith(code)]
    if len(calls) > 1:
        raise NotFound(f"{len(calls)} open calls begin with #{code}. Write more of the code.")
    reply = await keyturn.ledger.reply(calls[0].key.reply_id) if calls else None
    if reply is None:
        raise NotFound(
            f"No open call has the code #{code}. It may be decided, or changed, which gives it a"
            " new code. `keyturn pending` lists what is open."
        )
    return reply, calls[0]


async def work_off(keyturn: Keyturn, reply_id: str, console: Console | None) -> Reply | None:
    """Work on a reply until it has ended or waits for people; the reply as it then is."""
    surface = TerminalSurface(console or console_for(open_null(), {}), SystemClock())
    async with at_work(keyturn, surface):
        while True:
            reply = await keyturn.ledger.reply(reply_id)
            if reply is None or reply.state in (ReplyState.PARKED, ReplyState.CLOSED):
                return reply
            await keyturn.clock.sleep(POLL_S)


def open_null() -> Any:
    """A stream that keeps nothing."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - as long as the process
