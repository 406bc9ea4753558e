"""The addresses of what a vault holds: `note:///Folder/Note.md` and `block:///label`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

_NOTE_PREFIX, _BLOCK_PREFIX = "note:///", "block:///"
NOTE_TEMPLATE = _NOTE_PREFIX + "{+path}"
BLOCK_TEMPLATE = _BLOCK_PREFIX + "{label}"


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """A note, by its path or its name, or a block of the memory, by its label."""

    kind: Literal["note", "block"]
    name: str

    @property
    def is_path(self) -> bool:
        """Whether it names a note by its path, so that no other note can be meant by it."""
        return self.kind == "note" and self.name.endswith(".md")

    @property
    def uri(self) -> str:
        """The address as it is given to clients."""
        return note_uri(self.name) if self.kind == "note" else block_uri(self.name)


def note_uri(path: str) -> str:
    """The address of the note at `path`."""
    return _NOTE_PREFIX + quote(path, safe="/")


def block_uri(label: str) -> str:
    """The address of the block called `label`."""
    return _BLOCK_PREFIX + quote(label, safe="")


def parse_uri(uri: str) -> ResourceAddress | None:
    """What `uri` means; None where it is no address of ours."""
    for kind, prefix in (("note", _NOTE_PREFIX), ("block", _BLOCK_PREFIX)):
        if uri.startswith(prefix):
            name = unquote(uri[len(prefix) :], errors="replace")
            return ResourceAddress("note" if kind == "note" else "block", name) if name else None
    return None
