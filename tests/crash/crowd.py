"""The people: they send messages, look at the board, press buttons, some of them twice, and keep
their own list of what they were told."""

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count

from core.calls import CallKey
from tests.crash.board import Board, Message
from tests.crash.herd import Herd
from tests.crash.office import DECIDERS, TOOLS
from tests.crash.verdict import Asking, Click

SENDERS = 4
LOOK_S = 0.2
BUSY = 12
"""With so many replies open, nobody sends another message."""
LEFT_OPEN = 25
"""One question in so many is left open at the end."""
Asked = tuple[CallKey, int, str]


@dataclass(slots=True)
class Crowd:
    """Everybody around the board.

    Attributes:
        unanswered: how many messages have no final answer yet; senders wait when it is too many.
    """

    herd: Herd
    board: Board
    dice: random.Random
    unanswered: Callable[[], int]
    askings: list[Asking] = field(default_factory=list[Asking])
    clicks: list[Click] = field(default_factory=list[Click])
    faults: list[str] = field(default_factory=list[str])
    over: bool = False
    calm: bool = False
    waiting: int = 0
    _known: dict[str, tuple[int, Message]] = field(default_factory=dict[str, tuple[int, Message]])
    _answered: set[Asked] = field(default_factory=set[Asked])

    async def send(self, group: asyncio.TaskGroup, sender: int) -> None:
        """Send messages, while others do the same, until things calm down."""
        for thread in count():
            if self.calm:
                return
            session = f"s{sender}-{thread}"
            for _ in range(self.dice.randint(1, 3)):
                while self.unanswered() > BUSY and not self.calm:  # noqa: ASYNC110 - a look
                    await asyncio.sleep(LOOK_S)
                await self._ask(session, group)

    async def _ask(self, session: str, group: asyncio.TaskGroup) -> None:
        asking = Asking(f"m{len(self.askings)}", session)
        self.askings.append(asking)
        text = json.dumps(self._plan())
        act = {"act": "ask", "session": session, "text": text, "op": asking.op}
        if self.dice.random() < 0.15:
            group.create_task(self._told_reply(asking, act))  # the platform sends it twice
        await self._told_reply(asking, act)

    async def _told_reply(self, asking: Asking, act: dict[str, str]) -> None:
        self.waiting += 1
        said = await self.herd.insist(act)
        self.waiting -= 1
        if reply_id := said.get("reply_id"):
            asking.acked.append(reply_id)
        else:
            self.faults.append(f"message {asking.op} was answered {said}")

    def _plan(self) -> list[list[tuple[str, int]]]:
        turns = self.dice.choice((1, 1, 2))
        return [
            [
                (self.dice.choice(TOOLS), self.dice.randint(1, 999))
                for _ in range(self.dice.choice((1, 1, 2, 3)))
            ]
            for _ in range(turns)
        ]

    async def watch(self, group: asyncio.TaskGroup) -> None:
        """Look at the board, and answer what it asks, until it is over."""
        while not self.over:
            for message in self.board.messages(self._known):
                state, key = message.view["state"], message.card.call
                asked = (key, message.view["revision"], state)
                if state not in {"pending", "task", "unknown"} or asked in self._answered:
                    continue
                self._answered.add(asked)
                if self._left_open(key):
                    continue
                group.create_task(self._answer(message, group))
            await asyncio.sleep(LOOK_S)

    def _left_open(self, key: CallKey) -> bool:
        """Nobody has an answer to a few of the last ones."""
        name = f"{key.reply_id}/{key.call_id}".encode()
        return self.calm and int.from_bytes(sha256(name).digest()[:4], "big") % LEFT_OPEN == 0

    async def _answer(self, message: Message, group: asyncio.TaskGroup) -> None:
        await asyncio.sleep(self.dice.random() * 0.6)
        for who, act in self._choices(message.view["state"], message):
            click = self._click(message, who, act)
            for _ in range(2 if self.dice.random() < 0.25 else 1):
                group.create_task(self._press(click))

    def _choices(self, state: str, message: Message) -> list[tuple[str, str]]:
        """Who does what about a question; two who approve, for what needs two."""
        ana, bo, _ = self.dice.sample(DECIDERS, 3)
        if state == "task":
            return [(ana, "fulfil")]
        if state == "unknown":
            act = self.dice.choices(("approve", "fulfil", "reject"), (5, 3, 2))[0]
            return [(ana, act), (bo, "approve")] if act == "approve" else [(ana, act)]
        act = self.dice.choices(("approve", "reject", "modify"), (7, 1, 2))[0]
        choices = [(ana, act)]
        if act != "reject":
            choices.append((bo, "approve"))
        if self.dice.random() < 0.1:
            choices.append((bo, "reject"))
        if self.dice.random() < 0.05:
            choices.insert(0, ("rita", "approve"))
        return choices

    def _click(self, message: Message, who: str, act: str) -> Click:
        shown = next(row for row in message.view["arguments"] if row["label"].lower() == "value")
        value = int(shown["shown"]["text"])
        view = message.view
        if act == "modify":
            value = self.dice.randint(1000, 1999)
        op = f"c{len(self.clicks)}"
        click = Click(op, message.card.call, view["revision"], who, act, value, view["state"])
        self.clicks.append(click)
        return click

    async def _press(self, click: Click) -> None:
        await asyncio.sleep(self.dice.random() * 0.1)
        key = [click.key.reply_id, click.key.call_id, click.key.turn]
        act = {
            "act": click.act,
            "key": key,
            "revision": click.revision,
            "who": click.who,
            "value": click.value,
            "op": click.op,
        }
        self.waiting += 1
        said = await self.herd.insist(act)
        self.waiting -= 1
        if "ok" in said:
            click.answers.append((said["ok"], said["said"]))
        else:
            self.faults.append(f"{click.act} {click.op} was answered {said}")
