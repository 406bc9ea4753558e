"""Notes as values: what a note's text says, with the span of each thing. All frozen.

Spans count characters of the decoded text (UTF-8, newlines and BOM as they are), so that
`text[span.start:span.end]` is the thing itself, and encoding the text gives the file's bytes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

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
KNOWN_TYPES = ("note", "concept", "entity", "hypothesis", "observation", "source")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a note's decoded text."""

    start: int
    end: int


class LinkStyle(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a note or a file of the vault (links with a URL scheme in Markdown style are not kept).

    `target` is the name or path as it resolves (percent-decoded in Markdown style); empty for a link
    into the same note. `heading` is the text after `#` (inner `#` kept), `block` the id after `#^`.
    `span` covers the whole link, the `!` of an embed included; `target_span` only the target as written,
    which is what a rename replaces. `line` counts from 1. `in_properties`: it stands in the frontmatter.
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
    """A typed edge: `type` is UPPER_SNAKE, `confidence` 0 to 1 or None, `span` the list item or field."""

    type: str
    link: Link
    confidence: float | None
    note: str | None
    span: Span
    line: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag without its `#`, as first written; `span` covers the `#` of an inline one."""

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
    """A task box: its text, whether it is done, its line."""

    text: str
    done: bool
    line: int


@dataclass(frozen=True, slots=True)
class Observation:
    """`- [category] text #tag (context)`."""

    category: str
    text: str
    context: str | None
    line: int


class Privacy(StrEnum):
    """Whether models and programs outside may see a note; `UNKNOWN` is kept from them, too."""

    PUBLIC = "public"
    PRIVATE = "private"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PrivacyVerdict:
    """What was decided on a note; `reason` says why it could not be judged, as a part of a sentence."""

    privacy: Privacy
    reason: str = ""

    @property
    def hides(self) -> bool:
        """Whether the note is kept from models and programs."""
        return self.privacy is not Privacy.PUBLIC


PUBLIC = PrivacyVerdict(Privacy.PUBLIC)


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything a note's text says.

    `properties` are plain JSON-like values (dates as ISO strings); `properties_problem` says why a
    block could not be read (then `properties` is empty and the rest is still there). `privacy` is the
    verdict of `app.vault.markdown.privacy`.
    `body_start` is the first character after the frontmatter.
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
        """The `type` property in lower case, `note` when there is none."""
        value = self.properties.get("type")
        return value.strip().lower() if isinstance(value, str) and value.strip() else "note"

    @property
    def confidence(self) -> float | None:
        """The `confidence` property where it is a number from 0 to 1."""
        value = self.properties.get("confidence")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if number and 0 <= value <= 1 else None  # type: ignore[arg-type,operator]

    @property
    def aliases(self) -> tuple[str, ...]:
        """The `aliases` (or `alias`) property, a list or one string."""
        value = self.properties.get("aliases", self.properties.get("alias"))
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(str(item).strip() for item in items if isinstance(item, str | int) and str(item).strip())

    @property
    def id(self) -> str | None:
        """The `id` or `permalink` property, for tools that address notes by it."""
        for key in ("id", "permalink"):
            value = self.properties.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    @property
    def is_private(self) -> bool:
        """Whether it is kept from every model, external client and embedding."""
        return self.privacy.hides

    @property
    def is_from_web(self) -> bool:
        """Whether it holds text of a web page, which the user has not vouched for.

        `origin: web` says so; properties that can't be read might.
        """
        if self.properties_problem is not None:
            return True
        value = self.properties.get("origin")
        return isinstance(value, str) and value.strip().lower() == "web"

    @property
    def tag_names(self) -> tuple[str, ...]:
        """Each tag once, in order, by its first casing."""
        seen: dict[str, str] = {}
        for tag in self.tags:
            seen.setdefault(tag.name.casefold(), tag.name)
        return tuple(seen.values())
