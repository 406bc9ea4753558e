"""Helpers for edits with a `QTextCursor`: selected lines, replacements and grouped undo steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QTextBlock, QTextCursor

from app.desktop.widgets.utf16 import to_utf16_offset, utf16_length
from app.vault.common_ends import common_prefix_length, common_suffix_length

KEEP_ANCHOR = QTextCursor.MoveMode.KeepAnchor


@contextmanager
def one_undo_step(cursor: QTextCursor) -> Iterator[None]:
    """Group all edits in the context into one undo step."""
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def selected_blocks(cursor: QTextCursor) -> list[QTextBlock]:
    """Return the selected lines, without the last one if the selection ends at its start."""
    document = cursor.document()
    block = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    if last.position() == cursor.selectionEnd() and last != block:
        last = last.previous()
    blocks = [block]
    while block != last and block.next().isValid():
        block = block.next()
        blocks.append(block)
    return blocks


def replace_in_line(block: QTextBlock, start: int, end: int, text: str) -> None:
    """Replace the columns `start` to `end` of a line. Columns count Python characters."""
    line = block.text()
    replace(QTextCursor(block), _position(block, line, start), _position(block, line, end), text)


def replace(cursor: QTextCursor, start: int, end: int, text: str) -> None:
    """Replace a range of the document with `text`."""
    select(cursor, start, end)
    cursor.insertText(text)


def select(cursor: QTextCursor, start: int, end: int) -> None:
    """Select a range of the document."""
    cursor.setPosition(start)
    cursor.setPosition(end, KEEP_ANCHOR)


def position_in(block: QTextBlock, column: int) -> int:
    """Return the document position of a column of a line."""
    return _position(block, block.text(), column)


def difference(old_text: str, new_text: str) -> tuple[int, int, str]:
    """Return the range of `old_text` that differs from `new_text`, as start, end and replacement."""
    if old_text == new_text:
        return len(old_text), len(old_text), ""
    start = common_prefix_length(old_text, new_text)
    end = common_suffix_length(old_text, new_text, start)
    return start, len(old_text) - end, new_text[start : len(new_text) - end]


def replace_document(cursor: QTextCursor, old_text: str, new_text: str) -> None:
    """Change the document's text from `old_text` to `new_text` with one edit of the range that differs."""
    start, end, replacement = difference(old_text, new_text)
    if start != end or replacement:
        first = utf16_length(old_text[:start])
        replace(cursor, first, first + utf16_length(old_text[start:end]), replacement)


def position_after_change(old_text: str, new_text: str, position: int) -> int:
    """Return where a position of `old_text` is in `new_text`, both in UTF-16 units.

    A position inside the range that differs stays in that range.
    """
    start, end, replacement = difference(old_text, new_text)
    first = utf16_length(old_text[:start])
    removed, inserted = utf16_length(old_text[start:end]), utf16_length(replacement)
    if position <= first:
        return position
    if position >= first + removed:
        return position + inserted - removed
    return min(position, first + inserted)


def _position(block: QTextBlock, line: str, column: int) -> int:
    return block.position() + to_utf16_offset(line, column)
