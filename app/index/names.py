"""The normalized forms of names and link targets for storage and comparison."""

from __future__ import annotations

import functools
import json

from app.encoding import is_encodable
from app.vault.path import NOTE_SUFFIXES, NotePath, name_key


@functools.lru_cache(maxsize=4096)
def decode_list(text: str) -> tuple[str, ...]:
    """Decode a JSON list of tags or aliases; cached, because many notes share their lists."""
    if text.startswith('["') and text.endswith('"]') and "\\" not in text and '","' not in text:
        # The usual form, without special characters: for a large graph, parsing it as JSON would take a large
        # share of the time.
        return tuple(text[2:-2].split('", "'))
    return tuple(json.loads(text))


def target_key(text: str) -> str:
    """Return a link's target or a path, normalized for comparison."""
    bare = text.strip()
    return bare.lower() if bare.isascii() else name_key(bare)


def link_key(key: str) -> str:
    """Return the last part of a target's key without a note's suffix.

    When a file is added or removed, only links with one of its link keys (`Resolver.link_keys`) can resolve
    differently.
    """
    last = key.rpartition("/")[2]
    suffix = note_suffix(last)
    return last[: -len(suffix)] if suffix else last


def note_suffix(key: str) -> str:
    """Return the note suffix at the end of a key (`.md`, `.markdown`), or ""."""
    for suffix in NOTE_SUFFIXES:
        if key.endswith(suffix) and len(key) > len(suffix):
            return suffix
    return ""


def stored_path(path: NotePath) -> str | None:
    """Return a path as stored in the index, or None, which matches no row, if it is not UTF-8."""
    return path.text if is_encodable(path.text) else None
