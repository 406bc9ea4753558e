"""Paint one displayed line of text on a grid of character cells.

Characters keep the order of the file: text is never passed to the bidi algorithm as a whole, so right-to-left
words are shaped but stay in their position. Labels are chips with a frame, which the text of a note can't
imitate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPaintDevice, QPainter

from app.desktop.theme.colors import Theme
from app.vault.diff_words import Span
from app.vault.escaped_line import CHIP_SIGN, NOTE_SIGN, EscapedLine, cell_width

_RUN = re.compile(
    r"(?P<narrow>[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0377\u0384-\u0482\u048a-\u052f]+)"
    r"|(?P<other>[^\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0377\u0384-\u0482\u048a-\u052f])"
)


@dataclass(frozen=True)
class Grid:
    """The size of a character cell in `font`, in logical pixels; `shaped_font` is `font` with shaping."""

    font: QFont
    shaped_font: QFont
    cell: float
    height: int
    ascent: float

    @classmethod
    def of(cls, font: QFont, device: QPaintDevice) -> Grid:
        """Return the grid for `font` on `device`."""
        plain = QFont(font)
        plain.setKerning(False)
        # Disable ligatures: "!=" must look like two characters.
        plain.setStyleStrategy(QFont.StyleStrategy.PreferNoShaping)
        metrics = QFontMetricsF(plain, device)
        height = round(metrics.height() * 1.3)
        ascent = (height - metrics.height()) / 2 + metrics.ascent()
        return cls(plain, QFont(font), metrics.horizontalAdvance("0" * 100) / 100, height, ascent)


class TextPainter:
    """Paints parts of displayed lines with one painter, grid and theme."""

    def __init__(self, painter: QPainter, grid: Grid, theme: Theme) -> None:
        self._painter = painter
        self._grid = grid
        self._text_color = QColor(theme.text)
        self._quiet_color = QColor(theme.faint)
        self._line_color = QColor(theme.faint)
        self._line_color.setAlphaF(0.45)
        self._chip_color = QColor(theme.warning)
        self._chip_background = QColor(theme.warning)
        self._chip_background.setAlphaF(0.16)

    def paint_marks(
        self, line: EscapedLine, part: Span, corner: QPointF, spans: tuple[Span, ...], color: QColor
    ) -> None:
        """Paint `color` behind those parts of `spans` that are in `part` of `line`."""
        start, end = part
        for left, right in spans:
            left, right = max(left, start), min(right, end)
            if left < right:
                x = corner.x() + self._width(line, start, left)
                width = self._width(line, left, right)
                box = QRectF(x, corner.y() + 1, width, self._grid.height - 2)
                self._painter.setPen(Qt.PenStyle.NoPen)
                self._painter.setBrush(color)
                self._painter.drawRoundedRect(box, 3, 3)

    def paint_text(self, line: EscapedLine, part: Span, corner: QPointF) -> None:
        """Paint `part` of `line` with its top left at `corner`."""
        start, end = part
        x = corner.x()
        for left, right, kind in _marked_pieces(line, start, end):
            width = self._width(line, left, right)
            if kind in (CHIP_SIGN, NOTE_SIGN):
                box = QRectF(x, corner.y(), width, self._grid.height)
                self._draw_chip(line.text[left:right], box, is_warning=kind == CHIP_SIGN)
            else:
                self._painter.setPen(self._quiet_color if kind else self._text_color)
                self._draw_plain(line, left, right, QPointF(x, corner.y() + self._grid.ascent))
            x += width

    def _width(self, line: EscapedLine, start: int, end: int) -> float:
        cells = end - start if line.is_narrow else sum(map(cell_width, line.text[start:end]))
        return cells * self._grid.cell

    def _draw_chip(self, text: str, box: QRectF, *, is_warning: bool) -> None:
        inner = box.adjusted(0.5, 2.5, -0.5, -2.5)
        self._painter.setPen(self._chip_color if is_warning else self._line_color)
        self._painter.setBrush(self._chip_background if is_warning else Qt.BrushStyle.NoBrush)
        self._painter.drawRoundedRect(inner, 4, 4)
        self._painter.setPen(self._chip_color if is_warning else self._quiet_color)
        small_font = QFont(self._grid.font)
        small_font.setPointSizeF(small_font.pointSizeF() * 0.82)
        self._painter.setFont(small_font)
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_plain(self, line: EscapedLine, start: int, end: int, origin: QPointF) -> None:
        text = line.text[start:end]
        if line.is_narrow:
            self._painter.setFont(self._grid.font)
            self._painter.drawText(origin, text)
            return
        for run, cells, is_narrow in _runs(text):
            self._painter.setFont(self._grid.font if is_narrow else self._grid.shaped_font)
            self._draw_fitting(run, origin, cells * self._grid.cell, is_narrow)
            origin = QPointF(origin.x() + cells * self._grid.cell, origin.y())

    def _draw_fitting(self, run: str, origin: QPointF, width: float, is_narrow: bool) -> None:
        """Draw `run` in its cells, narrowing wider glyphs of a substitute font to fit."""
        advance = 0.0 if is_narrow else QFontMetricsF(self._grid.shaped_font).horizontalAdvance(run)
        if is_narrow or advance <= width or not width:
            self._painter.drawText(
                QPointF(origin.x() + max(0.0, width - advance) / 2 * (not is_narrow), origin.y()), run
            )
            return
        self._painter.save()
        self._painter.translate(origin)
        self._painter.scale(width / advance, 1.0)
        self._painter.drawText(QPointF(0, 0), run)
        self._painter.restore()


def _marked_pieces(line: EscapedLine, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Split the text from `start` to `end` at its signs; each piece has its kind ("" for plain text)."""
    position = start
    for left, right, kind in line.signs:
        left, right = max(left, start), min(right, end)
        if left >= right:
            continue
        if position < left:
            yield position, left, ""
        yield left, right, kind
        position = right
    if position < end:
        yield position, end, ""


def _runs(text: str) -> Iterator[tuple[str, int, bool]]:
    """Split text into runs, each with its width in cells and whether it is narrow text.

    Any other run is a wide character with its marks, or a word in a script that needs shaping.
    """
    pending, cells, is_wide = "", 0, False
    for match in _RUN.finditer(text):
        part = match[0]
        width = len(part) if match["narrow"] else cell_width(part)
        if pending and (match["narrow"] or width == 2 or (is_wide and width)):
            yield pending, cells, False
            pending, cells = "", 0
        is_wide = width == 2 or (is_wide and not width)
        if match["narrow"]:
            yield part, width, True
        else:
            pending, cells = pending + part, cells + width
    if pending:
        yield pending, cells, False
