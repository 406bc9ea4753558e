"""Find where to break lines that are wider than their pane, in character cells. Pure."""

from __future__ import annotations

import numpy as np

from app.vault.escaped_line import EscapedLine, cell_width

# Longer lines break at the edge instead of at a space: such lines are data, not prose.
_MAX_PROSE_CHARS = 20_000


def find_breaks(line: EscapedLine, columns: int) -> list[int]:
    """Return the offsets in `line.text` at which its rows start, beginning with 0.

    Args:
        line: The displayed line.
        columns: The width of the pane in cells, at least 2.
    """
    if line.cells <= columns:
        return [0]
    if not line.is_narrow:
        is_long = len(line.text) > _MAX_PROSE_CHARS
        return (_breaks_at_edge if is_long else _breaks_by_width)(line.text, columns)
    if len(line.text) > _MAX_PROSE_CHARS:
        return list(range(0, len(line.text), columns))
    return _breaks_at_spaces(line.text, columns)


def _breaks_at_spaces(text: str, columns: int) -> list[int]:
    starts = [0]
    while len(text) - starts[-1] > columns:
        start = starts[-1]
        space = text.rfind(" ", start + columns // 3, start + columns)
        starts.append(space + 1 if space >= 0 else start + columns)
    return starts


def _breaks_at_edge(text: str, columns: int) -> list[int]:
    """Find breaks like `_breaks_by_width`, ignoring spaces, for lines of up to millions of characters."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = np.flatnonzero(np.bincount(codes))
    widths = np.zeros(int(kinds[-1]) + 1, dtype=np.int64)
    widths[kinds] = [cell_width(chr(code)) for code in kinds]
    ends = np.cumsum(widths[codes])
    starts = [0]
    while ends[-1] - (used := int(ends[starts[-1] - 1]) if starts[-1] else 0) > columns:
        starts.append(int(np.searchsorted(ends, used + columns, side="right")))
    return starts


def _breaks_by_width(text: str, columns: int) -> list[int]:
    starts, used, space = [0], 0, -1
    for index, character in enumerate(text):
        width = cell_width(character)
        if used + width > columns:
            # A wide character may start a row; between narrow ones, a break at the last space is better.
            start = space + 1 if width == 1 and space > starts[-1] else index
            starts.append(start)
            used = sum(map(cell_width, text[start:index]))
            space = -1
        used += width
        if character == " " or width == 2:
            space = index
    return starts
