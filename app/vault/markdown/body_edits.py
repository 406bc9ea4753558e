"""Edits to a note's prose: replace all of it, add to either end, or edit by text or heading.

Everything else stays unchanged.

Inserted text takes the newline style of its surroundings. An addition to prose without a final newline does
not add one.
"""

from __future__ import annotations

import re

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import heading_key, section, section_at
from app.vault.markdown.scan import scan
from app.vault.markdown.text import BOM, apply_edits, newline_of, with_newlines

_TRAILING_SPACES = re.compile(r"[^\S\r\n]*")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?\n|\r?$)")
_ROW = re.compile(r"[ \t]*\|")
_QUOTE = re.compile(r"[ \t]*>")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_UNDERLINE = re.compile(r"[ \t]*(?:-+|=+)[ \t]*(?:\r?\n|\r?$)")
"""A line that makes a heading of the paragraph before it."""
# An item, a heading, a fence or an empty line, which are no part of a paragraph on the line before.
_BLOCK_START = re.compile(rf"{_ITEM.pattern}|#{{1,6}}[ \t]|[ \t]*(?:```|~~~|\r?\n|\r?$)")


def replace_body(text: str, body: str) -> str:
    """Return `text` with everything after its properties replaced by `body`."""
    start = read_frontmatter(text).body_start
    newline = newline_of(text, start)
    return text[:start] + _lead(text, start, newline) + with_newlines(body, newline)


def append(text: str, addition: str) -> str:
    """Return `text` with `addition` on new lines at its end."""
    newline = newline_of(text, len(text))
    body = with_newlines(addition, newline)
    body = gap_before(text, body, newline) + body
    if text in ("", BOM) or text.endswith("\n"):
        return text + _ensure_newline(body, newline)
    return text + newline + body.removesuffix(newline)


def gap_before(text: str, addition: str, newline: str) -> str:
    """Return the empty line that keeps `addition` from becoming a part of the block at the end of `text`.

    Such blocks are list items, quotations, tables and footnotes. An addition of the same kind continues a
    quotation or a table. Return an empty text if no empty line is needed.
    """
    lines = text[read_frontmatter(text).body_start :].removesuffix("\n").split("\n")
    if not addition.strip() or not lines[-1].strip():
        return ""
    if _UNDERLINE.match(addition) and not _BLOCK_START.match(lines[-1]):
        return newline
    if _BLOCK_START.match(addition):
        return ""
    if _ROW.match(lines[-1]):
        return "" if _ROW.match(addition) else newline
    below = ""
    for line in reversed(lines):
        if not line.strip() and below[:1].isspace():
            return newline  # an indented paragraph may belong to an item
        below = line
        if _QUOTE.match(line) and _QUOTE.match(addition):
            return ""
        if _ITEM.match(line) or _QUOTE.match(line) or _FOOTNOTE.match(line):
            return newline
        if not line.strip() or _BLOCK_START.match(line):
            return ""
    return ""


def prepend(text: str, addition: str) -> str:
    """Return `text` with `addition` on its own lines between the properties and the prose."""
    start = read_frontmatter(text).body_start
    newline = newline_of(text, start)
    body = _ensure_newline(with_newlines(addition, newline), newline)
    return text[:start] + _lead(text, start, newline) + body + text[start:]


def replace_text(text: str, old: str, new: str, occurrence: int | None = None) -> str:
    """Return `text` with one occurrence of `old` after the properties replaced by `new`.

    Args:
        text: A note's text.
        old: The exact text to replace; only the newline style may differ.
        new: The replacement.
        occurrence: The number of the occurrence, from 1; None if there must be only one.

    Raises:
        InvalidParametersError: `old` is empty, missing or ambiguous, or `occurrence` is out of range; `count`
            is the number of occurrences.
    """
    if not old:
        raise InvalidParametersError("The text to replace is empty.", count=0)
    start = read_frontmatter(text).body_start
    if text.find(old, start) < 0:
        old = with_newlines(old, newline_of(text, len(text)))
    count = text.count(old, start)
    if count == 0:
        location = "only in the properties: use set_properties" if old in text else "not in the note"
        raise InvalidParametersError(f"The text to replace is {location}.", count=0)
    if occurrence is None and count > 1:
        raise InvalidParametersError(f"The text to replace occurs {count} times. Say which one.", count=count)
    if occurrence is not None and not 1 <= occurrence <= count:
        raise InvalidParametersError(
            f"Occurrence {occurrence} does not exist; the last one is {count}.", count=count
        )
    position = start - len(old)
    for _ in range(occurrence or 1):
        position = text.index(old, position + len(old))
    return apply_edits(
        text, [(position, position + len(old), with_newlines(new, newline_of(text, position)))]
    )


def insert_under(text: str, heading: str, addition: str) -> str:
    """Return `text` with `addition` at the end of the text under `heading`, before the next heading.

    Args:
        text: A note's text.
        heading: The heading's text, or a path `Parent#Heading` if it occurs more than once.
        addition: The lines to add.

    Raises:
        NotFoundError: there is no such heading; `suggestions` are the first 50 headings.
        AmbiguousError: there are several.
    """
    target = section(text, heading)
    return insert_lines(text, target.start, target.own_end, addition)


def insert_lines(text: str, start: int, end: int, addition: str) -> str:
    """Return `text` with `addition` below the last nonblank line between `start` and `end`, or at `start`."""
    newline = newline_of(text, start)
    body = with_newlines(addition, newline).removesuffix(newline)
    position = _content_end(text, start, end)
    if position > start:
        gap = gap_before(text[:position], body, newline)
        return apply_edits(text, [(position, position, newline + gap + body)])
    if start > 0 and text[start - 1] != "\n":
        return apply_edits(text, [(start, start, newline + body)])
    return apply_edits(text, [(start, start, body + newline)])


def replace_section(text: str, heading: str, replacement: str) -> str:
    """Return `text` with everything under `heading`, including subheadings, replaced with `replacement`.

    The heading stays, even if `replacement` repeats it, and so do the surrounding blank lines.

    Raises:
        NotFoundError: there is no such heading; `suggestions` are the first 50 headings.
        AmbiguousError: there are several.
    """
    target = section(text, heading)
    newline = newline_of(text, target.start)
    headings = scan(replacement).headings
    starts_with_heading = bool(headings) and not replacement[: headings[0].span.start].strip()
    if starts_with_heading and heading_key(headings[0].text) == heading_key(target.heading.text):
        replacement = replacement[section_at(replacement, headings, 0).start :]
    body = with_newlines(replacement, newline).strip("\r\n")
    old_section = text[target.start : target.end]
    if not old_section.strip():
        return insert_lines(text, target.start, target.end, body) if body else text
    first = target.start + len(old_section) - len(old_section.lstrip("\r\n"))
    last = _content_end(text, target.start, target.end)
    return apply_edits(text, [(first, last, body)])


def _content_end(text: str, start: int, end: int) -> int:
    """Return the end of the last nonblank line between `start` and `end`, or `start` if all are blank."""
    length = len(text[start:end].rstrip())
    if not length:
        return start
    trailing_spaces = _TRAILING_SPACES.match(text, start + length, end)
    return trailing_spaces.end() if trailing_spaces else end


def _lead(text: str, start: int, newline: str) -> str:
    """Return the newline that the line before `start` lacks, or an empty string."""
    return "" if start == 0 or text[start - 1] in f"\n{BOM}" else newline


def _ensure_newline(text: str, newline: str) -> str:
    return text if text.endswith("\n") else text + newline
