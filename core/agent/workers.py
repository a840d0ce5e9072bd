"""Tasks that stream their events to one reader."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeAlias, TypeVar

from core.events import AgentEvent

_T = TypeVar("_T")

Send: TypeAlias = Callable[[AgentEvent], Awaitable[None]]
"""Hands an event to the reader and returns once the reader comes back for more."""

Worker: TypeAlias = Callable[[Send], Awaitable[None]]


class Workers:
    """Workers, and the one stream of what they say.

    The next worker starts when those before it have nothing to say for the moment, so what is
    quick comes whole and in order, and what waits does not keep the others waiting. An event is
    read before its worker goes on: whoever stores each event knows of a start before the tool runs.
    """

    def __init__(self, workers: Iterable[Worker]) -> None:
        self._waiting = deque(workers)
        self._said: asyncio.Queue[tuple[AgentEvent, asyncio.Future[None]] | None] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._running = 0
        self._read = True
        self._failure: Exception | None = None

    def stop(self) -> None:
        """Cancel what runs and begin nothing more; the stream goes on until all have ended."""
        self._waiting.clear()
        for task in self._tasks:
            task.cancel()

    async def events(self) -> AsyncGenerator[AgentEvent]:
        """What the workers say. Ends when all have ended, then raises what the first to fail
        raised; the others are not cut off by that."""
        async with asyncio.TaskGroup() as group:
            try:
                while self._waiting or self._running:
                    if self._waiting and self._said.empty():
                        await self._begin(group)
                        continue
                    said = await self._said.get()
                    if said is None:
                        continue
                    event, read = said
                    yield event
                    if not read.done():
                        read.set_result(None)
                    await asyncio.sleep(0)
            except GeneratorExit:
                # Nobody reads any more. A TaskGroup would take this for a failure of its own.
                self.stop()
            finally:
                self._read = False
        if self._failure is not None:
            raise self._failure

    async def _begin(self, group: asyncio.TaskGroup) -> None:
        self._running += 1
        task = group.create_task(self._work(self._waiting.popleft()))
        task.add_done_callback(self._ended)  # a task that is cancelled at once never runs at all
        self._tasks.append(task)
        await asyncio.sleep(0)

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._running -= 1
        self._said.put_nowait(None)

    async def _work(self, worker: Worker) -> None:
        try:
            await worker(self._send)
        except Exception as error:  # noqa: BLE001 - raised again by `events`
            self._failure = self._failure or error

    async def _send(self, event: AgentEvent) -> None:
        if not self._read:
            return
        read = asyncio.get_running_loop().create_future()
        self._said.put_nowait((event, read))
        await read


@asynccontextmanager
async def closed(stream: AsyncIterator[_T]) -> AsyncGenerator[AsyncIterator[_T]]:
    """Close a stream that somebody else's code gives, however the reading of it ends."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
