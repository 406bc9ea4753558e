"""The note parser: one pass masks code, math and comments, one parses lines, one parses inline syntax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.vault.markdown.blocks import LineFacts
from app.vault.markdown.frontmatter import Frontmatter, body_start, read_frontmatter
from app.vault.markdown.inline import scan_inline
from app.vault.markdown.masking import mask_text
from app.vault.markdown.privacy import classify_text
from app.vault.markdown.property_facts import property_links, property_tags
from app.vault.markdown.relations import property_relations, prose_relations
from app.vault.markdown.text import LineCounter
from app.vault.note import Heading, ParsedNote


def scan(text: str) -> ParsedNote:
    """Parse a note in time linear in its length. Never raises.

    Links, tags, fields, headings and tasks in code, math and comments are ignored. If the properties can't be
    read, `properties_problem` says why, and the rest of the note is still parsed.
    """
    frontmatter = read_frontmatter(text)
    masked = mask_text(text, frontmatter.body_start)
    facts = LineFacts(masked, text, frontmatter.body_start, LineCounter(text))
    return replace(
        _outline(frontmatter, masked, text, lambda: facts.headings),
        headings=tuple(facts.headings),
        blocks=tuple(facts.blocks),
        tasks=tuple(facts.tasks),
        observations=tuple(facts.observations),
    )


def scan_outline(text: str) -> ParsedNote:
    """Scan as `scan` does, but skip headings, block ids, tasks and observations."""
    frontmatter = read_frontmatter(text)
    start = frontmatter.body_start
    masked = mask_text(text, start)
    return _outline(
        frontmatter, masked, text, lambda: LineFacts(masked, text, start, LineCounter(text)).headings
    )


def scan_lines(text: str) -> LineFacts:
    """Parse the lines of a note for headings, block ids, tasks and observations."""
    start = body_start(text)
    return LineFacts(mask_text(text, start), text, start, LineCounter(text))


def _outline(
    frontmatter: Frontmatter, masked: str, text: str, headings: Callable[[], Sequence[Heading]]
) -> ParsedNote:
    start, lines = frontmatter.body_start, LineCounter(text)
    links, tags = scan_inline(masked, text, start, lines)
    in_properties = list(property_links(frontmatter, text, lines))
    in_prose = prose_relations(masked, text, links, headings)
    return ParsedNote(
        properties=frontmatter.properties,
        properties_problem=frontmatter.problem,
        privacy=classify_text(text, readable=_readable(text), frontmatter=frontmatter),
        body_start=start,
        links=(*(link for _, link, _ in in_properties), *links),
        relations=(*property_relations(in_properties, text), *in_prose),
        tags=(*property_tags(frontmatter, text, lines), *tags),
    )


def _readable(text: str) -> int | None:
    """Return the index of the first U+FFFD, which replaces undecodable bytes, or None."""
    index = text.find("\ufffd")
    return index if index >= 0 else None
