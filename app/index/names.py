"""The forms in which names and link targets are kept and compared."""

from __future__ import annotations

import functools
import json

from app.encoding import is_encodable
from app.vault.path import NOTE_SUFFIXES, NotePath, name_key


@functools.lru_cache(maxsize=4096)
def decode_list(text: str) -> tuple[str, ...]:
    """The words of a JSON list, as tags and aliases are kept: most notes have a list that others have too."""
    if text.startswith('["') and text.endswith('"]') and "\\" not in text and '","' not in text:
        # As we write them, without a mark in a word: a good part of the time of a large graph.
        return tuple(text[2:-2].split('", "'))
    return tuple(json.loads(text))


def target_key(text: str) -> str:
    """A link's target, or a path, in the form to compare by."""
    bare = text.strip()
    return bare.lower() if bare.isascii() else name_key(bare)


def link_key(key: str) -> str:
    """The last part of a target's key without a note's suffix.

    Two targets with different link keys never mean the same file, so when a file comes or goes only the
    links with its link key can change their meaning.
    """
    last = key.rpartition("/")[2]
    suffix = note_suffix(last)
    return last[: -len(suffix)] if suffix else last


def note_suffix(key: str) -> str:
    """The note's suffix at the end of a key (`.md`, `.markdown`), empty if there is none."""
    for suffix in NOTE_SUFFIXES:
        if key.endswith(suffix) and len(key) > len(suffix):
            return suffix
    return ""


def stored_path(path: NotePath) -> str | None:
    """How a path stands in the index; None, which no row has, for a name that is not UTF-8."""
    return path.text if is_encodable(path.text) else None
