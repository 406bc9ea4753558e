"""Format binary content as the lines of a hex dump."""

from __future__ import annotations

import hashlib

from app.desktop.runtime.translation import PluralText

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
        text = PluralText("Diff", "and {0} more byte, SHA-256 {1}", "and {0} more bytes, SHA-256 {1}")
        lines.append(text.format(len(remainder), hashlib.sha256(remainder).hexdigest()) + "\n")
    return "".join(lines).encode()


def _dump_line(offset: int, chunk: bytes) -> str:
    characters = "".join(chr(code) if 32 <= code < 127 else "." for code in chunk)
    return f"{offset:08x}  {chunk.hex(' '):<47}  {characters}\n"
