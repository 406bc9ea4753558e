"""URIs of notes and memory blocks: `note:///Folder/Note.md` and `block:///label`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

ResourceKind = Literal["note", "block"]
_NOTE_PREFIX, _BLOCK_PREFIX = "note:///", "block:///"
_PREFIXES: tuple[tuple[ResourceKind, str], ...] = (("note", _NOTE_PREFIX), ("block", _BLOCK_PREFIX))
NOTE_TEMPLATE = _NOTE_PREFIX + "{+path}"
BLOCK_TEMPLATE = _BLOCK_PREFIX + "{label}"


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """The path or name of a note, or the label of a memory block."""

    kind: ResourceKind
    name: str

    @property
    def is_path(self) -> bool:
        """True for a note's path, which is unambiguous; False for a note's name and for a block."""
        return self.kind == "note" and self.name.endswith(".md")


def note_uri(path: str) -> str:
    """Return the URI of the note at `path`."""
    return _NOTE_PREFIX + quote(path, safe="/")


def block_uri(label: str) -> str:
    """Return the URI of the block called `label`."""
    return _BLOCK_PREFIX + quote(label, safe="")


def parse_uri(uri: str) -> ResourceAddress | None:
    """Parse a URI; return None if it is not the URI of a note or a block."""
    for kind, prefix in _PREFIXES:
        if uri.startswith(prefix):
            name = unquote(uri[len(prefix) :], errors="replace")
            return ResourceAddress(kind, name) if name else None
    return None
