"""Turn unlinked mentions of a note into links."""

from __future__ import annotations

from collections.abc import Iterable

from app.errors import ConflictError
from app.index.records import Mention
from app.vault.markdown.tables import table_ranges


def linked_line(line: str, mentions: Iterable[Mention], name: str, *, in_table: bool = False) -> str:
    """Return a line with links in place of the mentions in it.

    Args:
        line: The line of the note.
        mentions: Mentions in this line.
        name: The target of the links.
        in_table: Whether the line is in a table; not needed if it starts with a bar.

    Raises:
        ConflictError: The line no longer contains a mention.
    """
    # A bare | would end the cell of a table.
    separator = r"\|" if in_table or line.lstrip().startswith("|") else "|"
    for start, end in sorted((mention_span(mention, line) for mention in mentions), reverse=True):
        text = line[start:end]
        link = f"[[{name}]]" if text == name else f"[[{name}{separator}{text}]]"
        line = f"{line[:start]}{link}{line[end:]}"
    return line


def table_lines(text: str) -> frozenset[int]:
    """Return the numbers of the lines in tables, whose rows need not start with a bar."""
    return frozenset(number for first, end in table_ranges(text) for number in range(first + 1, end + 1))


def mention_span(mention: Mention, line: str) -> tuple[int, int]:
    """Return the start and end of a mention in its line.

    The mention's text may be an excerpt of the line between two "…".

    Raises:
        ConflictError: The line no longer contains the mention.
    """
    visible, removed_count = mention.text, 0
    if visible not in line and visible.startswith("…"):
        visible, removed_count = visible[1:], 1
    if visible not in line:
        visible = visible.removesuffix("…")
    offset = line.find(visible)
    if offset < 0:
        raise ConflictError(f"{mention.source} was changed: it no longer contains this mention.")
    return offset + mention.start - removed_count, offset + mention.end - removed_count
