"""What went wrong with a provider: in our words, and whether trying again may help."""

import re

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UserError,
)

from core.errors import ModelFailed
from core.messages import ErrorType

ATTEMPTS = 5
"""How often one model turn is tried."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds between tries: doubled each time, and drawn at random between a half and the whole."""

LONGEST_REQUEST = 60.0
"""Seconds that a provider may ask us to wait; more is a failure, which people should see."""

Failure = AgentRunError | UserError

_RETRIED = (
    ModelRateLimitError,
    ModelUnavailableError,
    ModelServerError,
    ModelConnectionError,
    ModelRequestTimeout,
)
_KINDS: tuple[tuple[type[Exception], ErrorType, str], ...] = (
    (ModelRateLimitError, ErrorType.RATE_LIMIT, "is asked too often"),
    (ModelQuotaExceededError, ErrorType.RATE_LIMIT, "says that the quota is used up"),
    (ModelUnavailableError, ErrorType.UPSTREAM, "is overloaded or unavailable"),
    (ModelServerError, ErrorType.UPSTREAM, "had an error of its own"),
    (ModelConnectionError, ErrorType.CONNECTION, "could not be reached, or the connection broke"),
    (ModelRequestTimeout, ErrorType.CONNECTION, "did not answer in time"),
    (ModelRequestRejectedError, ErrorType.INVALID_REQUEST, "refused the request"),
    (UserError, ErrorType.SETUP, "can't be used as it is set up"),
)


def failure(model: str, error: Failure) -> ModelFailed:
    """The error for the rest of Keyturn. Its message quotes no answer of the provider, which may
    repeat what was said to it, but only status and code."""
    kind, words = _kind(error)
    details = ", ".join(_details(error))
    return ModelFailed(kind, f"{model} {words}{f' ({details})' if details else ''}.")


def pause(error: Failure, attempt: int, chance: float) -> float | None:
    """Seconds to wait before trying again, or None if that would not help.

    Args:
        attempt: how many tries have failed, from 1.
        chance: a random number from 0 to 1, so that many replies do not come back at once.
    """
    if attempt >= ATTEMPTS or not isinstance(error, _RETRIED):
        return None
    if isinstance(error, ModelQuotaExceededError):
        return None
    own = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1)) * (0.5 + chance / 2)
    asked = error.retry_after or 0.0
    return None if asked > LONGEST_REQUEST else max(own, asked)


def _kind(error: Failure) -> tuple[ErrorType, str]:
    if isinstance(error, ModelAuthenticationError):
        forbidden = isinstance(error, ModelHTTPError) and error.status_code == 403
        if forbidden:
            return ErrorType.PERMISSION, "does not allow this to the key it was given"
        return ErrorType.AUTHENTICATION, "refused the key it was given"
    for family, kind, words in _KINDS:
        if isinstance(error, family):
            return kind, words
    return ErrorType.UPSTREAM, "gave an answer that can't be used"


def _details(error: Failure) -> list[str]:
    if not isinstance(error, ModelAPIError):
        return []
    found: list[str] = []
    if isinstance(error, ModelHTTPError):
        found.append(f"status {error.status_code}")
    for code in (error.provider_error_code, error.provider_error_type):
        if code and code not in found and re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", code):
            found.append(code)
    if error.retry_after:
        found.append(f"wait {error.retry_after:g} s")
    return found
