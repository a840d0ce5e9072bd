"""Masking of secrets in text that people, logs and traces see.

A mask covers only characters of ``[A-Za-z0-9._~+/=-]``, so no blank, quote, bracket, line break or
shell operator can ever hide behind one. It names kind, length and a short hash:
``<secret: GitHub token, 40 chars, #a1b2c3d4>``. Whoever decides can reveal it; a mask therefore
never claims to be the whole truth, and withholds the one-click approval.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.text.secret_patterns import (
    COOKIE,
    COOKIE_PAIR,
    KNOWN_TOKENS,
    PEM,
    PEM_PART,
    PLACEHOLDERS,
    RUN,
    SECRETS_IN_PLACE,
    kind_of_name,
    looks_random,
)

_CODE_LENGTH = 8
_RANDOM_CANDIDATE = re.compile(
    r"(?<![A-Za-z0-9._~+/-])[A-Za-z0-9+/_-]{24,}+={0,2}(?![A-Za-z0-9._~+/-])"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text to be masked. `code` is a short hash: the same secret, the same code."""

    start: int
    end: int
    kind: str
    code: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with its secrets masked, and where they were in the original."""

    text: str
    spans: tuple[Span, ...]


def mask(text: str, *, pepper: bytes = b"") -> Masked:
    """`text` with every secret replaced by its mask.

    `pepper` keys the short hash. Give the installation's, where it is at hand: without it, the
    hash of a short password can be guessed.
    """
    spans = find_secrets(text, pepper=pepper)
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += [text[at : span.start], mask_label(span)]
        at = span.end
    return Masked("".join([*parts, text[at:]]), spans)


def mask_label(span: Span) -> str:
    """What is shown in place of a secret."""
    length = span.end - span.start
    return f"<secret: {span.kind}, {length} char{'s' if length > 1 else ''}, #{span.code}>"


def find_secrets(
    text: str,
    *,
    known: Iterable[tuple[int, int]] = (),
    ids: Sequence[tuple[int, int]] = (),
    pepper: bytes = b"",
) -> tuple[Span, ...]:
    """Where the secrets of `text` are: in order, without overlaps, never over other characters.

    `known` are stretches (start, end) that are secret whatever they look like, because a schema
    says so. In `ids`, what merely looks random is left alone: identifiers do.
    """
    found: list[tuple[int, int, str]] = []
    for start, end in known:
        found += _runs(text, start, end, "secret")
    for finder in (_known_tokens, _keys, _in_place, _cookies):
        found += finder(text)
    found += [
        (start, end, kind)
        for start, end, kind in _random(text)
        if not any(first <= start and end <= last for first, last in ids)
    ]
    found.sort(key=lambda item: (item[0], -item[1]))
    spans: list[Span] = []
    for start, end, kind in found:
        if not spans or start >= spans[-1].end:
            spans.append(Span(start, end, kind, _code(text[start:end], pepper)))
    return tuple(spans)


_Found = Iterator[tuple[int, int, str]]


def _known_tokens(text: str) -> _Found:
    for kind, pattern in KNOWN_TOKENS:
        for match in pattern.finditer(text):
            group = 1 if match.re.groups else 0
            yield match.start(group), match.end(group), kind


def _keys(text: str) -> _Found:
    for block in PEM.finditer(text):
        for part in PEM_PART.finditer(text, block.start(1), block.end(1)):
            if part[0][0] != "\\":
                yield part.start(), part.end(), "private key"


def _in_place(text: str) -> _Found:
    for pattern in SECRETS_IN_PLACE:
        for match in pattern.finditer(text):
            name = (match.groupdict().get("name") or "").lower()
            if match["value"].lower() not in {name, *PLACEHOLDERS}:
                kind = kind_of_name(name)
                yield from _runs(text, match.start("value"), match.end("value"), kind)


def _cookies(text: str) -> _Found:
    for line in COOKIE.finditer(text):
        for pair in COOKIE_PAIR.finditer(text, line.start(1), line.end(1)):
            yield pair.start(1), pair.end(1), "cookie"


def _random(text: str) -> _Found:
    for match in _RANDOM_CANDIDATE.finditer(text):
        if looks_random(match[0]):
            yield match.start(), match.end(), "random text"


def _runs(text: str, start: int, end: int, kind: str) -> _Found:
    for run in RUN.finditer(text, start, end):
        yield run.start(), run.end(), kind


def _code(secret: str, pepper: bytes) -> str:
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()[:_CODE_LENGTH]
