"""Lookup of headings by name, as in links and tool arguments, and the sections below them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.errors import AmbiguousError, NotFoundError
from app.vault.markdown.scan import scan
from app.vault.markdown.text import next_line_start
from app.vault.note import Heading

_STRIPPED = re.compile(r"[#|^\\:\[\]]|%%")
_BLOCK_ID = re.compile(r"\s+\^[A-Za-z0-9-]+$")
_ATX_MARK = re.compile(r" {0,3}#{1,6}(?:[ \t\r\n]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\r?(?:\n|\Z)")


def heading_key(text: str) -> str:
    r"""Normalize a heading for comparison: drop `# | ^ \ : [ ] %%`, case and extra spaces."""
    bare = _STRIPPED.sub(" ", unicodedata.normalize("NFC", text))
    return unicodedata.normalize("NFC", " ".join(bare.split()).casefold())


def heading_reference(text: str) -> str:
    """Return a heading as links write it, without the characters that they can't contain."""
    return " ".join(_STRIPPED.sub(" ", text).split())


def without_block_id(text: str) -> str:
    """Return a heading without a block id (`^id`) at its end and the space before it."""
    return _BLOCK_ID.sub("", text)


@dataclass(frozen=True, slots=True)
class HeadingSection:
    """A heading and the extent of the text below it, as character indexes.

    `start` is the index after the heading's line (and its underline), `own_end` the start of the next heading
    of any level, and `end` the start of the next heading of the same or a higher level. Without a next
    heading, both are the end of the text.
    """

    heading: Heading
    start: int
    own_end: int
    end: int


def heading_matches(headings: Sequence[Heading], target: str) -> list[int]:
    """Return the indexes of the headings that match `target`, a heading text or a path `H1#H2`."""
    path = [key for part in target.split("#") if (key := heading_key(part))]
    target_key = heading_key(target)
    matches = []
    ancestors: list[Heading] = []
    for index, heading in enumerate(headings):
        ancestors = [*(above for above in ancestors if above.level < heading.level), heading]
        key = heading_key(heading.text)
        if key == target_key or (path and key == path[-1] and _is_heading_path(ancestors[:-1], path[:-1])):
            matches.append(index)
    return matches


def section(text: str, target: str) -> HeadingSection:
    """Find the section of the one heading that matches `target`, which may leave out a block id (`^id`).

    Raises:
        NotFoundError: there is none; `suggestions` are the first 50 headings.
        AmbiguousError: there are several; `candidates` are their line numbers and texts.
    """
    headings = scan(text).headings
    matches = heading_matches(headings, target)
    if not matches:
        unmarked = [replace(heading, text=without_block_id(heading.text)) for heading in headings]
        matches = heading_matches(unmarked, target)
    if not matches:
        names = [heading.text for heading in headings[:50]]
        raise NotFoundError(f"The note has no heading {target!r}.", heading=target, suggestions=names)
    if len(matches) > 1:
        lines = [f"line {headings[i].line}: {'#' * headings[i].level} {headings[i].text}" for i in matches]
        message = (
            f"The note has {len(matches)} headings named {target!r}. Use `Parent#{target}` to select one."
        )
        raise AmbiguousError(message, heading=target, candidates=lines)
    return section_at(text, headings, matches[0])


def section_at(text: str, headings: Sequence[Heading], index: int) -> HeadingSection:
    """Return the section of the heading at `index`."""
    heading = headings[index]
    start = next_line_start(text, heading.span.end)
    # The text of an underlined heading can start with a tag, so "#" alone does not mark an ATX heading.
    is_setext = not _ATX_MARK.match(text[heading.span.start : heading.span.end])
    if is_setext and (underline := _UNDERLINE.match(text, start)):
        start = underline.end()
    later_headings = headings[index + 1 :]
    own_end = later_headings[0].span.start if later_headings else len(text)
    end = next((other.span.start for other in later_headings if other.level <= heading.level), len(text))
    return HeadingSection(heading, start, own_end, end)


def _is_heading_path(ancestors: list[Heading], path: list[str]) -> bool:
    """Return whether `ancestors` contain `path` in order, possibly with other levels in between."""
    keys = iter(heading_key(heading.text) for heading in ancestors)
    return all(part in keys for part in path)
