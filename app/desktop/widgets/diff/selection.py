"""The text selection in a diff, and the text that it copies. Pure.

A selection stays in one pane and has two ends: rows of the diff and positions in their displayed text. Copied
text keeps tabs and spaces, names hidden characters in ⟨⟩, and omits the labels for line endings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.desktop.widgets.diff.row_layout import DiffRow, DiffRows
from app.vault.diff_words import Span
from app.vault.escaped_line import NOTE_SIGN, QUIET_SIGN, EscapedLine, cell_width

_FOLD_TEXT = "…"
_MAX_WORD_CHARS = 200


class TextPosition(NamedTuple):
    """The position before character `offset` of the displayed text in row `row`."""

    row: int
    offset: int


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection from `anchor`, where it began, to `end`, in the pane that shows `sides`."""

    sides: tuple[str, ...]
    anchor: TextPosition
    end: TextPosition

    @property
    def is_empty(self) -> bool:
        """True if nothing is selected."""
        return self.anchor == self.end

    @property
    def ordered(self) -> tuple[TextPosition, TextPosition]:
        """The two ends, the upper one first."""
        return min(self.anchor, self.end), max(self.anchor, self.end)

    def part(self, row: int, length: int) -> Span | None:
        """Return the selected part of the text of `row`, which has `length` characters."""
        first, last = self.ordered
        if self.is_empty or not first.row <= row <= last.row:
            return None
        return first.offset if row == first.row else 0, last.offset if row == last.row else length

    def text(self, diff_rows: DiffRows) -> str:
        """Return the selected text, line by line, with an ellipsis for each fold."""
        first, last = self.ordered
        lines: list[str] = []
        for index in range(first.row, last.row + 1):
            row = diff_rows.rows[index]
            if row.folded:
                lines.append(_FOLD_TEXT)
            elif (line := row_line(diff_rows, row, self.sides)) is not None:
                start, end = self.part(index, len(line.text)) or (0, 0)
                lines.append(copied_text(line, start, end))
        return "\n".join(lines)


def row_side(row: DiffRow, sides: tuple[str, ...]) -> str | None:
    """Return the side that a row shows in a pane with these sides; None if the row has no line there."""
    if "after" in sides and row.after is not None:
        return "after"
    return "before" if "before" in sides and row.before is not None else None


def row_line(diff_rows: DiffRows, row: DiffRow, sides: tuple[str, ...]) -> EscapedLine | None:
    """Return the line that a row shows in a pane with these sides; None for a fold or if there is none."""
    side = row_side(row, sides)
    if side is None or row.folded:
        return None
    number = row.after if side == "after" else row.before
    return None if number is None else diff_rows.line(side, number)


def nearest_position(line: EscapedLine, part: Span, cells: float) -> int:
    """Return the position in `part` of a line nearest to `cells` cells from the start of the part."""
    start, end = part
    if line.is_narrow:
        return min(max(start + round(cells), start), end)
    used = 0.0
    for index in range(start, end):
        width = cell_width(line.text[index])
        if used + width / 2 > cells:
            return index
        used += width
    return end


def word_at(line: EscapedLine, position: int) -> Span:
    """Return the label, word, or run of spaces or punctuation at a position."""
    for start, end, _ in line.signs:
        if start <= position < end:
            return start, end
    text = line.text
    if position >= len(text):
        return len(text), len(text)
    kind, start, end = _character_class(text[position]), position, position + 1
    while start > max(0, position - _MAX_WORD_CHARS) and _character_class(text[start - 1]) == kind:
        start -= 1
    while end < min(len(text), position + _MAX_WORD_CHARS) and _character_class(text[end]) == kind:
        end += 1
    return start, end


def copied_text(line: EscapedLine, start: int, end: int) -> str:
    """Return the text to copy for a part of a displayed line."""
    parts: list[str] = []
    position = start
    for left, right, kind in line.signs:
        if right <= start or left >= end:
            continue
        parts.append(line.text[position : max(position, left)])
        visible_part = line.text[max(left, start) : min(right, end)]
        if kind == QUIET_SIGN:
            parts.append("\t" if line.text[left] == "→" else " " * len(visible_part))
        elif kind != NOTE_SIGN:
            parts.append(f"⟨{line.text[left:right]}⟩")
        position = right
    return "".join([*parts, line.text[position : max(position, end)]])


def _character_class(character: str) -> str:
    return "word" if character.isalnum() or character == "_" else "space" if character.isspace() else "sign"
