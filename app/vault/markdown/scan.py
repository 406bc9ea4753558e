"""A note's text to the facts in it: one pass for what is not prose, one for its lines, one for the rest."""

from __future__ import annotations

from app.vault.markdown.blocks import LineFacts
from app.vault.markdown.code_spans import masked as mask
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.inline import scan_inline
from app.vault.markdown.property_facts import property_links, property_tags
from app.vault.markdown.relations import property_relations, prose_relations
from app.vault.markdown.text import Lines
from app.vault.note import ParsedNote


def scan(text: str) -> ParsedNote:
    """Everything the text of a note says, in time linear in its length. Never raises.

    Links, tags, fields, headings and tasks in code, math and comments do not count. Properties that
    cannot be read are told in `properties_problem`, and the rest of the note is still there.
    """
    frontmatter = read_frontmatter(text)
    start = frontmatter.body_start
    lines = Lines(text)
    masked = mask(text, start)
    facts = LineFacts(masked, text, start, lines)
    links, tags = scan_inline(masked, text, start, lines)
    in_properties = list(property_links(frontmatter, text, lines))
    in_prose = prose_relations(masked, text, links, facts.headings)
    return ParsedNote(
        properties=frontmatter.properties,
        properties_problem=frontmatter.problem,
        body_start=start,
        links=(*(link for _, link, _ in in_properties), *links),
        relations=(*property_relations(in_properties, text), *in_prose),
        tags=(*property_tags(frontmatter, text, lines), *tags),
        headings=tuple(facts.headings),
        blocks=tuple(facts.blocks),
        tasks=tuple(facts.tasks),
        observations=tuple(facts.observations),
    )
