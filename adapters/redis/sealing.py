"""What the store keeps of people's and agents' contents is sealed: versioned JSON, compressed
unless it is small, then AES-256-GCM under a key of its own for each reply, bound to the place it
belongs to.

A byte flipped, a record put in another's place or an older one put back: `StoreDamaged`.
In the clear stay ids, states, times, and who acted.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from adapters.redis.encoding import decoded, encoded
from core.errors import SetupRefused, StoreDamaged, StoreError

VERSION = 1
COMPRESSED = 2
"""The first byte: JSON as it is, or compressed."""
_SMALL = 200
"""Bytes below which compressing gains nothing."""
SEALED_LIMIT = 1 << 20
"""Bytes a sealed record may have; agent states of long conversations compress to a tenth."""
OPENED_LIMIT = 64 << 20
_KEY_BYTES = 32
_NONCE_BYTES = 12

_COMPRESSOR = zstandard.ZstdCompressor(level=3)
_DECOMPRESSOR = zstandard.ZstdDecompressor()
"""Made once, which costs more than using them; one thread at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed record belongs. `parts`: call, kind of content, the op that wrote it."""

    tenant: str
    reply_id: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keyring:
    """Master keys by id. New records are sealed under `current`; the others still open."""

    current: str
    keys: Mapping[str, bytes]

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """Read lines of `id hex`; the first is the current one.

        Raises:
            SetupRefused: no key, or one that is not 32 bytes.
        """
        keys: dict[str, bytes] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            name, _, digits = line.partition(" ")
            try:
                keys[name] = bytes.fromhex(digits)
            except ValueError:
                raise SetupRefused("A store key is not hexadecimal.") from None
            if len(keys[name]) != _KEY_BYTES or not 0 < len(name.encode()) < 256:
                raise SetupRefused("A store key must be 'ID HEX', with 64 hexadecimal digits.")
        if not keys:
            raise SetupRefused("There is no store key. Write one as 'k1 ' and 64 hex digits.")
        return cls(next(iter(keys)), keys)

    @classmethod
    def read_or_create(cls, file: Path, *, may_create: bool) -> "Keyring":
        """Read a key file, or make one that only its owner can read.

        Raises:
            SetupRefused: others may read it, or it is missing where sealed data exists.
        """
        try:
            if file.stat().st_mode & 0o077:
                raise SetupRefused(f"Others may read the key file {file}. Run: chmod 600 {file}")
            return cls.parse(file.read_text())
        except FileNotFoundError:
            if not may_create:
                raise SetupRefused(
                    f"The key file {file} is missing and the store holds sealed data. "
                    "Put the key file back, or move the data directory away to begin anew."
                ) from None
        _create(file, f"k1 {os.urandom(_KEY_BYTES).hex()}\n")
        return cls.read_or_create(file, may_create=False)


def _create(file: Path, text: str) -> None:
    """Whole or not at all; of several starters the first one's key stays."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals and opens records under a keyring."""

    keyring: Keyring

    def seal(self, value: Any, place: Place) -> bytes:
        """Seal a JSON value for its place.

        Raises:
            StoreError: larger than `SEALED_LIMIT`.
        """
        plain = encoded(value)
        version, packed = VERSION, plain
        if len(plain) > _SMALL:
            version, packed = COMPRESSED, _COMPRESSOR.compress(plain)
        if len(packed) > SEALED_LIMIT:
            raise StoreError(f"A record of {len(packed)} compressed bytes is over the limit.")
        kid = self.keyring.current
        nonce = os.urandom(_NONCE_BYTES)
        cipher = _cipher(self.keyring.keys[kid], place.tenant, place.reply_id)
        name = kid.encode()
        head = bytes([version, len(name)]) + name + nonce
        return head + cipher.encrypt(nonce, packed, _bound(version, kid, place))

    def open(self, blob: bytes | None, place: Place) -> Any:
        """Open what was sealed for this place.

        Raises:
            StoreDamaged: missing, altered, of another place, or under a key we don't have.
        """
        if not blob or blob[0] not in {VERSION, COMPRESSED}:
            raise StoreDamaged("A sealed record is missing, or not of a version we read.")
        kid_end = 2 + blob[1] if len(blob) > 1 else 2
        kid = blob[2:kid_end].decode(errors="replace")
        if kid not in self.keyring.keys:
            raise StoreDamaged("A record is sealed under a key that is not in the keyring.")
        nonce, sealed = blob[kid_end : kid_end + _NONCE_BYTES], blob[kid_end + _NONCE_BYTES :]
        cipher = _cipher(self.keyring.keys[kid], place.tenant, place.reply_id)
        try:
            packed = cipher.decrypt(nonce, sealed, _bound(blob[0], kid, place))
        except (InvalidTag, ValueError):
            raise StoreDamaged("A record is not the one that was sealed here.") from None
        if blob[0] == COMPRESSED:
            packed = _DECOMPRESSOR.decompress(packed, max_output_size=OPENED_LIMIT)
        return decoded(packed)


@lru_cache(maxsize=1024)
def _cipher(master: bytes, tenant: str, reply_id: str) -> AESGCM:
    """The cipher of one reply; those in use are kept, for making one costs more than using it."""
    info = encoded(["keyturn", "seal", VERSION, tenant, reply_id])
    return AESGCM(HKDF(hashes.SHA256(), _KEY_BYTES, None, info).derive(master))


def _bound(version: int, kid: str, place: Place) -> bytes:
    return encoded([version, kid, place.tenant, place.reply_id, *place.parts])
