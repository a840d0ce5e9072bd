"""Tools of the stories."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.models.scripted import Call
from core.functions import tool
from core.messages import TextBlock, ToolResultState
from core.permissions.functions import FunctionPermissions
from core.tools import Chunk, Input, Run, ToolPermissions, Traits


class Shop:
    """A tool that leaves traces."""

    def __init__(self) -> None:
        self.refunded: list[tuple[str, float]] = []
        self.mailed: list[str] = []

        @tool(title="Refund {amount} to {customer}", destination=("customer",))
        def refund(customer: str, amount: float) -> str:
            """Pay money back.

            Args:
                customer: who gets it.
                amount: how much, in euros.
            """
            self.refunded.append((customer, amount))
            return f"refunded {amount} to {customer}"

        @tool()
        def mail(customer: str) -> str:
            """Write to somebody.

            Args:
                customer: to whom.
            """
            self.mailed.append(customer)
            return f"wrote to {customer}"

        self.refund = refund
        self.mail = mail


def refund_call(amount: float = 12.5, call_id: str = "c1") -> Call:
    return Call("refund", json.dumps({"customer": "Kim", "amount": amount}), call_id)


@dataclass
class Press:
    """A machine that can be held in the middle of its work.

    Attributes:
        alone: it must not work beside another machine.
        failure: what it raises instead of ending well.
    """

    name: str = "press"
    idempotent: bool = False
    alone: bool = False
    ground: str = "hall 1"
    runs: list[Run] = field(default_factory=list[Run])
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    holding: bool = False
    failure: Exception | None = None

    description = "Press something."
    input_schema: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}, "additionalProperties": False}
    )

    @property
    def traits(self) -> Traits:
        return Traits(idempotent=self.idempotent, concurrency_safe=not self.alone)

    @property
    def permissions(self) -> ToolPermissions:
        return FunctionPermissions(self.name)

    def context(self, value: Input) -> Mapping[str, str]:
        return {"place": self.ground}

    async def run(self, value: Input, run: Run) -> AsyncIterator[Chunk]:
        self.runs.append(run)
        self.begun.set()
        if self.holding:
            self.held.set()
            await self.let_go.wait()
        if self.failure is not None:
            raise self.failure
        yield Chunk((TextBlock(text="pressed"),), ToolResultState.SUCCESS)


PRESS = Call("press", "{}", "c1")
