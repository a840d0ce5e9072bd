"""What was shown is what runs: the digest of a call, and the tokens that buttons carry.

The digest binds everything a person judged, the exact raw `input` string included. It is shown
as a short code, stored with the call, carried into the grant, and compared again when the run
starts. The policy revision is not in it: policy may move while people think, and is compared by
itself at the start of a run.
"""

import base64
import binascii
import hashlib
import hmac
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import rfc8785

from core.errors import InvalidInput, InvalidToken

ENVELOPE_VERSION = 1
SHORT_CODE_LENGTH = 8
RETYPE_CODE_LENGTH = 4

MAX_TOKEN_LENGTH = 100
"""Most characters of a token. Source: Discord's published limit of a `custom_id`."""

_TOKEN_VERSION = 1
_MAC_BYTES = 16
_CALL_REF_BYTES = 12
# version, key id, action, detail, revision, call reference
_HEAD = struct.Struct(f">BBBHH{_CALL_REF_BYTES}s")

MAX_REPLY_ID_BYTES = MAX_TOKEN_LENGTH * 3 // 4 - _HEAD.size - _MAC_BYTES
"""Most bytes (UTF-8) of a `reply_id` that fits into a token."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Everything that one revision of a call is bound to.

    `input` is the string as the model, or the editor, wrote it; never a parsed form. `context`
    names what else decides about the effect: the real path of the working directory, the
    resolved program, the hash of the environment.
    """

    tenant: str
    reply_id: str
    call_id: str
    turn: int
    revision: int
    agent: str
    session: str
    tool: str
    input: str
    context: Mapping[str, str] = field(default_factory=dict[str, str])


def digest(envelope: Envelope) -> str:
    """SHA-256 over the canonical form of `envelope`, as 64 hex digits.

    Canonical form: RFC 8785 (JSON Canonicalization Scheme).

    Raises:
        InvalidInput: a field is not Unicode text, or a number is not a plain integer.
    """
    body: dict[str, str | int | dict[str, str]] = {
        "v": ENVELOPE_VERSION,
        "tenant": envelope.tenant,
        "reply_id": envelope.reply_id,
        "call_id": envelope.call_id,
        "turn": envelope.turn,
        "revision": envelope.revision,
        "agent": envelope.agent,
        "session": envelope.session,
        "tool": envelope.tool,
        "input": envelope.input,
        "context": dict(envelope.context),
    }
    try:
        canonical = rfc8785.dumps(body)
    except rfc8785.CanonicalizationError:
        raise InvalidInput("not_utf8", "The call contains text that is not valid UTF-8.") from None
    return hashlib.sha256(canonical).hexdigest()


def same_digest(one: str, other: str) -> bool:
    """Whether two digests are the same, in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def short_code(full_digest: str) -> str:
    """The code that cards, notifications and people use for a call: 8 hex digits."""
    return full_digest[:SHORT_CODE_LENGTH]


def retype_code(full_digest: str) -> str:
    """The first 4 digits of the short code: what people retype to approve at high risk."""
    return full_digest[:RETYPE_CODE_LENGTH]


def retyped(full_digest: str, typed: str) -> bool:
    """Whether `typed` is the retype code or the whole short code; `#`, blanks and case aside."""
    plain = re.sub(r"[\s#-]", "", typed).lower()
    return plain in (retype_code(full_digest), short_code(full_digest))


class Action(Enum):
    """What a button asks for. The values are written into tokens: never renumber one."""

    APPROVE = 1
    MODIFY = 2
    REJECT = 3
    ALWAYS = 4
    REVIEW = 5
    PAGE = 6
    APPROVE_REVIEWED = 7
    REVEAL = 8
    DETAILS = 9
    ASK_AGENT = 10
    SNOOZE = 11
    NOTIFY_APPROVERS = 12
    MARK_DONE = 13
    RUN_AGAIN = 14
    ABANDON = 15
    CLAIM = 16
    HAND_BACK = 17
    SUBMIT = 18
    FIX = 19
    STOP = 20
    CANCEL = 21


PERSONAL = frozenset({Action.PAGE, Action.APPROVE_REVIEWED, Action.REVEAL})
"""Actions whose token is good for one person only: the one whose private view it is in."""


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A secret that tokens are made with. `number` (0 to 255) names it, for rotation."""

    number: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Audience:
    """Where a token is good: bound into its MAC, never written into it."""

    tenant: str
    platform: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """What a button carries. `detail` is a small number of the action: a page, an option.

    A call id may be as long as the model likes, so the token holds `call_ref`; the call is the
    one of the reply whose `call_ref(call_id, turn)` equals it.
    """

    reply_id: str
    call_ref: str
    revision: int
    action: Action
    detail: int = 0


def call_ref(call_id: str, turn: int) -> str:
    """The fixed-length name that tokens use for a call inside its reply: 24 hex digits."""
    named = rfc8785.dumps([turn, call_id])
    return hashlib.sha256(named).hexdigest()[: 2 * _CALL_REF_BYTES]


def make_token(key: TokenKey, token: Token, audience: Audience) -> str:
    """`token` as text of at most 100 URL-safe characters, with a MAC.

    Raises:
        ValueError: the reply id has more than `MAX_REPLY_ID_BYTES` bytes, a number is out of
            range, or a personal action names no person.
    """
    reply = token.reply_id.encode()
    if not 0 < len(reply) <= MAX_REPLY_ID_BYTES:
        raise ValueError(f"a reply id needs 1 to {MAX_REPLY_ID_BYTES} bytes to fit into a token")
    if token.action in PERSONAL and not audience.person:
        raise ValueError(f"a token for {token.action.name} needs a person")
    try:
        head = _HEAD.pack(
            _TOKEN_VERSION,
            key.number,
            token.action.value,
            token.detail,
            token.revision,
            bytes.fromhex(token.call_ref),
        )
    except struct.error as error:
        raise ValueError(f"a number does not fit into a token: {error}") from error
    body = head + reply
    mac = _mac(key, body, _bound(token.action, audience))
    return base64.urlsafe_b64encode(mac + body).decode().rstrip("=")


def read_token(keys: Iterable[TokenKey], text: str, audience: Audience) -> Token:
    """The token that `make_token` made with one of `keys` for this audience.

    Only a personal action looks at `audience.person`, so a listener can always pass the person
    who pressed.

    Raises:
        InvalidToken: malformed, made with no key of ours, altered, or made for another tenant,
            platform or person. The message does not say which: the presser may be probing.
    """
    mac, body = _split(text)
    version, number, action_value, detail, revision, ref = _HEAD.unpack(body[: _HEAD.size])
    key = next((key for key in keys if key.number == number), None)
    known = action_value in {action.value for action in Action}
    if version != _TOKEN_VERSION or key is None or not known:
        raise InvalidToken("This button was not made by this Keyturn.")
    action = Action(action_value)
    if not hmac.compare_digest(mac, _mac(key, body, _bound(action, audience))):
        raise InvalidToken("This button was not made by this Keyturn.")
    return Token(body[_HEAD.size :].decode(), ref.hex(), revision, action, detail)


def _split(text: str) -> tuple[bytes, bytes]:
    """The MAC and the body, if `text` is the one spelling that `make_token` writes."""
    if len(text) > MAX_TOKEN_LENGTH or not re.fullmatch(r"[A-Za-z0-9_-]+", text, re.ASCII):
        raise InvalidToken("This button was not made by this Keyturn.")
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        data = b""
    rewritten = base64.urlsafe_b64encode(data).decode().rstrip("=")
    if rewritten != text or len(data) <= _MAC_BYTES + _HEAD.size:
        raise InvalidToken("This button was not made by this Keyturn.")
    return data[:_MAC_BYTES], data[_MAC_BYTES:]


def _bound(action: Action, audience: Audience) -> list[str]:
    person = audience.person if action in PERSONAL else ""
    return [audience.tenant, audience.platform, person]


def _mac(key: TokenKey, body: bytes, bound: list[str]) -> bytes:
    message = rfc8785.dumps(["keyturn token", body.hex(), *bound])
    return hmac.new(key.secret, message, hashlib.sha256).digest()[:_MAC_BYTES]
