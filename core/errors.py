"""Every error that Keyturn raises on purpose.

::

    KeyturnError
    ├── InvalidInput         what was written is not a readable input of a call
    ├── InvalidSchema        a tool's schema that nothing can be checked against
    ├── InvalidSettings      a configuration with mistakes; names all of them
    ├── RuleRefused          a permission rule that can't be saved (reason and remedy)
    ├── InvalidToken         a button's token that we did not make, or not for here
    ├── NotAuthorised        the actor has no right to this, now
    ├── ReplyOpen            a reply runs or waits, so nothing new can be taken in
    ├── ResumeRefused        an answer to a parked reply that can't be taken
    │   ├── NotWaiting       the reply waits for nothing, or not for this
    │   ├── UnknownCall      the reply has no such call
    │   └── ForeignReply     the answer names another reply
    ├── SetupRefused         the machine or the installation lacks what is configured
    ├── ToolFailed           a tool could not do what it was asked
    │   └── OutcomeUnknown   it was started, and its end can't be proven
    ├── GroundsUnknown       what a call would run on can't be told now
    ├── ModelFailed          a language model refused or could not be reached
    ├── OutOfStep            ledger and loop disagree about a reply: a fault of ours
    ├── SurfaceUnavailable   the chat did not take a card; it is tried again
    └── StoreError           the store could not do its part
        ├── StoreUnavailable no answer in time; nothing is known to be recorded
        └── StoreDamaged     what is stored can't be read or is not what we sealed

Messages of these errors may be shown to people and to the model, so they never
quote a value out of an input: it may be a secret.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.messages import ErrorType


class KeyturnError(Exception):
    """Base of all errors that Keyturn raises on purpose."""


class InvalidInput(KeyturnError):
    """An `input` string that is not one plain JSON object within our limits.

    `reason` is a short stable name of the fault (``duplicate_key``, ``too_deep``, …), for
    metrics and tests; `str()` is the sentence for people and the model.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class InvalidSchema(KeyturnError):
    """A tool's JSON schema that is itself wrong, or refers to something we do not fetch."""


class InvalidSettings(KeyturnError):
    """A configuration that can't be used. The message names every mistake, its line and remedy."""


class RuleRefused(KeyturnError):
    """A permission rule that can't be saved. `remedy` says what to write instead."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}".strip())
        self.reason = reason
        self.remedy = remedy


class InvalidToken(KeyturnError):
    """A button's token that is malformed, forged, altered, or made for another place."""


class NotAuthorised(KeyturnError):
    """The actor may not do this, now. The message is the private answer to that person."""


class ReplyOpen(KeyturnError):
    """A reply runs or waits for people, so no message can be taken in; nothing was kept."""


class ResumeRefused(KeyturnError):
    """An answer to a parked reply that can't be taken; the reply stays as it is."""


class NotWaiting(ResumeRefused):
    """The reply, or this call of it, waits for no such answer."""


class UnknownCall(ResumeRefused):
    """The reply has no call of that id."""


class ForeignReply(ResumeRefused):
    """The answer names another reply than the one that is parked here."""


class SetupRefused(KeyturnError):
    """What is configured can't work on this machine; the message says what to do about it."""


class ToolFailed(KeyturnError):
    """A tool could not do what it was asked. The message is the result that the model reads."""


class OutcomeUnknown(ToolFailed):
    """A tool was started and its end can't be proven: it may or may not have taken effect."""


class GroundsUnknown(KeyturnError):
    """A tool can't say now what a call of it would run on; so the call can't be bound, or run."""


class ModelFailed(KeyturnError):
    """A language model refused or could not be reached, retries included.

    `kind` tells what sort of failure it was; the message names provider and cause, never a key
    and never what was said to the model.
    """

    def __init__(self, kind: "ErrorType", message: str) -> None:
        super().__init__(message)
        self.kind = kind


class StoreError(KeyturnError):
    """The store could not do its part. Nothing may be taken as recorded."""


class StoreUnavailable(StoreError):
    """The store gave no answer in time. What was asked of it may or may not have happened."""


class StoreDamaged(StoreError):
    """A stored record can't be read, or is not the one that was sealed."""


class SurfaceUnavailable(KeyturnError):
    """The chat did not take a card or an edit. Nothing is lost: the order is carried out again."""


class OutOfStep(KeyturnError):
    """Ledger and loop disagree about a reply. A fault of Keyturn: nothing of the reply goes on."""
