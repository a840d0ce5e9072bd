"""What is kept of a stream that may be longer than anybody can read: its head and its tail."""

import codecs
from dataclasses import dataclass, field

HEAD = 32 * 1024
"""Bytes of a stream that are shown as they come."""

TAIL = 32 * 1024
"""Bytes that are kept of its end; together 64 KiB per stream."""


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


@dataclass(slots=True)
class Capture:
    """One stream of bytes, read as UTF-8; bytes that are none become U+FFFD.

    Attributes:
        name: of the stream, for the line that says what was cut.
        total: bytes seen so far.
    """

    name: str
    total: int = 0
    _tail: bytearray = field(default_factory=bytearray)
    _shown: int = 0
    _decode: codecs.IncrementalDecoder = field(default_factory=_decoder)

    def feed(self, data: bytes) -> str:
        """Take the next bytes; the text to show at once, empty when the head is full."""
        self.total += len(data)
        head = data[: max(0, HEAD - self._shown)]
        self._shown += len(head)
        self._tail += data[len(head) :]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]
        return self._decode.decode(head)

    def finish(self) -> tuple[str, int]:
        """The rest of the text and how many bytes were left out of it."""
        del self._tail[:-TAIL]
        cut = self.total - self._shown - len(self._tail)
        if cut == 0:
            return self._decode.decode(bytes(self._tail), final=True), 0
        pending, _ = self._decode.getstate()
        start = _first_character(self._tail)
        cut += len(pending) + start
        tail = self._tail[start:].decode("utf-8", errors="replace")
        return f"\n[{cut} bytes of {self.name} left out here]\n{tail}", cut


def _first_character(data: bytearray) -> int:
    """Where the first whole character begins: UTF-8 has at most three bytes that continue one."""
    for index in range(min(3, len(data))):
        if data[index] & 0xC0 != 0x80:
            return index
    return min(3, len(data))
