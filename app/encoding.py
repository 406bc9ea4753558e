"""Makes text from outside encodable: JSON, file names and programs can bring what no UTF-8 can hold.

A file name with bytes that are not UTF-8 reaches Python with a surrogate for each such byte, and JSON can
spell half of a surrogate pair. Either makes the next file, database or socket fail, far from where it came
in, so it is replaced where it enters and named (`escaped`) where it is shown or logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from app.errors import LimitError

MAX_DEPTH = 200
MAX_VALUES = 20_000
"""How many values and names JSON from outside may hold; a long text is one."""
_CHUNK_BYTES = 256 * 1024
MAX_SYNC_BYTES = 16 * 1024
"""JSON of up to so many bytes is not looked at before it is parsed: it is parsed in a millisecond."""


def is_encodable(text: str) -> bool:
    """Return whether `text` can be written as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def encodable(text: str) -> str:
    """`text` with its surrogate pairs joined and U+FFFD for each surrogate that stands alone."""
    if is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escape_unencodable(text: str) -> str:
    r"""`text` with what can't be encoded spelled out: `\xfc` for a byte of a file name, else `\ud800`."""
    if is_encodable(text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable_value(value: object) -> object:
    """Return a JSON-like value with every text in it encodable.

    Raises:
        LimitError: it is nested more than `MAX_DEPTH` deep.
    """
    return _clean_value(value, MAX_DEPTH)


def encodable_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call with every text in them encodable; raises as `encodable_value`."""
    return {encodable(str(name)): _clean_value(value, MAX_DEPTH) for name, value in arguments.items()}


def _clean_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return encodable(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        raise LimitError(f"The value is nested more than {MAX_DEPTH} deep.", limit=MAX_DEPTH)
    if isinstance(value, dict):
        return {_clean_value(key, depth): _clean_value(one, depth - 1) for key, one in value.items()}
    cleaned = [_clean_value(one, depth - 1) for one in value]
    return tuple(cleaned) if isinstance(value, tuple) else cleaned


async def check_json_size(raw: bytes, most: int = MAX_VALUES) -> None:
    """Refuse JSON that would take long to parse and check, before anything parses it.

    The parser holds the interpreter for as long as it runs, so what has too many values is found out by
    counting separators outside texts, in a thread and in steps of some milliseconds.

    Args:
        raw: JSON in UTF-8, or what is said to be.
        most: How many values and names it may hold.

    Raises:
        LimitError: It holds more.
    """
    if len(raw) <= MAX_SYNC_BYTES or raw.count(b",") + raw.count(b":") <= most:
        return
    if await asyncio.to_thread(_separators, raw) > most:
        raise LimitError(f"JSON with more than {most:,} values is not taken.", limit=most)


def _separators(raw: bytes) -> int:
    """How many commas and colons stand outside the texts of some JSON."""
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    count, inside = 0, False
    for at in range(0, len(plain), _CHUNK_BYTES):
        parts = plain[at : at + _CHUNK_BYTES].split(b'"')
        outside = b"".join(parts[1::2] if inside else parts[::2])
        count += outside.count(b",") + outside.count(b":")
        inside ^= len(parts) % 2 == 0
    return count
