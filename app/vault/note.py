"""Immutable values for a note's contents, with their spans or lines in the text.

Spans count characters of the decoded text (UTF-8, with original newlines and BOM), so that
`text[span.start:span.end]` is the element's text, and encoding the text restores the file's bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

TAG_KEYS = ("tags", "tag")
ALIAS_KEYS = ("aliases", "alias")
ID_KEYS = ("id", "permalink")
MEANINGFUL_KEYS = frozenset((*TAG_KEYS, *ALIAS_KEYS, *ID_KEYS, "ai", "type", "confidence", "origin"))
"""The properties with a meaning for the app, in lower case."""
LINKS_TO = "LINKS_TO"
RELATES_TO = "RELATES_TO"
KNOWN_RELATIONS = (
    "SUPPORTS",
    "CONTRADICTS",
    "RELATES_TO",
    "CITES",
    "DERIVED_FROM",
    "OBSERVED_IN",
    "DISCUSSES",
    "INSPIRED_BY",
    "PRECEDES",
    "CAUSES",
    "PART_OF",
    "SIMILAR_TO",
)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a note's decoded text."""

    start: int
    end: int


class LinkStyle(StrEnum):
    """The syntax of a link."""

    WIKI = "wiki"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a note or a file of the vault (Markdown links with a URL scheme are skipped).

    `target` is the name or path to resolve (percent-decoded in Markdown style), empty for a link within the
    note. `heading` is the text after `#` (with inner `#`), `block` the id after `#^`. `span` covers the whole
    link, including the `!` of an embed; `target_span` covers only the target as written, which a rename
    replaces. `line` counts from 1. `in_properties` means that the link is in the frontmatter.
    """

    target: str
    heading: str | None
    block: str | None
    alias: str | None
    style: LinkStyle
    embed: bool
    span: Span
    target_span: Span
    line: int
    in_properties: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge of the graph.

    `type` is UPPER_SNAKE, `confidence` 0 to 1 or None, `note` the remark after the link. `span` covers the
    list item or field.
    """

    type: str
    link: Link
    confidence: float | None
    note: str | None
    span: Span
    line: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag without its `#`, as written; `span` covers the `#` of an inline one."""

    name: str
    span: Span
    line: int
    in_properties: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `span` covers its line without the newline."""

    level: int
    text: str
    span: Span
    line: int


@dataclass(frozen=True, slots=True)
class BlockId:
    """A block id (without `^`) and the line it ends."""

    id: str
    line: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task with its text, its state and its line."""

    text: str
    done: bool
    line: int


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation: the list item `- [category] text #tag (context)`."""

    category: str
    text: str
    context: str | None
    line: int


class Privacy(StrEnum):
    """The visibility of a note to models and external programs; `UNKNOWN` is hidden from them, too."""

    PUBLIC = "public"
    PRIVATE = "private"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PrivacyVerdict:
    """The privacy of a note; `reason` is a clause that says why it could not be determined."""

    privacy: Privacy
    reason: str = ""

    @property
    def hides(self) -> bool:
        """True if the note is hidden from models and external programs."""
        return self.privacy is not Privacy.PUBLIC


PUBLIC = PrivacyVerdict(Privacy.PUBLIC)


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """The parsed contents of a note.

    `properties` are plain JSON-like values (dates as ISO strings). `properties_problem` says why the
    frontmatter could not be read; `properties` is then empty, but the rest is parsed. `privacy` is the
    verdict of `app.vault.markdown.privacy`. `body_start` is the index after the frontmatter.
    """

    properties: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    properties_problem: str | None = None
    privacy: PrivacyVerdict = PUBLIC
    body_start: int = 0
    links: tuple[Link, ...] = ()
    relations: tuple[Relation, ...] = ()
    tags: tuple[Tag, ...] = ()
    headings: tuple[Heading, ...] = ()
    blocks: tuple[BlockId, ...] = ()
    tasks: tuple[Task, ...] = ()
    observations: tuple[Observation, ...] = ()

    @property
    def type(self) -> str:
        """The `type` property in lower case, `note` by default."""
        value = self.properties.get("type")
        return value.strip().lower() if isinstance(value, str) and value.strip() else "note"

    @property
    def confidence(self) -> float | None:
        """The `confidence` property if it is a number from 0 to 1, else None."""
        value = self.properties.get("confidence")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[arg-type,operator]

    @property
    def aliases(self) -> tuple[str, ...]:
        """The aliases from the `aliases` or `alias` property, a list or a single value."""
        value = next((self.properties[key] for key in ALIAS_KEYS if key in self.properties), None)
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(str(item).strip() for item in items if isinstance(item, str | int) and str(item).strip())

    @property
    def id(self) -> str | None:
        """The `id` or `permalink` property, by which tools may address the note; None if it has neither."""
        for key in ID_KEYS:
            value = self.properties.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    @property
    def is_private(self) -> bool:
        """True if the note is hidden from models, external clients and embeddings."""
        return self.privacy.hides

    @property
    def is_from_web(self) -> bool:
        """True if the note contains text from a web page that the user has not verified.

        The property `origin: web` marks such a note; one with unreadable properties counts as marked.
        """
        if self.properties_problem is not None:
            return True
        value = self.properties.get("origin")
        return isinstance(value, str) and value.strip().lower() == "web"

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The distinct tags in order, spelled as first written."""
        seen: dict[str, str] = {}
        for tag in self.tags:
            seen.setdefault(tag.name.casefold(), tag.name)
        return tuple(seen.values())
