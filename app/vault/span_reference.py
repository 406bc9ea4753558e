"""Links to an exact span of a note, without an anchor in the note's text.

The fragment of such a link (`[[Note#span=120-245-1f3a9c0d2b]]`) contains the span's position and the start of
the SHA-256 of its text. The hash decides: a moved span is still found, a changed span is not.
"""

from __future__ import annotations

import hashlib
import re

from app.vault.note import ParsedNote, Span

PREFIX = "span="
_FRAGMENT = re.compile(r"span=(\d{1,9})-(\d{1,9})-([0-9a-f]{10})")
_ITEM_OR_HEADING = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*#{1,6}[ \t]")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t\r]*$")
_MAX_SEARCHED_CHARS = 100_000


def fragment_of(text: str, span: Span) -> str:
    """Return the link fragment for `span` in a note's text."""
    return f"{PREFIX}{span.start}-{span.end}-{_digest(text[span.start : span.end])}"


def is_span(fragment: str) -> bool:
    """Return whether a fragment names a span."""
    return _FRAGMENT.fullmatch(fragment) is not None


def find_span(text: str, fragment: str) -> Span | None:
    """Find the span that a fragment refers to, even if it moved.

    Return None if the fragment is malformed or its text is gone. In a text of more than 100,000 characters,
    only the original position is checked.
    """
    match = _FRAGMENT.fullmatch(fragment)
    if match is None:
        return None
    start, end, digest = int(match[1]), int(match[2]), match[3]
    size = end - start
    if size <= 0:
        return None
    if end <= len(text) and _digest(text[start:end]) == digest:
        return Span(start, end)
    if len(text) > _MAX_SEARCHED_CHARS:
        return None
    # Prefer the copy nearest to the original position.
    for position in sorted(range(len(text) - size + 1), key=lambda index: abs(index - start)):
        if _digest(text[position : position + size]) == digest:
            return Span(position, position + size)
    return None


def find_fragment(text: str, parsed: ParsedNote, fragment: str) -> Span | None:
    """Find the span that a link fragment refers to: `span=…`, or a block by its `^id`; None if it is missing.

    The span of a block is its list item, heading or paragraph, without the id.
    """
    if not fragment.startswith("^"):
        return find_span(text, fragment)
    block = next((block for block in parsed.blocks if block.id == fragment[1:]), None)
    if block is None:
        return None
    lines = text.split("\n")
    first = last = block.line - 1
    if not _ITEM_OR_HEADING.match(lines[last]):
        while first > _body_line(text, parsed) and lines[first - 1].strip():
            first -= 1
            if _ITEM_OR_HEADING.match(lines[first]):
                break
    start = sum(len(line) + 1 for line in lines[:first])
    end = start + len("\n".join(lines[first : last + 1]))
    end = start + len(_BLOCK_ID.sub("", text[start:end]))
    return Span(start, end) if end > start else None


def _body_line(text: str, parsed: ParsedNote) -> int:
    """Return the index of the first line of a note's body."""
    return text.count("\n", 0, parsed.body_start)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
