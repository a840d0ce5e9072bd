"""The store's clock: what deadlines are compared with."""

from asyncio import get_running_loop
from dataclasses import dataclass

from adapters.redis.connection import store_errors
from adapters.redis.keys import Keys
from adapters.redis.line import Line

_RECKONED_SECONDS = 10


@dataclass(slots=True)
class StoreClock:
    """Asks the server for its time, which never goes back."""

    line: Line
    _ahead: float = 0.0
    _good_until: float = 0.0

    async def now(self) -> int:
        """Milliseconds since 1970.

        Raises:
            StoreUnavailable: no answer.
        """
        return (await self._read())[0]

    async def about(self) -> int:
        """The time that an id bears, for people who sort, where nothing is decided by it: asked
        once in ten seconds and reckoned on in between.

        Raises:
            StoreUnavailable: no answer.
        """
        here = get_running_loop().time()
        if here < self._good_until:
            return int(here * 1000 + self._ahead)
        now, stands = await self._read()
        if not stands:
            self._ahead, self._good_until = now - here * 1000, here + _RECKONED_SECONDS
        return now

    async def _read(self) -> tuple[int, bool]:
        """The time, and whether a test has made it stand."""
        asked = ("HMGET", Keys(0).clock, "fixed", "last"), ("TIME",)
        async with store_errors():
            (fixed, last), (seconds, micros) = await self.line.ask_all(asked)
        if fixed:
            return int(fixed), True
        return max(int(seconds) * 1000 + int(micros) // 1000, int(last or 0)), False
