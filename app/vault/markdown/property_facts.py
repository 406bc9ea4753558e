"""Links and tags in a note's properties, with their spans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from app.vault.markdown.frontmatter import Frontmatter
from app.vault.markdown.inline import is_tag_name, scan_inline
from app.vault.markdown.text import LineCounter
from app.vault.markdown.yaml_tree import Mapping, MappingEntry, Node, Scalar, Sequence
from app.vault.note import TAG_KEYS, Link, Span, Tag

_TAG = re.compile(r"[^\s,]+")


def is_tag_entry(entry: MappingEntry) -> bool:
    """Return whether a property contains the note's tags."""
    return entry.key.text.lower() in TAG_KEYS


def property_tags(frontmatter: Frontmatter, text: str, lines: LineCounter) -> Iterator[Tag]:
    """Yield the tags in the `tags` and `tag` properties: lists or strings, with or without `#`."""
    for entry in frontmatter.tree.entries if frontmatter.tree else ():
        if not is_tag_entry(entry):
            continue
        items = entry.value.items if isinstance(entry.value, Sequence) else (entry.value,)
        for item in items:
            if isinstance(item, Scalar) and item.value is not None:
                yield from scalar_tags(item, text, lines)


def scalar_tags(scalar: Scalar, text: str, lines: LineCounter) -> Iterator[Tag]:
    """Yield the tags in a scalar; a span covers the name, or the whole scalar if its source differs."""
    start = literal_start(scalar, text)
    for match in _TAG.finditer(scalar.text):
        name = match[0].lstrip("#").strip("/")
        if name and is_tag_name(name):
            offset = match.end() - len(match[0].lstrip("#"))
            span = scalar.span if start is None else Span(start + offset, start + match.end())
            yield Tag(name, span, lines.number(span.start), True)


def property_links(
    frontmatter: Frontmatter, text: str, lines: LineCounter
) -> Iterator[tuple[str, Link, bool]]:
    """Yield each link in the properties with its key and whether the link is the whole value.

    A remark in parentheses may follow such a link.
    """
    for entry in frontmatter.tree.entries if frontmatter.tree else ():
        for scalar, is_unquoted in _link_scalars(entry.value, text):
            yield from (
                (entry.key.text, link, is_whole_value)
                for link, is_whole_value in _scalar_links(scalar, is_unquoted, text, lines)
            )


def literal_start(scalar: Scalar, text: str) -> int | None:
    """Return the start of the scalar's text, or None if its source differs (escapes, folds, aliases)."""
    start = scalar.span.start + (1 if scalar.quote in ("'", '"') else 0)
    return start if scalar.quote not in ("|", ">", "*") and text.startswith(scalar.text, start) else None


def _link_scalars(node: Node, text: str) -> Iterator[tuple[Scalar, bool]]:
    """Yield the scalars that may contain links, and whether each is the name in an unquoted `[[name]]`."""
    if isinstance(node, Scalar):
        if "[" in node.text and node.quote != "*":
            yield node, False
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _link_scalars(entry.value, text)
    elif (name := _unquoted_name(node, text)) is not None:
        yield name, True
    else:
        for item in node.items:
            yield from _link_scalars(item, text)


def _unquoted_name(node: Sequence, text: str) -> Scalar | None:
    """Return the name of an unquoted `key: [[name]]`, which YAML parses as a nested list."""
    if len(node.items) != 1 or not isinstance(inner := node.items[0], Sequence) or len(inner.items) != 1:
        return None
    name = inner.items[0]
    is_adjacent = text.startswith("[[", node.span.start) and text.endswith(
        "]]", node.span.start, node.span.end
    )
    return name if is_adjacent and isinstance(name, Scalar) and "\n" not in name.text and name.text else None


def _scalar_links(
    scalar: Scalar, is_unquoted: bool, text: str, lines: LineCounter
) -> Iterator[tuple[Link, bool]]:
    value = f"[[{scalar.text}]]" if is_unquoted else scalar.text
    start = literal_start(scalar, text)
    number = lines.number(scalar.span.start)
    for link in scan_inline(value, value, 0, LineCounter(""))[0]:
        is_whole_value = link.span.start == 0 and value[link.span.end :].lstrip()[:1] in ("", "(")
        if start is None:
            span = target = scalar.span
        else:
            shift = start - 2 if is_unquoted else start
            span = Span(shift + link.span.start, shift + link.span.end)
            target = Span(shift + link.target_span.start, shift + link.target_span.end)
        property_link = replace(link, span=span, target_span=target, line=number, in_properties=True)
        yield property_link, is_whole_value
