"""An entry in an agent's archive: an immutable text with metadata."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from app.errors import InvalidParametersError
from app.memory.content import timestamp
from app.memory.labels import entry_path
from app.memory.serialization import header_text, parse_document
from app.vault.path import NotePath

MAX_ENTRY_CHARS = 100_000


class _EntryHeader(BaseModel):
    model_config = ConfigDict(extra="forbid")

    owner: str = Field(min_length=1, max_length=200)
    entry: str = Field(pattern=r"^[0-9a-z-]{1,60}$")
    created: str
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """An archived text with its owner and time (ISO 8601); the agent provides `metadata`."""

    owner: str
    id: str
    created: str
    text: str
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @classmethod
    def new(cls, owner: str, text: str, metadata: Mapping[str, JsonValue] | None = None) -> ArchiveEntry:
        """Create an entry with the current time; ids sort by creation time, to the second.

        Raises:
            InvalidParametersError: the text is empty or too long.
        """
        if not text.strip() or len(text) > MAX_ENTRY_CHARS:
            message = f"An entry must have 1 to {MAX_ENTRY_CHARS:,} characters."
            raise InvalidParametersError(message, size=len(text))
        entry_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
        return cls(owner, entry_id, timestamp(), text, dict(metadata or {}))

    @property
    def path(self) -> NotePath:
        """The path of the entry in the store "memory"."""
        return entry_path(self.owner, self.id)

    @property
    def data(self) -> bytes:
        """The entry as bytes: a header, then the text."""
        values: dict[str, JsonValue] = {"owner": self.owner, "entry": self.id, "created": self.created}
        if self.metadata:
            values["metadata"] = dict(self.metadata)
        return f"{header_text(values)}{self.text}".encode()


def parse_entry(data: bytes) -> ArchiveEntry:
    """Parse an entry.

    Raises:
        InvalidParametersError: the bytes are not a valid entry.
    """
    values, text = parse_document(data)
    try:
        header = _EntryHeader.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        message = f"The entry's header is invalid at {location}: {first['msg']}."
        raise InvalidParametersError(message) from error
    return ArchiveEntry(header.owner, header.entry, header.created, text, header.metadata)
