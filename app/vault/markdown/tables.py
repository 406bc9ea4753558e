"""The tables of a note, and rows added to them."""

from __future__ import annotations

import re

from app.errors import AmbiguousError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import section
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits, newline_of

_NEWLINE = re.compile(r"\r\n?|\n")
_BAR = re.compile(r"(?<!\\)\|")
_ROW = re.compile(r"[ \t]*\|.*(?<!\\)\|[ \t]*")
_DELIMITERS = re.compile(r"[ \t|:-]+")
_LEAD = re.compile(r"[ \t>]*")
"""The marks before a row in a list item or a quotation."""


def table_ranges(text: str) -> list[tuple[int, int]]:
    """Return the first line of each table, from 0, and the line after its last one, in order."""
    if "|" not in text:
        return []
    # Imported here because few processes need it, and the import is slow.
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(text)
    return [(token.map[0], token.map[1]) for token in tokens if token.type == "table_open" and token.map]


def is_row_text(text: str) -> bool:
    """Return whether a text is only rows of a table, each between bars, without the row of a table's own."""
    lines = text.strip("\r\n").splitlines()
    return bool(lines) and all(_ROW.fullmatch(line) and not _DELIMITERS.fullmatch(line) for line in lines)


def add_rows(text: str, rows: str, heading: str = "") -> str | None:
    """Return `text` with rows at the end of its only table; None without one or for other text than rows.

    A table with fewer columns than a row has cells does not count.

    Args:
        text: A note's text.
        rows: The rows, one a line.
        heading: The heading, or a path `Parent#Heading`, of the table; without it, the note has only one.

    Raises:
        NotFoundError: There is no such heading; `suggestions` are the first 50 headings.
        AmbiguousError: There are several such headings, or several tables. Then `tables` has the heading of
            each one, which is empty if it has none of its own.
    """
    if not is_row_text(rows):
        return None
    cells = max(len(_BAR.findall(row)) - 1 for row in rows.strip("\r\n").splitlines())
    found = [span for span in tables_under(text, heading) if cells <= _columns(text[slice(*span)])]
    if not found:
        return None
    if len(found) > 1:
        message = f"There are {len(found)} tables. Insert the row under the heading of the one you mean."
        raise AmbiguousError(message, tables=_headings_of(text, found))
    start, end = found[0]
    last_line = text[max(text.rfind("\n", start, end), text.rfind("\r", start, end)) + 1 : end]
    lead = "" if (match := _LEAD.match(last_line)) is None else match[0]
    newline = newline_of(text, start)
    added = "".join(f"{newline}{lead}{row.strip()}" for row in rows.strip("\r\n").splitlines())
    return apply_edits(text, [(end, end, added)])


def tables_under(text: str, heading: str = "") -> list[tuple[int, int]]:
    """Return the start and end of each table under a heading, or of all without one.

    The tables of the sections below it only count if it has none of its own.
    """
    found = _tables(text)
    if not heading:
        return found
    part = section(text, heading)
    return [span for span in found if part.start <= span[0] < part.own_end] or [
        span for span in found if part.start <= span[0] < part.end
    ]


def _columns(table: str) -> int:
    """Return the number of columns, which the second line of a table states."""
    return _LEAD.sub("", table.splitlines()[1], count=1).strip().strip("|").count("|") + 1


def _tables(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each table after the properties, without the last line's end."""
    body_start = read_frontmatter(text).body_start
    body = text[body_start:]
    breaks = list(_NEWLINE.finditer(body))
    starts = [0, *(line_break.end() for line_break in breaks)]
    ends = [*(line_break.start() for line_break in breaks), len(body)]
    spans = []
    for first, after in table_ranges(body):
        # Text right below a table counts as a row, but is hardly meant as one.
        last = next(line for line in range(after - 1, -1, -1) if "|" in body[starts[line] : ends[line]])
        spans.append((body_start + starts[first], body_start + ends[last]))
    return spans


def _headings_of(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Return the heading above each table, or "" if that is not the heading of this table alone."""
    headings = scan(text).headings
    above = [
        next((heading.text for heading in reversed(headings) if heading.span.start < start), "")
        for start, _ in spans
    ]
    names = [heading.text.casefold() for heading in headings]
    return [name if above.count(name) == 1 and names.count(name.casefold()) == 1 else "" for name in above]
