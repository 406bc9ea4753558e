"""Functions that add, change and remove relations.

A relation that is the only one in its list item or field is changed in place. Any other relation, or one
that can't be changed in place, is removed and rewritten as an item under `## Relations`. Each edit is parsed
again before it is returned: if the relations differ from the intended ones, nothing is changed and an error
is raised.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from app.errors import InvalidParametersError, NotFoundError
from app.vault.markdown.body_edits import append, gap_before, insert_lines
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import heading_key, section_at
from app.vault.markdown.properties import remove_property, set_property
from app.vault.markdown.relations import relation_type, relation_word
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits, newline_of, with_newlines
from app.vault.note import ParsedNote, Relation, Span

RELATIONS_HEADING = "Relations"

_TYPE = re.compile(r"\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|\w[\w-]{0,79}")
_KEY = re.compile(r"\w[\w /-]{0,79}?(?=[*_]*::)")
_CONFIDENCE = re.compile(r"\bconfidence\s*[:=]\s*\d{0,3}(?:\.\d+)?(?:\s*%)?(?![\w.])", re.IGNORECASE)
_MARKER = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_EMPTY = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]*(?:\[.\][ \t]*)?)?\r?")

RelationFields = tuple[str, str, float | None, str | None]


def add_relation(
    text: str, kind: str, target: str, confidence: float | None = None, note: str | None = None
) -> str:
    """Return `text` with a new relation at the end of `## Relations`, which is created if missing.

    Args:
        text: A note's text.
        kind: The relation's type, in any spelling: `SUPPORTS`, `relates to`.
        target: The link's text, with or without brackets.
        confidence: From 0 to 1.
        note: A remark; newlines become spaces.

    Raises:
        InvalidParametersError: the type has no letter or digit, or the confidence is out of range.
    """
    bare = target.removeprefix("[[").removesuffix("]]")
    return add_items(text, [_item_line(kind, f"[[{bare}]]", confidence, note)])


def add_items(text: str, items: Iterable[str]) -> str:
    """Return `text` with these lines at the end of `## Relations`, which is created if missing."""
    lines = list(items)
    if not lines:
        return text
    headings = scan(text).headings
    for index, heading in enumerate(headings):
        if heading_key(heading.text) == RELATIONS_HEADING.casefold():
            section = section_at(text, headings, index)
            return insert_lines(text, section.start, section.own_end, "\n".join(lines))
    newline = newline_of(text, len(text))
    trimmed = text.rstrip()
    gap = "" if not trimmed or text[len(trimmed) :].count("\n") > 1 else newline
    return append(text, f"{gap}## {RELATIONS_HEADING}{newline}{newline}{newline.join(lines)}")


def final_section(text: str, note: ParsedNote) -> Span | None:
    """Return the span of a final `## Relations` section that contains only relations; None without one.

    Args:
        text: A note's text.
        note: The note as parsed from it.
    """
    for index, heading in enumerate(note.headings):
        if heading_key(heading.text) != RELATIONS_HEADING.casefold():
            continue
        section = section_at(text, note.headings, index)
        lines = {
            relation.line
            for relation in note.relations
            if section.start <= relation.span.start < section.own_end
        }
        line_count = sum(1 for line in text[section.start : section.own_end].splitlines() if line.strip())
        if section.own_end == len(text) and line_count == len(lines):
            return Span(heading.span.start, len(text))
    return None


def append_prose(text: str, addition: str) -> str:
    """Return `text` with `addition` on new lines at its end, but before a final `## Relations` section.

    A text that contains relations is added at the end, to the section, and so is one that would take in the
    section or its heading, such as an unclosed code fence.
    """
    before = scan(text)
    section = final_section(text, before)
    if section is None or scan(addition).relations:
        return append(text, addition)
    after = _insert_before(text, section, addition)
    inserted = scan(after)
    shift = len(after) - len(text)
    is_safe = (
        [*map(_relation_fields, inserted.relations)] == [*map(_relation_fields, before.relations)]
        # An empty section has no relations that could get lost.
        and any(heading.span.start == section.start + shift for heading in inserted.headings)
        and inserted.properties == before.properties
    )
    return after if is_safe else append(text, addition)


def _insert_before(text: str, section: Span, addition: str) -> str:
    prose = text[: section.start]
    end = len(prose.rstrip("\r\n"))
    newline = newline_of(text, section.start)
    added = with_newlines(addition, newline).removesuffix(newline)
    if not prose[read_frontmatter(text).body_start :].strip():
        return apply_edits(text, [(section.start, section.start, f"{added}{newline}{newline}")])
    gap = gap_before(prose[:end], added, newline)
    return apply_edits(text, [(end, end, f"{newline}{gap}{added}")])


def format_item(text: str, relation: Relation) -> str:
    """Format a relation from `text` as a list item on its own line."""
    return _item_line(relation.type, _link_text(text, relation), relation.confidence, relation.note)


def change_relation(
    text: str,
    relation: Relation,
    *,
    kind: str | None = None,
    confidence: float | None = None,
    keep_note: bool = True,
) -> str:
    """Return `text` with one relation changed.

    Args:
        text: A note's text.
        relation: A relation that `scan` found in this text.
        kind: The new type; None keeps it.
        confidence: The new confidence, 0 to 1; None keeps it.
        keep_note: Whether to keep the remark.

    Raises:
        InvalidParametersError: the type or confidence is invalid, or the relation can't be changed without
            changing others.
        NotFoundError: `text` does not contain the relation.
    """
    before = scan(text)
    index = _relation_index(before, relation)
    kind = relation.type if kind is None else _check_type(kind)
    new_confidence = relation.confidence if confidence is None else _check_confidence(confidence)
    note = relation.note if keep_note else None
    new_fields: RelationFields = (kind, relation.link.target, new_confidence, note)
    if new_fields == _relation_fields(relation):
        return text
    expected = [*map(_relation_fields, before.relations)]
    expected[index] = new_fields
    for attempt in _changes(text, before, relation, new_fields):
        if Counter(map(_relation_fields, scan(attempt).relations)) == Counter(expected):
            return attempt
    raise InvalidParametersError(
        f"The relation on line {relation.line} can't be changed on its own. Nothing was changed.",
        line=relation.line,
    )


def remove_relation(text: str, relation: Relation) -> str:
    """Return `text` without one relation, and without a line or property that held nothing else.

    If nothing else is under the heading `Relations`, the heading is removed, too.

    Args:
        text: A note's text.
        relation: A relation that `scan` found in this text.

    Raises:
        InvalidParametersError: it can't be removed without changing other relations.
        NotFoundError: `text` does not contain the relation.
    """
    before = scan(text)
    index = _relation_index(before, relation)
    expected = [*map(_relation_fields, before.relations)]
    expected.pop(index)
    for attempt in _removals(text, before, relation):
        if Counter(map(_relation_fields, scan(attempt).relations)) == Counter(expected):
            return _without_empty_section(before, relation, attempt)
    raise InvalidParametersError(
        f"The relation on line {relation.line} can't be removed on its own. Nothing was changed.",
        line=relation.line,
    )


def _item_line(kind: str, link: str, confidence: float | None, note: str | None) -> str:
    word = relation_word(_check_type(kind))
    details = (
        [f"confidence: {_format_confidence(_check_confidence(confidence))}"] if confidence is not None else []
    )
    details += [" ".join(note.split())] if note and note.strip() else []
    return f"- {word} {link}" + (f" ({', '.join(details)})" if details else "")


def _check_type(text: str) -> str:
    kind = relation_type(text)
    if not kind:
        raise InvalidParametersError(f"{text!r} can't be the type of a relation.", given=text)
    return kind


def _check_confidence(confidence: float) -> float:
    if not 0 <= confidence <= 1:
        raise InvalidParametersError("A confidence must be a number from 0 to 1.", confidence=confidence)
    return confidence


def _format_confidence(value: float) -> str:
    """Format a confidence as a decimal without an exponent, because the parser accepts only that."""
    return f"{value:.6f}".rstrip("0").rstrip(".") or "0"


def _relation_fields(relation: Relation) -> RelationFields:
    return relation.type, relation.link.target, relation.confidence, relation.note


def _relation_index(note: ParsedNote, relation: Relation) -> int:
    try:
        return note.relations.index(relation)
    except ValueError:
        raise NotFoundError("The relation is not in this text.", line=relation.line) from None


def _link_text(text: str, relation: Relation) -> str:
    link = relation.link
    link_text = text[link.span.start : link.span.end]
    if not link.in_properties or link_text.startswith("[["):
        return link_text
    fragment = f"#^{link.block}" if link.block else f"#{link.heading}" if link.heading else ""
    return f"[[{link.target}{fragment}{f'|{link.alias}' if link.alias else ''}]]"


def _siblings(note: ParsedNote, relation: Relation) -> list[Relation]:
    """Return the relations in the same list item or field, in order."""
    return [sibling for sibling in note.relations if sibling.span == relation.span]


def _changes(text: str, note: ParsedNote, relation: Relation, new_fields: RelationFields) -> Iterator[str]:
    kind, _, confidence, remark = new_fields
    if not relation.link.in_properties and len(_siblings(note, relation)) == 1:
        for word in (relation_word(kind), f'"{relation_word(kind)}"'):
            edits = list(_in_place(text, relation, word, confidence, remark))
            if edits:
                yield apply_edits(text, edits)
    new_item = _item_line(kind, _link_text(text, relation), confidence, remark)
    for remaining_text in _removals(text, note, relation):
        yield add_items(remaining_text, [new_item])


def _in_place(
    text: str, relation: Relation, word: str, confidence: float | None, remark: str | None
) -> Iterator[tuple[int, int, str]]:
    type_span = _type_span(text, relation)
    if type_span is None:
        return
    if relation_type(word) != relation.type:
        yield type_span.start, type_span.end, word
    parentheses = _parentheses(text, relation)
    end = relation.link.span.end
    if remark != relation.note:
        details = f" (confidence: {_format_confidence(confidence)})" if confidence is not None else ""
        yield end, parentheses.end + 1 if parentheses else end, details
    elif confidence is not None and confidence != relation.confidence:
        match = _CONFIDENCE.search(text, parentheses.start, parentheses.end) if parentheses else None
        if match:
            yield match.start(), match.end(), f"confidence: {_format_confidence(confidence)}"
        elif parentheses:
            separator = ", " if text[parentheses.start : parentheses.end].strip() else ""
            yield (
                parentheses.start,
                parentheses.start,
                f"confidence: {_format_confidence(confidence)}{separator}",
            )
        else:
            yield end, end, f" (confidence: {_format_confidence(confidence)})"


def _type_span(text: str, relation: Relation) -> Span | None:
    """Return the span of the type: a list item's word (with quotes) or a field's key."""
    start, end = relation.span.start, relation.link.span.start
    keys = [key for key in _KEY.finditer(text, start, end) if relation_type(key[0]) == relation.type]
    if keys:
        return Span(keys[-1].start(), keys[-1].end())
    marker = _MARKER.match(text, start, end)
    word = _TYPE.match(text, marker.end() if marker else start, end)
    return Span(word.start(), word.end()) if word else None


def _parentheses(text: str, relation: Relation) -> Span | None:
    """Return the span between the parentheses that follow the link."""
    opening = relation.link.span.end
    limit = relation.span.end
    while opening < limit and text[opening] in " \t":
        opening += 1
    if opening >= limit or text[opening] != "(":
        return None
    depth = 0
    for position in range(opening, limit):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return Span(opening + 1, position)
    return None


def _removals(text: str, note: ParsedNote, relation: Relation) -> Iterator[str]:
    if relation.link.in_properties:
        yield from _property_removals(text, note, relation)
        return
    siblings = _siblings(note, relation)
    index = siblings.index(relation)
    span = relation.link.span
    if index > 0:
        yield apply_edits(text, [(siblings[index - 1].link.span.end, span.end, "")])
    elif len(siblings) > 1:
        yield apply_edits(text, [(span.start, siblings[1].link.span.start, "")])
    else:
        line_start = text.rfind("\n", 0, relation.span.start) + 1
        end = text.find("\n", relation.span.end)
        line_end = len(text) if end < 0 else end
        rest_of_line = text[line_start : relation.span.start] + text[relation.span.end : line_end]
        if _EMPTY.fullmatch(rest_of_line):
            yield _without_line(text, line_start, line_end)
        start = relation.span.start
        while start > line_start and text[start - 1] in " \t":
            start -= 1
        yield apply_edits(text, [(start, relation.span.end, "")])


def _without_line(text: str, line_start: int, line_end: int) -> str:
    if line_end < len(text):
        return text[:line_start] + text[line_end + 1 :]
    # The last line has no newline, so the text still ends without one.
    head = text[:line_start]
    return head.removesuffix("\n").removesuffix("\r") if line_start < line_end else head


def _without_empty_section(before: ParsedNote, relation: Relation, text: str) -> str:
    """Return `text` without the heading `Relations` above a removed relation if nothing is left below it."""
    earlier_headings = [heading for heading in before.headings if heading.span.start < relation.span.start]
    if (
        relation.link.in_properties
        or not earlier_headings
        or heading_key(earlier_headings[-1].text) != RELATIONS_HEADING.casefold()
    ):
        return text
    headings = scan(text).headings
    matches = [i for i, heading in enumerate(headings) if heading.span == earlier_headings[-1].span]
    if not matches:
        return text
    section = section_at(text, headings, matches[0])
    if section.end != section.own_end or text[section.start : section.own_end].strip():
        return text
    start = section.heading.span.start
    if section.end < len(text):
        return text[:start] + text[section.end :]
    body = text[:start].rstrip("\r\n")
    if not body:
        return text[:start]
    return body + (newline_of(text, len(body)) if text.endswith("\n") else "")


def _property_removals(text: str, note: ParsedNote, relation: Relation) -> Iterator[str]:
    for key, value in note.properties.items():
        if relation_type(key) != relation.type:
            continue
        items = list(value) if isinstance(value, list | tuple) else [value]
        if len(items) == 1:
            yield remove_property(text, key)
        for index in range(len(items) if len(items) > 1 else 0):
            yield set_property(text, key, [*items[:index], *items[index + 1 :]])
