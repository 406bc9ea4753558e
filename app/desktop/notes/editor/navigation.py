"""Cursor movement in the rendered text: up, down, by page, and to the ends of visual lines."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent, QKeySequence

from app.desktop.notes.editor import hit_test
from app.desktop.notes.editor.note_rows import Position
from app.desktop.notes.editor.text_flow import TextFlow

_Key = QKeySequence.StandardKey
_SIDE_KEYS = (
    (_Key.MoveToStartOfLine, False, False),
    (_Key.MoveToEndOfLine, True, False),
    (_Key.SelectStartOfLine, False, True),
    (_Key.SelectEndOfLine, True, True),
)
_VERTICAL_KEYS = (
    (_Key.MoveToPreviousLine, -1, False, False),
    (_Key.MoveToNextLine, 1, False, False),
    (_Key.SelectPreviousLine, -1, False, True),
    (_Key.SelectNextLine, 1, False, True),
    (_Key.MoveToPreviousPage, -1, True, False),
    (_Key.MoveToNextPage, 1, True, False),
    (_Key.SelectPreviousPage, -1, True, True),
    (_Key.SelectNextPage, 1, True, True),
)
PAGE_SHARE = 0.9  # the fraction of the visible height that a page key scrolls by
_LINE_STEP_PX = 3.0
_FAR_X = 99_999.0


def vertical_key(event: QKeyEvent) -> tuple[int, bool, bool] | None:
    """Return the direction of a vertical key, whether it moves by page, and whether it selects.

    The direction is -1 for up and 1 for down. Returns None for other keys.
    """
    for key, step, by_page, selects in _VERTICAL_KEYS:
        if event.matches(key):
            return step, by_page, selects
    return None


def side_key(event: QKeyEvent) -> tuple[bool, bool] | None:
    """Return whether a Home or End key moves to the end of the visual line, and whether it selects.

    Returns None for other keys.
    """
    for key, to_end, selects in _SIDE_KEYS:
        if event.matches(key):
            return to_end, selects
    return None


def move_vertically(
    flow: TextFlow, start: Position, x: float | None, step: int, page_height: float
) -> tuple[Position, float]:
    """Return the position above or below `start`; the start or end of the text if there is no line.

    Args:
        flow: The lines.
        start: The position of the cursor.
        x: The preferred x coordinate; None for the cursor's own.
        step: -1 for up, 1 for down.
        page_height: The visible height to move by; 0 to move by one visual line.

    Returns:
        The position, and the preferred x coordinate for the next move.
    """
    caret = hit_test.caret_rect(flow, *start)
    goal_x = caret.x() if x is None else x
    distance = page_height * PAGE_SHARE if page_height else _LINE_STEP_PX
    y = caret.top() - distance if step < 0 else caret.bottom() + distance
    if y < 0:
        return (first_text_line(flow), 0), goal_x
    if y >= flow.heights.total:
        last = len(flow.lines) - 1
        return (last, len(flow.lines[last])), goal_x
    target = hit_test.position_at(flow, goal_x, y)
    # The hit test can't leave a row without visual lines, for example a picture.
    if not page_height and not has_moved(flow, start, target):
        line = _next_visible_line(flow, start[0], step)
        if line < first_text_line(flow):
            return (first_text_line(flow), 0), goal_x
        y_in_row = 0.0 if step > 0 else _FAR_X
        target = line, hit_test.column_at(flow.row(line), goal_x, y_in_row, len(flow.lines[line]))
    return target, goal_x


def has_moved(flow: TextFlow, start: Position, target: Position) -> bool:
    """Return whether `target` differs from `start`; a drawing counts as one position."""
    return target[0] != start[0] or (target != start and flow.row(start[0]).drawing is None)


def move_to_side(flow: TextFlow, start: Position, to_end: bool) -> Position:
    """Return the start or end of the displayed visual line; `QTextCursor` would use Qt's own line breaks."""
    caret = hit_test.caret_rect(flow, *start)
    return hit_test.position_at(flow, _FAR_X if to_end else -_FAR_X, caret.center().y())


def first_text_line(flow: TextFlow) -> int:
    """Return the first line that is shown as text: the one after the properties if a form shows them."""
    if not flow.hides_properties:
        return 0
    first, last = flow.block(0)
    has_properties = flow.lines[first].lstrip("\ufeff").rstrip() == "---" and last > first
    return min(last + 1, len(flow.lines) - 1) if has_properties else 0


def _next_visible_line(flow: TextFlow, index: int, step: int) -> int:
    """Return the next visible line in a direction; the note's first or last line if there is none."""
    last = len(flow.rows) - 1
    line = min(max(0, index + step), last)
    while 0 < line < last and (flow.rows[line].hidden or not flow.row(line).height):
        line += step
    return line
