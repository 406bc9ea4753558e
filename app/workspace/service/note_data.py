"""A note that was read for editing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import ScriptoriumError
from app.vault.changes import content_hash
from app.vault.markdown.privacy import classify_privacy
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode, decode_lossy
from app.vault.note import ParsedNote, PrivacyVerdict
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.vault.store import NoteStore

# An editor lays out a line as one paragraph, which takes seconds for a longer one.
_MAX_LINE_BYTES = 250_000
_EXCERPT_BYTES = 200_000
_EXCERPT_LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class NoteData:
    """A loaded note.

    `problem` says why it can't be edited, or is empty. With a problem, `text` is a lossy decoding or, for a
    note that is too large, an excerpt from its beginning. `content` then holds only the beginning, too, and
    `is_complete` is false.
    """

    path: NotePath
    content: bytes
    text: str
    parsed: ParsedNote
    problem: str
    is_complete: bool = True

    @property
    def privacy(self) -> PrivacyVerdict:
        """The verdict on whether models and external programs may read the note, with the reason."""
        return classify_privacy(self.content, complete=self.is_complete)

    @property
    def hash(self) -> str:
        """The hash of `content`."""
        return content_hash(self.content)


def read_note(store: NoteStore, path: NotePath, max_bytes: int) -> NoteData:
    """Read the note at `path`; if it exceeds `max_bytes` or has a very long line, return an excerpt.

    Raises:
        NotFoundError, StorageError: It does not exist, or can't be read.
    """
    size = store.stat(path).size
    if size > max_bytes:
        start = store.read_start(path, _EXCERPT_BYTES)
        return _excerpt(path, start, f"This note is {size / 2**20:,.1f} MiB in size.")
    content = store.read(path)
    longest = max(map(len, content.split(b"\n")))
    if longest > _MAX_LINE_BYTES:
        return _excerpt(path, content[:_EXCERPT_BYTES], f"This note has a line of {longest:,} bytes.")
    try:
        text, problem = decode(content), ""
    except ScriptoriumError as error:
        text, problem = decode_lossy(content), error.message
    return NoteData(path, content, text, scan(text), problem)


def _excerpt(path: NotePath, start: bytes, reason: str) -> NoteData:
    """Return the beginning of a note that is too large, with its longest lines cut."""
    lines = decode_lossy(start).rstrip("\ufffd").split("\n")
    lines_shown = (
        line if len(line) <= _EXCERPT_LINE_CHARS else f"{line[:_EXCERPT_LINE_CHARS]} …" for line in lines
    )
    text = "\n".join(lines_shown)
    return NoteData(
        path, start, text, scan(text), f"{reason} Only its beginning is shown.", is_complete=False
    )
