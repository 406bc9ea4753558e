"""Formatting commands: emphasis, links, lists, headings, comments, moving lines. Each is one undo step."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextCursor

from app.desktop.notes.editor import lists
from app.desktop.notes.editor.text_cursor import (
    KEEP_ANCHOR,
    one_undo_step,
    replace,
    replace_in_line,
    select,
    selected_blocks,
)
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.widgets.utf16 import utf16_length

_LIST = re.compile(r"^((?:[ ]{0,3}>[ ]?)*[ \t]*)(?:(?:[-*+]|(\d{1,9})[.)])[ \t]+(\[.\][ \t]+)?)?")
_HEADING = re.compile(r"^(#{1,6})[ \t]+")
_ADDRESS = re.compile(r"(?:https?://|mailto:)\S+$")


def toggle_marker(cursor: QTextCursor, marker: str) -> None:
    """Add a marker, for example `**`, around the selection or the word at the cursor, or remove it."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    had_selection = start != end
    if not had_selection:
        word = QTextCursor(cursor)
        word.select(QTextCursor.SelectionType.WordUnderCursor)
        if word.selectedText().strip() and word.selectionStart() <= start <= word.selectionEnd():
            start, end = word.selectionStart(), word.selectionEnd()
    position, width = cursor.position(), len(marker)
    with one_undo_step(cursor):
        if _is_marked_outside(cursor, start, end, marker):
            replace(cursor, end, end + width, "")
            replace(cursor, start - width, start, "")
            start, end, position = start - width, end - width, position - width
        elif _is_marked_inside(cursor, start, end, marker):
            replace(cursor, end - width, end, "")
            replace(cursor, start, start + width, "")
            end -= 2 * width
        else:
            replace(cursor, end, end, marker)
            replace(cursor, start, start, marker)
            start, end, position = start + width, end + width, position + width
    if had_selection:
        select(cursor, start, end)
    else:
        cursor.setPosition(max(0, position))


def _text_between(cursor: QTextCursor, start: int, end: int) -> str:
    selection = QTextCursor(cursor.document())
    last = cursor.document().characterCount() - 1
    select(selection, max(0, min(start, last)), max(0, min(end, last)))
    return selection.selectedText()


def _is_marked_outside(cursor: QTextCursor, start: int, end: int, marker: str) -> bool:
    before = _text_between(cursor, start - 3, start)
    after = _text_between(cursor, end, end + 3)
    return _ends_with(before, marker) and _ends_with(after[::-1], marker)


def _is_marked_inside(cursor: QTextCursor, start: int, end: int, marker: str) -> bool:
    text = _text_between(cursor, start, end)
    if len(text) < 2 * len(marker) + 1:
        return False
    return _ends_with(text, marker) and _ends_with(text[::-1], marker)


def _ends_with(text: str, marker: str) -> bool:
    """Return whether the text ends with the marker; the `**` of bold text does not count as `*`."""
    run = len(text) - len(text.rstrip(marker[0]))
    if marker == "*":
        return run in (1, 3)
    return run >= len(marker)


def insert_link(cursor: QTextCursor) -> None:
    """Turn the selection into a link; the cursor moves to the part that is still empty."""
    text = cursor.selectedText()
    start = cursor.selectionStart()
    with one_undo_step(cursor):
        if _ADDRESS.match(text):
            cursor.insertText(f"[]({text})")
            position = start + 1
        else:
            cursor.insertText(f"[{text}]()")
            position = start + (utf16_length(text) + 3 if text else 1)
    cursor.setPosition(position)


def toggle_list(cursor: QTextCursor, kind: str) -> None:
    """Turn the selected lines into list items, or back into plain lines.

    Args:
        cursor: The selection.
        kind: "bullet", "number" or "task".
    """
    blocks = [block for block in selected_blocks(cursor) if block.text().strip()] or selected_blocks(cursor)
    is_removal = all(_list_kind(block.text()) == kind for block in blocks)
    with one_undo_step(cursor):
        for number, block in enumerate(blocks, 1):
            match = _LIST.match(block.text())
            assert match
            marker = {"bullet": "- ", "number": f"{number}. ", "task": "- [ ] "}[kind]
            replace_in_line(block, match.end(1), match.end(), "" if is_removal else marker)


def _list_kind(line: str) -> str:
    match = _LIST.match(line)
    if match is None or match.end() == match.end(1):
        return ""
    return "task" if match[3] else "number" if match[2] else "bullet"


def set_heading(cursor: QTextCursor, level: int) -> None:
    """Turn the selected lines into headings, or into plain lines if the level is 0."""
    with one_undo_step(cursor):
        for block in selected_blocks(cursor):
            match = _HEADING.match(block.text())
            marker = f"{'#' * level} " if level else ""
            replace_in_line(block, 0, match.end() if match else 0, marker)


def toggle_comment(cursor: QTextCursor) -> None:
    """Comment or uncomment the selected text or line.

    Without a selection, the line is not selected afterwards, so that the next keystroke does not replace it.
    """
    had_selection, position = cursor.hasSelection(), cursor.position()
    if not had_selection:
        block = cursor.block()
        select(cursor, block.position(), block.position() + block.length() - 1)
    start, text = cursor.selectionStart(), cursor.selectedText()
    is_comment = text.startswith("%%") and text.endswith("%%") and len(text) > 3
    replacement = text[2:-2].strip(" ") if is_comment else f"%% {text.strip(' ')} %%"
    with one_undo_step(cursor):
        cursor.insertText(replacement.replace(PARAGRAPH_SEPARATOR, "\n"))
    end = start + utf16_length(replacement)
    if had_selection:
        select(cursor, start, end)
    else:
        cursor.setPosition(max(start, min(position + (-3 if is_comment else 3), end)))


def move_lines(cursor: QTextCursor, down: bool, *, numbered: bool = False) -> None:
    """Move the selected lines one line up or down, if there is a line to swap with.

    Args:
        cursor: The selection.
        down: Whether to move them down.
        numbered: Whether to renumber the lists involved, which must not happen in code.
    """
    blocks = selected_blocks(cursor)
    first, last = blocks[0], blocks[-1]
    neighbor = last.next() if down else first.previous()
    if not neighbor.isValid():
        return
    document = cursor.document()
    anchor, position, neighbor_text = cursor.anchor(), cursor.position(), neighbor.text()
    lines = "\n".join(block.text() for block in blocks)
    top, bottom = (first, neighbor) if down else (neighbor, last)
    replacement = f"{neighbor_text}\n{lines}" if down else f"{lines}\n{neighbor_text}"
    distance = utf16_length(neighbor_text) + 1
    shift = distance if down else -distance
    end = bottom.position() + bottom.length() - 1
    with one_undo_step(cursor):
        start = top.blockNumber()
        replace(cursor, top.position(), end, replacement)
        for line in range(start, start + len(blocks) + 1) if numbered else ():
            lists.renumber(document.findBlockByNumber(line))
    last_position = document.characterCount() - 1
    cursor.setPosition(min(max(0, anchor + shift), last_position))
    cursor.setPosition(min(max(0, position + shift), last_position), KEEP_ANCHOR)
