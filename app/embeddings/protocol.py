"""The frames between the app and its embedding worker, over the worker's standard input and output.

A frame is a little-endian unsigned 32-bit length and so many bytes: one byte that says the kind, an
unsigned 32-bit number that ties an answer to its question, and a body.

| kind | sent by | body |
|---|---|---|
| `EMBED` | app | JSON list of texts of notes |
| `ASK` | app | JSON list of questions: some models make other vectors of them |
| `JUDGE` | app | JSON list of pairs of texts, a premise and a hypothesis each |
| `READY` | worker, once | JSON object: the `dimension` of its rows, and `labels` of their numbers |
| `VECTORS` | worker | float32 little-endian, one row per text or pair |
| `FAILED` | worker | why, UTF-8 |
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
    """One message; `number` ties an answer to its question."""

    kind: bytes
    number: int = 0
    body: bytes = b""

    def pack(self) -> bytes:
        """The frame's bytes, length first."""
        payload = _HEAD.pack(self.kind, self.number) + self.body
        return LENGTH.pack(len(payload)) + payload


def unpack(payload: bytes) -> Frame:
    """The frame of the bytes that follow a length.

    Raises:
        ValueError: they are too short to be one.
    """
    if len(payload) < _HEAD.size:
        raise ValueError(f"a frame of {len(payload)} bytes is too short")
    kind, number = _HEAD.unpack_from(payload)
    return Frame(kind, number, payload[_HEAD.size :])


class BinaryReader(Protocol):
    """What a frame is read from: a blocking binary stream."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes; nothing at the end."""
        ...


def read_frame(stream: BinaryReader) -> Frame | None:
    """The next frame; None when the other side is gone, also in the middle of a frame.

    Raises:
        ValueError: the length is longer than any frame, so the stream is out of step.
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
