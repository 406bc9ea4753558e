"""A note that a tool has opened: its bytes, its parsed content, and the changes that it can propose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.errors import UnreadableNoteError
from app.vault.changes import Delete, Move, Update, content_hash
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode, decode_lossy
from app.vault.note import ParsedNote
from app.vault.path import NotePath
from app.vault.storage_id import StorageId


@dataclass(frozen=True)
class OpenNote:
    """A snapshot of a note or other file, taken when it was opened; it never writes."""

    path: NotePath
    content: bytes

    @property
    def name(self) -> str:
        """Its name in a wikilink."""
        return self.path.name

    @property
    def storage_id(self) -> StorageId:
        """The storage id by which tools refer to it."""
        return StorageId.of_file(self.path)

    @property
    def hash(self) -> str:
        """The SHA-256 of its bytes, in hex."""
        return content_hash(self.content)

    @cached_property
    def text(self) -> str:
        """Its text, decoded without loss, so that an edited version can be written back.

        Raises:
            UnreadableNoteError: the bytes are not UTF-8; such a note is never rewritten.
        """
        return decode(self.content)

    @cached_property
    def readable_text(self) -> str:
        """Its text for reading only; bytes that are not UTF-8 become replacement characters."""
        return decode_lossy(self.content)

    @cached_property
    def parsed(self) -> ParsedNote:
        """Its parsed text."""
        return scan(self.readable_text)

    @property
    def is_from_web(self) -> bool:
        """True if its properties mark it as a web page, or if they can't be read."""
        try:
            text = self.text
        except UnreadableNoteError:
            return True
        # Only an escape could hide the word from this check; in that case, the properties are parsed.
        if "origin" not in text and "\\" not in text:
            return False
        frontmatter = read_frontmatter(text)
        return ParsedNote(
            properties=frontmatter.properties, properties_problem=frontmatter.problem
        ).is_from_web

    def with_text(self, text: str) -> Update:
        """Return the change that replaces its whole text with `text`.

        Raises:
            UnreadableNoteError: its bytes are not UTF-8.
        """
        decode(self.content)  # An edit of a lossy decoding must never replace bytes that are not UTF-8.
        return Update(self.path, self.content, text.encode("utf-8"))

    def delete_change(self) -> Delete:
        """Return the change that moves it to the vault's trash."""
        return Delete(self.path, self.content)

    def move_change(self, to: NotePath, text: str | None = None) -> Move:
        """Return the change that moves it to `to`, with `text` as its new text if given.

        Raises:
            UnreadableNoteError: `text` is given, but its bytes are not UTF-8.
        """
        after = self.content if text is None else self.with_text(text).after
        return Move(self.path, to, self.content, after)
