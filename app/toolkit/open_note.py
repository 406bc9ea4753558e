"""A note that a tool has opened: its bytes and what they say, and the changes that can be proposed of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.errors import UnreadableNoteError
from app.vault.changes import Delete, Move, Update, content_hash
from app.vault.markdown import edit
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode, decode_lossy
from app.vault.note import ParsedNote
from app.vault.path import NotePath
from app.vault.storage_id import StorageId


@dataclass(frozen=True)
class OpenNote:
    """A note as it was when it was opened; nothing here writes."""

    path: NotePath
    content: bytes

    @property
    def name(self) -> str:
        """What a wikilink calls it."""
        return self.path.name

    @property
    def storage_id(self) -> StorageId:
        """Where it is stored: what tools call it by."""
        return StorageId.of_file(self.path)

    @property
    def hash(self) -> str:
        """The SHA-256 of its bytes, in hex."""
        return content_hash(self.content)

    @cached_property
    def text(self) -> str:
        """Its text, every character kept, so that an edited one can be written back.

        Raises:
            UnreadableNoteError: the bytes are not UTF-8; such a note is never rewritten.
        """
        return decode(self.content)

    @cached_property
    def readable_text(self) -> str:
        """Its text for reading only; what is not UTF-8 is replaced."""
        return decode_lossy(self.content)

    @cached_property
    def parsed(self) -> ParsedNote:
        """What its text says."""
        return scan(self.readable_text)

    @property
    def is_from_web(self) -> bool:
        """Whether its properties say, or might say, that it holds a page of the web."""
        try:
            text = self.text
        except UnreadableNoteError:
            return True
        # Only an escape could hide the word from this, and then the properties are read.
        if "origin" not in text and "\\" not in text:
            return False
        found = read_frontmatter(text)
        return ParsedNote(properties=found.properties, properties_problem=found.problem).is_from_web

    def with_text(self, text: str) -> Update:
        """The change that makes `text` its whole text."""
        decode(self.content)  # Bytes that are not UTF-8 are never replaced by an edit of a lossy reading.
        return Update(self.path, self.content, text.encode("utf-8"))

    def with_body(self, body: str) -> Update:
        """The change that makes `body` its text after the properties, which stay byte for byte."""
        return self.with_text(edit.replace_body(self.text, body))

    def delete_change(self) -> Delete:
        """The change that moves it to the vault's trash."""
        return Delete(self.path, self.content)

    def move_change(self, to: NotePath, text: str | None = None) -> Move:
        """The change that moves it to `to`, with a new text where one is given."""
        after = self.content if text is None else self.with_text(text).after
        return Move(self.path, to, self.content, after)
