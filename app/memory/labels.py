"""Paths of blocks and archive entries, encoded so that no file system or rule can misinterpret a label.

A block is at `<agent>/<label>`. Unsafe characters are percent-encoded, so that the label can be decoded. A
`/` in a label creates a folder, which rules can name.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from app.errors import InvalidParametersError, InvalidPathError
from app.vault.path import NotePath

MAX_LABEL_CHARS = 200
ARCHIVE = "@archive"
"""The folder of an agent's entries. No label can collide with it, because a leading `@` is encoded."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\%]|^[.@ ]|[. ]$')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def clean_label(label: str) -> str:
    """Normalize a label.

    Raises:
        InvalidParametersError: the label is empty or too long, or has control characters or empty parts.
    """
    normalized = unicodedata.normalize("NFC", label.strip())
    if not normalized or len(normalized) > MAX_LABEL_CHARS or _CONTROL.search(normalized):
        raise InvalidParametersError(
            f"A label must have 1 to {MAX_LABEL_CHARS} visible characters.", label=label
        )
    if any(not part.strip() for part in normalized.split("/")):
        raise InvalidParametersError("A label must have text on both sides of each '/'.", label=label)
    return normalized


def block_path(agent: str, label: str) -> NotePath:
    """Return the path of an agent's block.

    Raises:
        InvalidParametersError: the label is not valid, or can't be a path.
    """
    parts = [_encode_part(agent), *map(_encode_part, clean_label(label).split("/"))]
    return _path(parts, label)


def entry_path(agent: str, entry: str) -> NotePath:
    """Return the path of an entry in an agent's archive.

    Raises:
        InvalidParametersError: the agent's name or the entry's id can't be part of a path.
    """
    return _path([_encode_part(agent), ARCHIVE, _encode_part(entry)], entry)


def is_entry(path: NotePath) -> bool:
    """Return whether a path belongs to an archive entry."""
    return path.text.split("/")[1:2] == [ARCHIVE]


def label_from_path(path: NotePath) -> str:
    """Return the label of the block at a path."""
    return unquote(path.text.partition("/")[2])


def _path(parts: list[str], label: str) -> NotePath:
    try:
        return NotePath.parse("/".join(parts))
    except InvalidPathError as error:
        message = f"{label!r} can't be a label: {error.message}"
        raise InvalidParametersError(message, label=label) from error


def _encode_part(part: str) -> str:
    """Percent-encode the unsafe characters of a path part, or the first letter of a device name (`con`)."""
    encoded = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), part)
    encoded = encoded.replace("/", "%2F")
    try:
        NotePath.parse(encoded)
    except InvalidPathError:
        can_encode_first = encoded[0].isascii() and encoded[0] != "%"
        return f"%{ord(encoded[0]):02X}{encoded[1:]}" if can_encode_first else encoded
    return encoded
