"""One connection that all scripts and reads share.

What is asked in the same moment goes out in one write, and answers come back in order: a process
with fifty replies in flight pays for a few sends, not for fifty connections. Everything that is
asked here is sent again after a lost connection, so it must be a read or a replay-safe script.
Waiting commands (BLOCK, WAIT) don't belong here: everybody behind them would wait as well.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

import hiredis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - the library's, as everywhere in this adapter
    MasterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,  # noqa: A004
    TryAgainError,
)

Part = str | bytes | int
ANSWER_SECONDS = 5
"""How long an answer may take before the connection counts as lost."""
_TRIES = 4
_NOTHING = object()
_ERRORS: dict[str, type[Exception]] = {
    "CLUSTERDOWN": ClusterDownError,
    "LOADING": BusyLoadingError,
    "MASTERDOWN": MasterDownError,
    "NOAUTH": AuthenticationError,
    "NOPERM": NoPermissionError,
    "NOSCRIPT": NoScriptError,
    "OOM": OutOfMemoryError,
    "READONLY": ReadOnlyError,
    "TRYAGAIN": TryAgainError,
    "WRONGPASS": AuthenticationError,
}


def error_of(text: str) -> Exception:
    """The library's exception for an error answer; the code stays in its text."""
    return _ERRORS.get(text.partition(" ")[0], ResponseError)(text)


class _Link(asyncio.Protocol):
    """An open connection: commands out, answers in, matched by order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: Any) -> None:
        self.loop = loop
        self.open = True
        self.gone = asyncio.Event()
        self._transport = transport
        self._former: Any = transport.get_protocol()
        self._reader = hiredis.Reader(replyError=error_of, notEnoughData=_NOTHING)
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._unsent: list[bytes] = []
        self._taken = 0
        self._watched: asyncio.TimerHandle | None = None
        transport.set_protocol(self)

    def send(self, command: Sequence[Part]) -> "asyncio.Future[Any]":
        """Put a command into this moment's write; its answer."""
        answer: asyncio.Future[Any] = self.loop.create_future()
        packed = hiredis.pack_command(cast(Any, command))
        if not self._unsent:
            self.loop.call_soon(self._flush)
        self._unsent.append(packed)
        self._waiting.append(answer)
        if self._watched is None:
            self._watched = self.loop.call_later(ANSWER_SECONDS, self._watch, self._taken)
        return answer

    def data_received(self, data: bytes) -> None:
        """Hand out every answer that is complete."""
        self._reader.feed(data)
        try:
            while (found := self._reader.gets()) is not _NOTHING:
                if not isinstance(found, hiredis.PushNotification):
                    self._hand_out(found)
        except hiredis.ProtocolError:
            self.lose(ConnectionError("The store sent something that is no answer."))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody gets an answer any more."""
        self._former.connection_lost(exc)
        self.gone.set()
        self.lose(ConnectionError("The connection to the store was lost."))

    def lose(self, why: Exception) -> None:
        """Close, and tell everybody who waits."""
        self.open = False
        self._transport.abort()
        if self._watched is not None:
            self._watched.cancel()
        while self._waiting:
            answer = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(why)

    def _hand_out(self, found: Any) -> None:
        self._taken += 1
        answer = self._waiting.popleft()
        if answer.done():
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self.open:
            self._transport.write(b"".join(unsent))

    def _watch(self, taken_before: int) -> None:
        self._watched = None
        if not self._waiting:
            return
        if self._taken == taken_before:
            self.lose(TimeoutError("The store gave no answer in time."))
            return
        self._watched = self.loop.call_later(ANSWER_SECONDS, self._watch, self._taken)


class Line:
    """The shared connection, opened when it is first needed and again after it was lost."""

    def __init__(self, pool: Any) -> None:
        """`pool`: knows how a connection is made (address, password, encryption)."""
        self._pool = pool
        self._link: _Link | None = None
        self._opening: asyncio.Future[None] | None = None
        self._connection: Any = None
        self._backoff = ExponentialWithJitterBackoff(cap=1, base=0.05)

    async def ask(self, *command: Part) -> Any:
        """The answer to one command.

        Raises:
            RedisError: the server's refusal, no connection, or no answer in time.
        """
        for lost in range(1, _TRIES):
            link = self._ready() or await self._opened()
            try:
                return await link.send(command)
            except (ConnectionError, TimeoutError):
                await asyncio.sleep(self._backoff.compute(lost))
        link = self._ready() or await self._opened()
        return await link.send(command)

    async def ask_all(self, commands: Sequence[Sequence[Part]]) -> list[Any]:
        """The answers to commands that go out together; nobody else's come between.

        Raises:
            RedisError: as `ask`; of several refusals the first one.
        """
        for lost in range(1, _TRIES):
            try:
                return await self._sent_together(commands)
            except (ConnectionError, TimeoutError):
                await asyncio.sleep(self._backoff.compute(lost))
        return await self._sent_together(commands)

    async def _sent_together(self, commands: Sequence[Sequence[Part]]) -> list[Any]:
        link = self._ready() or await self._opened()
        answers = [link.send(command) for command in commands]
        await asyncio.wait(answers)
        wrong = [answer.exception() for answer in answers]
        for refusal in filter(None, wrong):
            raise refusal
        return [answer.result() for answer in answers]

    async def close(self) -> None:
        """Let the connection go."""
        link, self._link = self._link, None
        if link is not None:
            link.lose(ConnectionError("The connection to the store was closed."))
            await link.gone.wait()
        await self._forget()

    def _ready(self) -> _Link | None:
        link = self._link
        return link if link is not None and link.open else None

    async def _opened(self) -> _Link:
        """One caller opens it; those who come meanwhile share what comes of it."""
        while (link := self._ready()) is None:
            if self._opening is not None:
                await asyncio.shield(self._opening)
                continue
            self._opening = opening = asyncio.get_running_loop().create_future()
            try:
                self._link = await self._open()
            except Exception as wrong:
                opening.set_exception(wrong)
                opening.exception()
                raise
            finally:
                self._opening = None
                if not opening.done():
                    opening.set_result(None)
        return link

    async def _open(self) -> _Link:
        await self._forget()
        self._connection = self._pool.make_connection()
        await self._connection.connect()
        # The library has opened it, encrypted it and logged in; from here on its bytes are ours.
        return _Link(asyncio.get_running_loop(), self._connection._writer.transport)  # noqa: SLF001

    async def _forget(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)
