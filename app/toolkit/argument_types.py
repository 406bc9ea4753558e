"""The kinds of argument that tools take, so that every front end knows what a slot refers to.

A tool declares `name: NoteName`; the type carries its `Slot`, which the palette uses to complete names, the
built-in agent to resolve words to notes, and the gate to find the notes that a call names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue


class ArgumentKind(StrEnum):
    """The kind of thing that a text argument names."""

    NOTE = "note"
    NEW_NOTE = "new-note"
    FOLDER = "folder"
    TAG = "tag"
    HEADING = "heading"
    MARKDOWN = "markdown"
    QUERY = "query"
    PROPERTIES = "properties"
    HASH = "hash"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Slot:
    """Metadata of an annotation: the kind of thing that the argument names."""

    kind: ArgumentKind


_NAME_FIELD = Field(min_length=1, max_length=1000)

NoteName = Annotated[str, Slot(ArgumentKind.NOTE), _NAME_FIELD]
"""A note that exists: its name, path, id, or a wikilink to it."""

NewNoteName = Annotated[str, Slot(ArgumentKind.NEW_NOTE), _NAME_FIELD]
"""The name of a note to create."""

FolderName = Annotated[str, Slot(ArgumentKind.FOLDER), Field(max_length=1000)]
"""A folder of the vault; empty for its root."""

TagName = Annotated[str, Slot(ArgumentKind.TAG), Field(min_length=1, max_length=200)]
"""A tag, with or without its `#`."""

HeadingText = Annotated[str, Slot(ArgumentKind.HEADING), _NAME_FIELD]
"""The text of a heading, without its `#`."""

MarkdownText = Annotated[str, Slot(ArgumentKind.MARKDOWN), Field(max_length=4 * 1024 * 1024)]
"""Text of a note."""

SearchQuery = Annotated[str, Slot(ArgumentKind.QUERY), Field(min_length=1, max_length=4000)]
"""A search in the search language, or free text if a tool says so."""

Properties = Annotated[dict[str, JsonValue], Slot(ArgumentKind.PROPERTIES)]
"""Properties of a note by name."""

ContentHash = Annotated[str, Slot(ArgumentKind.HASH), Field(pattern="^[0-9a-f]{64}$")]
"""The SHA-256 of a file's bytes, in hex."""

Limit = Annotated[int, Field(ge=1, le=1000)]
"""The maximum number of results."""

Offset = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""The number of results to skip."""

Proportion = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""

Sorting = Annotated[str, Field(min_length=1, max_length=200)]
"""An order of notes: by relevance, a time, a count or a property; a leading `-` reverses it."""
