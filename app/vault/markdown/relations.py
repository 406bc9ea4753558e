"""Parsing of typed relations in list items, inline fields and properties.

The forms are `- supports [[T]] (confidence: 0.8, because …)`, `supports:: [[T]]`, `[supports:: [[T]]]`,
`(supports:: [[T]])`, and the property `supports: "[[T]]"`. Sources: basic-memory's relations and Dataview's
inline fields.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from app.vault.note import KNOWN_RELATIONS, Heading, Link, Relation, Span

_NOT_A_RELATION = frozenset(["TAGS", "TAG", "ALIAS", "ALIASES"])
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[.\][ \t]+")
_TYPE = re.compile(r"(?:\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'|(\w[\w-]{0,79}):?)[ \t]+")
_PLAIN_TYPE = re.compile(r"[a-z][a-z0-9_]{2,}")
_KEY = r"\w[\w /-]{0,79}?"
_LINE_FIELD = re.compile(rf"[*_]*({_KEY})[*_]*::[*_]*[ \t]*")
_INLINE_FIELD = re.compile(rf"[\[(](?<!\\.)[*_]*({_KEY})[*_]*::[ \t]*")
_BETWEEN = re.compile(r"[ \t]*(?:[,;&]|and\b)?[ \t]*")
_CONFIDENCE = re.compile(r"\bconfidence\s*[:=]\s*(\d{0,3}(?:\.\d+)?)(\s*%)?(?![\w.])", re.IGNORECASE)
_ITEM_TAIL = re.compile(r"[ \t]*(?:\((.*)\))?[ \t]*[.;,]?(?:[ \t]+#\S+)*(?:[ \t]+\^[A-Za-z0-9-]+)?[ \t\r]*")
_BRACKET = re.compile(r"[\[\]()]")
_MAX_REMARK_CHARS = 2000


def relation_type(words: str) -> str:
    """Return a type in UPPER_SNAKE: `relates to` becomes `RELATES_TO`."""
    return re.sub(r"[^\w]+", "_", words).strip("_").upper()


def relation_word(kind: str) -> str:
    """Return a type in lower_snake, its spelling in Markdown."""
    return relation_type(kind).lower()


def relation_phrase(kind: str) -> str:
    """Return a type as words, for sentences and labels."""
    return relation_word(kind).replace("_", " ")


def parse_context(context: str | None) -> tuple[float | None, str | None]:
    """Parse the text in parentheses after a relation into its confidence (0 to 1) and remark, if any."""
    if context is None:
        return None, None
    match = _CONFIDENCE.search(context)
    if not match or not match[1]:
        return None, context.strip() or None
    number = float(match[1]) / (100 if match[2] else 1)
    rest = f"{context[: match.start()].rstrip(' ,;')}, {context[match.end() :].lstrip(' ,;')}".strip(" ,;")
    return (number if 0 <= number <= 1 else None), rest or None


def prose_relations(
    masked: str, text: str, links: Sequence[Link], headings: Callable[[], Sequence[Heading]]
) -> Iterator[Relation]:
    """Yield the relations in the list items and fields of the prose; embeds are not relations.

    Args:
        masked: The text with code, math and comments masked.
        text: The text itself.
        links: The links of the prose, in order.
        headings: Returns the headings, in order; called only if a line's meaning depends on them.
    """
    sections = _RelationSections(headings, len(text))
    for number, group in groupby(links, key=lambda link: link.line):
        line_links = [link for link in group if not link.embed]
        if not line_links:
            continue
        begin = text.rfind("\n", 0, line_links[0].span.start) + 1
        end = text.find("\n", line_links[-1].span.end)
        span = Span(begin, end if end >= 0 else len(text))
        yield from _line_relations(masked, text, span, line_links, number, sections)


def property_relations(property_links: Sequence[tuple[str, Link, bool]], text: str) -> Iterator[Relation]:
    """Yield a relation for each value or list item in the properties that is a link.

    Tags, aliases and CSS classes are not relations.

    Args:
        property_links: Key, link, and whether the link is the whole value.
        text: The note's text.
    """
    for key, link, is_whole_value in property_links:
        kind = relation_type(key)
        if is_whole_value and kind and kind not in _NOT_A_RELATION and not kind.startswith("CSSCLASS"):
            confidence, note = parse_context(_parenthesized(text, link.span.end))
            yield Relation(kind, link, confidence, note, link.span, link.line)


class _RelationSections:
    """The parts of a text under a `Relations` heading, where any word is a type."""

    def __init__(self, headings: Callable[[], Sequence[Heading]], end: int) -> None:
        self._headings = headings
        self._end = end
        self._spans: list[Span] | None = None

    def contains(self, position: int) -> bool:
        """Return whether a position is in such a part."""
        if self._spans is None:
            self._spans = _relation_spans(self._headings(), self._end)
        index = bisect_right(self._spans, position, key=lambda span: span.start) - 1
        return index >= 0 and position < self._spans[index].end


def _relation_spans(headings: Sequence[Heading], end: int) -> list[Span]:
    spans: list[Span] = []
    section_heading: Heading | None = None
    for heading in headings:
        if section_heading and heading.level <= section_heading.level:
            spans.append(Span(section_heading.span.end, heading.span.start))
            section_heading = None
        if not section_heading and heading.text.strip().casefold() == "relations":
            section_heading = heading
    return [*spans, Span(section_heading.span.end, end)] if section_heading else spans


def _line_relations(
    masked: str, text: str, span: Span, links: list[Link], number: int, sections: _RelationSections
) -> Iterator[Relation]:
    start = span.start
    item = _ITEM.match(masked, start, span.end)
    if item:
        start = item.end()
        box = _BOX.match(masked, start, span.end)
        start = box.end() if box else start
    if masked.find("::", span.start, span.end) >= 0:
        yield from _inline_fields(masked, text, Span(start, span.end), links, number)
    elif item and start < links[0].span.start:
        yield from _list_item(masked, text, span, start, links, number, sections)


def _list_item(
    masked: str,
    text: str,
    span: Span,
    start: int,
    links: list[Link],
    number: int,
    sections: _RelationSections,
) -> Iterator[Relation]:
    match = _TYPE.match(masked, start, span.end)
    if not match or match.end() != links[0].span.start:
        return
    kind = relation_type(match[1] or match[2] or match[3])
    is_common = not match[3] or kind in KNOWN_RELATIONS or _PLAIN_TYPE.fullmatch(match[3])
    if not is_common and not sections.contains(span.start):
        return
    targets = _join_links(masked, links)
    tail = _ITEM_TAIL.fullmatch(text, targets[-1].span.end, span.end)
    if kind and kind not in _NOT_A_RELATION and (tail or sections.contains(span.start)):
        confidence, note = parse_context(tail[1] if tail else _parenthesized(text, targets[-1].span.end))
        item_span = Span(span.start, span.end - 1 if text[span.end - 1] == "\r" else span.end)
        for link in targets:
            yield Relation(kind, link, confidence, note, item_span, number)


def _inline_fields(masked: str, text: str, span: Span, links: list[Link], number: int) -> Iterator[Relation]:
    if match := _LINE_FIELD.match(masked, span.start, span.end):
        yield from _field_relations(masked, text, match[1], match.end(), span, links, number)
        return
    position = span.start
    closings = _closings(masked, span)
    while match := _INLINE_FIELD.search(masked, position, span.end):
        end = closings.get(match.start())
        if end is not None:
            field = Span(match.start(), end + 1)
            yield from _field_relations(masked, text, match[1], match.end(), field, links, number)
        position = end if end is not None else match.end()


def _field_relations(
    masked: str, text: str, key: str, value_start: int, span: Span, links: list[Link], number: int
) -> Iterator[Relation]:
    kind = relation_type(key)
    field_links = [link for link in links if link.span.start >= value_start and link.span.end <= span.end]
    if not kind or kind in _NOT_A_RELATION or not field_links or field_links[0].span.start != value_start:
        return
    targets = _join_links(masked, field_links)
    confidence, note = parse_context(_parenthesized(text, targets[-1].span.end, span.end))
    for link in targets:
        yield Relation(kind, link, confidence, note, span, number)


def _join_links(masked: str, links: list[Link]) -> list[Link]:
    """Return the first link and the ones joined to it by a comma, `;`, `&` or `and`."""
    targets = [links[0]]
    for link in links[1:]:
        if link.span.start < targets[-1].span.end:
            continue
        if not _BETWEEN.fullmatch(masked, targets[-1].span.end, link.span.start):
            break
        targets.append(link)
    return targets


def _closings(masked: str, span: Span) -> dict[int, int]:
    """Map each opening bracket in `span` to its closing one; `[` and `(` are matched separately."""
    closings: dict[int, int] = {}
    opened: dict[str, list[int]] = {"]": [], ")": []}
    for match in _BRACKET.finditer(masked, span.start, span.end):
        kind = match[0]
        if kind in "[(":
            opened["]" if kind == "[" else ")"].append(match.start())
        elif opened[kind]:
            closings[opened[kind].pop()] = match.start()
    return closings


def _parenthesized(text: str, position: int, end: int | None = None) -> str | None:
    """Return the text in the parentheses that follow directly on the same line."""
    limit = min(position + _MAX_REMARK_CHARS, len(text) if end is None else end)
    window = text[position:limit].partition("\n")[0].lstrip(" \t")
    if not window.startswith("("):
        return None
    closed = _closings(window, Span(0, len(window))).get(0)
    return window[1:closed] if closed is not None else None
