"""The protocol between the app and its embedding worker on the worker's standard input and output.

A frame is a little-endian unsigned 32-bit length, followed by that many bytes: one byte for the kind, an
unsigned 32-bit number that matches an answer to its request, and a body.

| kind | sent by | body |
|---|---|---|
| `EMBED` | app | JSON list of texts of notes |
| `ASK` | app | JSON list of queries, which some models encode differently |
| `JUDGE` | app | JSON list of pairs of premise and hypothesis |
| `READY` | worker, once | JSON object: the `dimension` of its rows, and the `labels` of their columns |
| `VECTORS` | worker | float32 little-endian, one row per text or pair |
| `FAILED` | worker | the reason in UTF-8 |
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Protocol

EMBED = b"E"
ASK = b"Q"
JUDGE = b"J"
READY = b"R"
VECTORS = b"V"
FAILED = b"F"

LENGTH = struct.Struct("<I")
_HEAD = struct.Struct("<cI")
MAX_FRAME_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Frame:
    """A message; `number` matches an answer to its request."""

    kind: bytes
    number: int = 0
    body: bytes = b""

    def pack(self) -> bytes:
        """Return the frame's bytes, with the length first."""
        payload = _HEAD.pack(self.kind, self.number) + self.body
        return LENGTH.pack(len(payload)) + payload


def unpack(payload: bytes) -> Frame:
    """Parse the bytes that follow a length.

    Raises:
        ValueError: they are too short for a frame.
    """
    if len(payload) < _HEAD.size:
        raise ValueError(f"a frame of {len(payload)} bytes is too short")
    kind, number = _HEAD.unpack_from(payload)
    return Frame(kind, number, payload[_HEAD.size :])


class BinaryReader(Protocol):
    """A blocking binary stream with frames."""

    def read(self, size: int, /) -> bytes | None:
        """Read at most `size` bytes; return no bytes at the end."""
        ...


def read_frame(stream: BinaryReader) -> Frame | None:
    """Read the next frame; return None if the stream ends, even in the middle of a frame.

    Raises:
        ValueError: the length exceeds any frame, so the stream is out of sync.
    """
    head = _read_exactly(stream, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length} bytes is too long")
    payload = _read_exactly(stream, length)
    return None if payload is None else unpack(payload)


def _read_exactly(stream: BinaryReader, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = stream.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
