"""A PNG encoder: rows stored as their difference from the row above, deflated.

The format is a W3C standard (Portable Network Graphics, third edition); filter 2 suits plain backgrounds.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUECOLOR_TYPE = 2
_UP_FILTER = 2


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode an image as PNG.

    Args:
        pixels: uint8 (height, width, 3): red, green, blue.
    """
    height, width, _ = pixels.shape
    rows = np.ascontiguousarray(pixels).reshape(height, width * 3)
    previous_rows = np.vstack([np.zeros((1, width * 3), dtype=np.uint8), rows[:-1]])
    filtered = np.empty((height, width * 3 + 1), dtype=np.uint8)
    filtered[:, 0] = _UP_FILTER
    filtered[:, 1:] = rows - previous_rows
    head = struct.pack(">IIBBBBB", width, height, 8, _TRUECOLOR_TYPE, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 6)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
