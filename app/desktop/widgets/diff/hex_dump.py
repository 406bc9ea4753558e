"""Format binary content as the lines of a hex dump. Pure."""

from __future__ import annotations

import hashlib

_MAX_DUMP_BYTES = 1_048_576
_BYTES_PER_LINE = 16


def hex_dump(content: bytes) -> bytes:
    """Return offset, bytes and characters, 16 per line; after 1 MiB, only the size and hash of the rest."""
    dumped = content[:_MAX_DUMP_BYTES]
    lines = [
        _dump_line(offset, dumped[offset : offset + _BYTES_PER_LINE])
        for offset in range(0, len(dumped), _BYTES_PER_LINE)
    ]
    if remainder := content[_MAX_DUMP_BYTES:]:
        lines.append(f"and {len(remainder):,} more bytes, SHA-256 {hashlib.sha256(remainder).hexdigest()}\n")
    return "".join(lines).encode()


def _dump_line(offset: int, chunk: bytes) -> str:
    characters = "".join(chr(code) if 32 <= code < 127 else "." for code in chunk)
    return f"{offset:08x}  {chunk.hex(' '):<47}  {characters}\n"
