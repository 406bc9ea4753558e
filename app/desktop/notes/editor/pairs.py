"""Smart pairs: close brackets, quotes and backticks as they are typed, and surround selections."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor

from app.desktop.notes.editor.text_cursor import KEEP_ANCHOR, one_undo_step, select
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.widgets.utf16 import text_around_cursor, utf16_length

_CLOSERS = {"(": ")", "[": "]", "{": "}", '"': '"', "`": "`"}
# Without a selection, the other characters are typed as usual.
_SURROUNDING = {**_CLOSERS, "*": "*", "_": "_", "~": "~", "=": "=", "$": "$", "%": "%", "'": "'"}
_ALLOWED_FOLLOWERS = frozenset(" \t)]}\"'`,.;:!?*_~")


def type_character(cursor: QTextCursor, char: str, *, is_in_code: bool) -> bool:
    """Type a character as a pair, surround the selection with it, or step over a closing half.

    Args:
        cursor: The cursor, which is moved.
        char: The character.
        is_in_code: Whether the cursor is in code, where quotes and backticks are not paired.

    Returns:
        True if the character was handled; False if the editor must insert it.
    """
    if cursor.hasSelection():
        return _surround(cursor, char)
    before, after = text_around_cursor(cursor)
    if char in _CLOSERS.values() and after.startswith(char) and _is_open(before, char):
        cursor.movePosition(QTextCursor.MoveOperation.Right)
        return True
    closer = _CLOSERS.get(char)
    if closer is None or (after and after[0] not in _ALLOWED_FOLLOWERS):
        return False
    is_quote = char == closer
    if is_quote and (is_in_code or before[-1:].isalnum() or before[-1:] == char):
        return False
    if before.endswith("\\"):
        return False
    with one_undo_step(cursor):
        cursor.insertText(char + closer)
    cursor.movePosition(QTextCursor.MoveOperation.Left)
    return True


def delete_pair(cursor: QTextCursor) -> bool:
    """Delete both halves of an empty pair; return False if the cursor is not in one."""
    before, after = text_around_cursor(cursor)
    if cursor.hasSelection() or not before or _CLOSERS.get(before[-1]) != after[:1] or not after:
        return False
    position = cursor.position()
    with one_undo_step(cursor):
        select(cursor, position - 1, position + 1)
        cursor.removeSelectedText()
    return True


def _surround(cursor: QTextCursor, char: str) -> bool:
    closer = _SURROUNDING.get(char)
    text = cursor.selectedText()
    if closer is None or PARAGRAPH_SEPARATOR in text:
        return False
    start = cursor.selectionStart()
    with one_undo_step(cursor):
        cursor.insertText(f"{char}{text}{closer}")
    cursor.setPosition(start + 1)
    cursor.setPosition(start + 1 + utf16_length(text), KEEP_ANCHOR)
    return True


def _is_open(before: str, closer: str) -> bool:
    """Return whether the closing half after the cursor belongs to an opening half before it."""
    opener = next(opener for opener, other in _CLOSERS.items() if other == closer)
    if opener == closer:
        return before.count(opener) % 2 == 1
    return before.count(opener) - before.count(closer) >= 1
