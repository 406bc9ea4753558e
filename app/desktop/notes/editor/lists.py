"""List editing: Enter continues or ends a list, Tab indents its items, and numbers stay in sequence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtGui import QTextBlock, QTextCursor

from app.desktop.notes.editor.text_cursor import one_undo_step, replace_in_line, selected_blocks
from app.desktop.widgets.utf16 import text_around_cursor

_PREFIX = re.compile(r"^((?:[ ]{0,3}>[ ]?)*)([ \t]*)(?:([-*+]|(\d{1,9})([.)]))([ \t]+)(\[.\][ \t]+)?)?")


def continue_block(cursor: QTextCursor) -> bool:
    """Start the next item or line of the list or quote at the cursor.

    An empty item moves one level out or becomes a plain line; an empty quote ends.

    Returns:
        False if the cursor has a selection, or is not after the markers of a list item or quote.
    """
    before, after = text_around_cursor(cursor)
    line = before + after
    match = _PREFIX.match(line)
    is_item = match is not None and match[3] is not None
    if match is None or cursor.hasSelection() or not (is_item or match[1]) or len(before) < match.end():
        return False
    with one_undo_step(cursor):
        if match.end() == len(line):
            with _renumbering([cursor.block()]):
                _end_block(cursor, match, is_item)
        else:
            is_repeated = bool(match[4]) and _repeats_number(cursor.block())
            cursor.insertText(f"\n{_next_prefix(match, is_item, is_repeated=is_repeated)}")
            if match[4] and not is_repeated:
                renumber(cursor.block())
    return True


def renumber(block: QTextBlock) -> None:
    """Number the items of the list that a line belongs to in sequence, unless all have the same number.

    Stops before an item whose lines below would no longer match the width of its number.
    """
    if not _item_number(block.text()):
        return
    items = [*reversed(list(_siblings(block, down=False))), block, *_siblings(block, down=True)]
    numbers = [int(_item_number(item.text())) for item in items]
    if len(set(numbers)) == 1:
        return
    for number, item in enumerate(items, min(numbers)):
        old_number, new_number = _item_number(item.text()), str(number)
        if int(old_number) == number:
            continue
        if len(new_number) > 9 or (len(new_number) != len(old_number) and _has_lines_below(item)):
            return  # A marker of another width would separate the lines below from their item.
        match = _PREFIX.match(item.text())
        assert match
        replace_in_line(item, match.start(4), match.end(4), new_number)


@contextmanager
def _renumbering(blocks: Sequence[QTextBlock]) -> Iterator[None]:
    """Renumber the lists that items leave and join when their indents change."""
    moved_items = [block for block in blocks if _item_number(block.text())]
    moved_lines = {item.blockNumber() for item in moved_items}
    vacated_items: list[tuple[QTextBlock, str]] = []
    for block in moved_items:
        below = next(_siblings(block, down=True), None)
        if below is not None and below.blockNumber() not in moved_lines:
            above = [item for item in _siblings(block, down=False) if item.blockNumber() in moved_lines]
            vacated_items.append((below, _item_number((above[-1] if above else block).text())))
    indents = [_indent_of(item) for item in moved_items]
    yield
    for block, indent in zip(moved_items, indents, strict=True):
        is_first = _item_number(block.text()) and next(_siblings(block, down=False), None) is None
        if is_first and _indent_of(block) > indent:
            _set_number(block, "1")
    for block, number in vacated_items:
        if next(_siblings(block, down=False), None) is None:
            _set_number(block, number)  # It replaces the item that has left.
        renumber(block)
    for block in moved_items:
        renumber(block)


def _indent_of(block: QTextBlock) -> int:
    match = _PREFIX.match(block.text())
    assert match
    return len(match[2].expandtabs(4))


def _set_number(block: QTextBlock, number: str) -> None:
    match = _PREFIX.match(block.text())
    assert match
    if match[4] != number and (len(match[4]) == len(number) or not _has_lines_below(block)):
        replace_in_line(block, match.start(4), match.end(4), number)


def _item_number(line: str) -> str:
    match = _PREFIX.match(line)
    return (match and match[4]) or ""


def _repeats_number(block: QTextBlock) -> bool:
    """Return whether a neighbor has the same number: Markdown numbers such items in sequence."""
    neighbors = (next(_siblings(block, down=down), None) for down in (False, True))
    return any(
        item is not None and _item_number(item.text()) == _item_number(block.text()) for item in neighbors
    )


def _siblings(block: QTextBlock, *, down: bool) -> Iterator[QTextBlock]:
    """Yield the other items of a numbered list in one direction, nearest first."""
    own_match = _PREFIX.match(block.text())
    assert own_match
    column = len(own_match[2].expandtabs(4))
    while (block := block.next() if down else block.previous()).isValid():
        match = _PREFIX.match(block.text())
        if match is None or match[1].strip() != own_match[1].strip():
            return
        if match.end(2) == len(block.text()) or (indent := len(match[2].expandtabs(4))) > column:
            continue
        if indent < column or match[5] != own_match[5]:
            return
        yield block


def _has_lines_below(item: QTextBlock) -> bool:
    below = item.next()
    while below.isValid() and not below.text().strip():
        below = below.next()
    match, item_match = _PREFIX.match(below.text()), _PREFIX.match(item.text())
    assert match and item_match
    return len(match[2].expandtabs(4)) > len(item_match[2].expandtabs(4))


def _end_block(cursor: QTextCursor, match: re.Match[str], is_item: bool) -> None:
    """Move an empty item one level out, or make it a plain line; end an empty quote."""
    if is_item and match[2]:
        width = 1 if match[2].endswith("\t") else min(len(match[2]), _indent_width(cursor.block()))
        end = match.end(2)
        replace_in_line(cursor.block(), end - width, end, "")
        return
    replace_in_line(cursor.block(), match.end(1) if is_item else 0, match.end(), "")


def _next_prefix(match: re.Match[str], is_item: bool, *, is_repeated: bool) -> str:
    if not is_item:
        return match[1]
    bullet = f"{int(match[4]) + (not is_repeated)}{match[5]}" if match[4] else match[3]
    return f"{match[1]}{match[2]}{bullet}{match[6]}{'[ ] ' if match[7] else ''}"


def indent_items(cursor: QTextCursor, deeper: bool) -> bool:
    """Indent or unindent the selected list items; return whether a list item is selected."""
    blocks = [block for block in selected_blocks(cursor) if _is_item(block.text())]
    if not blocks:
        return False
    with one_undo_step(cursor):
        width = _indent_width(blocks[0])
        with _renumbering(blocks):
            for block in blocks:
                _indent(block, deeper, width)
    return True


def _is_item(line: str) -> bool:
    match = _PREFIX.match(line)
    return match is not None and match[3] is not None


def _indent(block: QTextBlock, deeper: bool, width: int) -> None:
    match = _PREFIX.match(block.text())
    assert match
    start, spaces = match.start(2), match[2]
    uses_tabs = "\t" in spaces or (not spaces and _above_uses_tabs(block))
    if deeper:
        replace_in_line(block, start, start, "\t" if uses_tabs else " " * width)
    elif spaces:
        removed = 1 if spaces.startswith("\t") else min(len(spaces) - len(spaces.lstrip(" ")), width)
        replace_in_line(block, start, start + removed, "")


def _indent_width(block: QTextBlock) -> int:
    """Return the indent of a nested item: the width of the marker in the line above, by default 2."""
    above = _PREFIX.match(block.previous().text()) if block.previous().isValid() else None
    if above is not None and above[3] is not None:
        return len(above[3]) + 1
    return 2


def _above_uses_tabs(block: QTextBlock) -> bool:
    above = block.previous()
    for _ in range(20):
        match = _PREFIX.match(above.text()) if above.isValid() else None
        if match is None or match[3] is None:
            return False
        if match[2]:
            return "\t" in match[2]
        above = above.previous()
    return False
