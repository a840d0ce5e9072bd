"""What only this machine can give: time, randomness, and who sits here."""

import asyncio
import os
import pwd
import secrets
import time
from datetime import UTC, datetime

from core.calls import Actor

LOCAL = "local"


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present, aware and in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock

    def monotonic(self) -> float:
        """Seconds that only ever go forward."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class RandomIds:
    """Ids from the operating system's randomness."""

    def new(self) -> str:
        """32 hex characters, 128 random bits."""
        return secrets.token_hex(16)


def login_name() -> str:
    """Who runs this process, as the system knows it; never what the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def local_person() -> Actor:
    """The person at this terminal, verified by the operating system's login."""
    name = login_name()
    return Actor("person", f"{LOCAL}:{name}", name, "terminal")
