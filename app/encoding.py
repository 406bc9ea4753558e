"""Detect binary content, and make text from outside encodable.

A file name with bytes that are not UTF-8 reaches Python with a surrogate for each such byte, and JSON can
contain an unpaired surrogate. Either would make a later write to a file, database or socket fail, so
surrogates are replaced on input (`encodable`) or escaped for display and logs (`escape_unencodable`).
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Mapping

from app.errors import LimitError

MAX_DEPTH = 200
MAX_VALUES = 20_000
"""The maximum number of values and names in JSON from outside; a long string counts as one."""
_CHUNK_BYTES = 256 * 1024
MAX_SYNC_BYTES = 16 * 1024
"""The size up to which JSON is parsed without a check, because that takes only a millisecond."""
_SAMPLE_BYTES = 64 * 1024
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b") + b"\x7f"
# A text file may have a few hidden characters and stray bytes.
_MAX_CONTROL_SHARE = 0.1


def is_binary(content: bytes) -> bool:
    """Return whether over a tenth of the start of `content` is control characters or not UTF-8."""
    sample = content[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    stray = len(sample) - len(sample.decode("utf-8", "ignore").encode("utf-8"))
    return controls + stray > _MAX_CONTROL_SHARE * len(sample)


def fold_case(text: str) -> str:
    """Return the form of `text` for case-insensitive comparison: NFC, case folded."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def contains_folded(text: str, part: str) -> bool:
    """Return whether `text` contains `part`, ignoring case."""
    return fold_case(part) in fold_case(text)


def is_encodable(text: str) -> bool:
    """Return whether `text` can be encoded as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str) -> str:
    """Return `text` with surrogate pairs joined and each lone surrogate replaced with U+FFFD."""
    if is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escape_unencodable(text: str) -> str:
    r"""Return `text` with surrogates escaped: `\xfc` for a byte of a file name, otherwise `\ud800`."""
    if is_encodable(text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable_value(value: object) -> object:
    """Return a JSON-like value with all its strings encodable.

    Raises:
        LimitError: The value is nested deeper than `MAX_DEPTH`.
    """
    return _clean_value(value, MAX_DEPTH)


def encodable_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call with all strings encodable; raises as `encodable_value` does."""
    return {encodable(str(name)): _clean_value(value, MAX_DEPTH) for name, value in arguments.items()}


def _clean_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return encodable(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        raise LimitError(f"The value is nested deeper than {MAX_DEPTH} levels.", limit=MAX_DEPTH)
    if isinstance(value, dict):
        return {_clean_value(key, depth): _clean_value(item, depth - 1) for key, item in value.items()}
    cleaned = [_clean_value(item, depth - 1) for item in value]
    return tuple(cleaned) if isinstance(value, tuple) else cleaned


async def check_json_size(raw: bytes) -> None:
    """Reject JSON that would take a long time to parse and check.

    The parser blocks the interpreter while it runs, so large JSON is checked first: a thread counts the
    separators outside strings, in steps of a few milliseconds.

    Args:
        raw: JSON in UTF-8, possibly invalid.

    Raises:
        LimitError: It contains more than `MAX_VALUES` values and names.
    """
    if len(raw) <= MAX_SYNC_BYTES or raw.count(b",") + raw.count(b":") <= MAX_VALUES:
        return
    if await asyncio.to_thread(_count_separators, raw) > MAX_VALUES:
        raise LimitError(f"JSON with more than {MAX_VALUES:,} values is not accepted.", limit=MAX_VALUES)


def _count_separators(raw: bytes) -> int:
    """Count the commas and colons outside the strings of JSON text."""
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    count, is_in_text = 0, False
    for start in range(0, len(unescaped), _CHUNK_BYTES):
        parts = unescaped[start : start + _CHUNK_BYTES].split(b'"')
        outside = b"".join(parts[1::2] if is_in_text else parts[::2])
        count += outside.count(b",") + outside.count(b":")
        is_in_text ^= len(parts) % 2 == 0
    return count
