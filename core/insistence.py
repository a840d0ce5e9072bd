"""Insisting: the same request again, until the store has answered.

A store that gave no answer may have done what it was asked. Every request carries a name of its
own, so sending it again does no more than to fetch the answer.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.errors import StoreUnavailable
from core.ports import Clock

T = TypeVar("T")

RETRY_S = 0.5
"""How long to wait before a request is sent again to a store that did not answer."""


async def insist(
    send: Callable[[], Awaitable[T]], clock: Clock, seconds: float = float("inf")
) -> T:
    """What the store answers, asked again and again for `seconds`.

    Raises:
        StoreUnavailable: there was no answer in all that time.
    """
    until = clock.monotonic() + seconds
    while True:
        try:
            return await send()
        except StoreUnavailable:
            if clock.monotonic() >= until:
                raise
            await clock.sleep(RETRY_S)
