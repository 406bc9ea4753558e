"""An entry of an agent's archive: a text that is kept as it was said. Nothing changes one later."""

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
    """What was remembered, by whom and when (ISO 8601); `metadata` is what the agent says about it."""

    owner: str
    id: str
    created: str
    text: str
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @classmethod
    def new(cls, owner: str, text: str, metadata: Mapping[str, JsonValue] | None = None) -> ArchiveEntry:
        """An entry that is to be kept; later ones have greater ids.

        Raises:
            InvalidParametersError: the text is empty or too long.
        """
        if not text.strip() or len(text) > MAX_ENTRY_CHARS:
            message = f"An entry has 1 to {MAX_ENTRY_CHARS:,} characters."
            raise InvalidParametersError(message, size=len(text))
        id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
        return cls(owner, id, timestamp(), text, dict(metadata or {}))

    @property
    def path(self) -> NotePath:
        """Where it is in the place "memory"."""
        return entry_path(self.owner, self.id)

    @property
    def data(self) -> bytes:
        """Its bytes: a header, then the text."""
        values: dict[str, JsonValue] = {"owner": self.owner, "entry": self.id, "created": self.created}
        if self.metadata:
            values["metadata"] = dict(self.metadata)
        return f"{header_text(values)}{self.text}".encode()


def parse_entry(data: bytes) -> ArchiveEntry:
    """The entry that the bytes say.

    Raises:
        InvalidParametersError: they say none.
    """
    values, text = parse_document(data)
    try:
        header = _EntryHeader.model_validate(values)
    except ValidationError as error:
        raise InvalidParametersError(f"That is no entry of an archive: {error}") from error
    return ArchiveEntry(header.owner, header.entry, header.created, text, header.metadata)
