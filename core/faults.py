"""What may be logged of an error: its kind and where it was raised, never what it says.

Messages of foreign errors quote values (pydantic's quote the whole input), and a value may be a
secret.
"""

from collections.abc import Iterator
from traceback import walk_tb
from typing import cast

FRAMES = 6
"""Most places that are named of one error, the innermost ones."""


def outline(error: BaseException) -> str:
    """Kinds and places of an error, and of all those in a group."""
    return "; ".join(map(_outline, _leaves(error)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _outline(error: BaseException) -> str:
    places = [
        f"{frame.f_globals.get('__name__', '?')}:{line}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-FRAMES:])) or 'nowhere'}"
