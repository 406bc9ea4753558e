"""The frames that the app and its worker processes exchange on the worker's standard input and output.

A frame is a little-endian unsigned 32-bit length, followed by that many bytes: one byte for the kind, an
unsigned 32-bit number that matches an answer to its request, and a body. Imports only the standard library,
because a worker may run in another Python.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import IO, Protocol

LENGTH = struct.Struct("<I")
_HEAD = struct.Struct("<cI")
MAX_FRAME_BYTES = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Frame:
    """A message; `number` matches an answer to its request."""

    kind: bytes
    number: int = 0
    body: bytes | bytearray | memoryview = b""

    def head(self) -> bytes:
        """Return the bytes before the body."""
        return LENGTH.pack(_HEAD.size + len(self.body)) + _HEAD.pack(self.kind, self.number)

    def pack(self) -> bytes:
        """Return the frame's bytes, with the length first."""
        return self.head() + self.body


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
    """A blocking binary stream of frames."""

    def read(self, size: int, /) -> bytes | None:
        """Read at most `size` bytes; return no bytes at the end."""
        ...


def read_frame(stream: BinaryReader) -> Frame | None:
    """Read the next frame; return None if the stream ends, even in the middle of a frame.

    Raises:
        ValueError: the length is not valid for a frame, so the stream is out of sync.
    """
    head = _read_exactly(stream, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length} bytes is too long")
    payload = _read_exactly(stream, length)
    return None if payload is None else unpack(payload)


def write_frame(sink: IO[bytes], frame: Frame) -> bool:
    """Send `frame` through an unbuffered stream; return false if the stream fails."""
    for part in (frame.head(), frame.body):
        data = memoryview(part)
        try:
            while data:
                data = data[sink.write(data) :]
        except OSError:
            return False
    return True


def claim_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output as binary streams, and redirect stray prints to standard error.

    Uses file descriptors, because `sys.stdin` is None in a windowed bundle.
    """
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return source, sink


def _read_exactly(stream: BinaryReader, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = stream.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
