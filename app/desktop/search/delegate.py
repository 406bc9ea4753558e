"""The delegate of the search results, which highlights the matches."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.search.model import ROW_ROLE, SearchResultRow
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.utf16 import to_utf16_offset
from app.index.records import SearchHit, Snippet

_Index = QModelIndex | QPersistentModelIndex
_SIDE_MARGIN = 12
_TEXT_GAP = 4


class SearchResultDelegate(QStyledItemDelegate):
    """Paints a heading as a title and folder, and a snippet as one line with its matches highlighted."""

    def __init__(self, theme: ThemeSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of one line, with space above a heading or a group name."""
        height = QFontMetrics(option.font).height()
        row: SearchResultRow = index.data(ROW_ROLE)
        return QSize(80, height + (16 if row.group is not None else 14 if row.is_heading else 6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        row: SearchResultRow = index.data(ROW_ROLE)
        painter.save()
        self._paint_background(painter, option)
        area = QRect(option.rect).adjusted(_SIDE_MARGIN, 0, -_SIDE_MARGIN, 0)
        if row.group is not None:
            self._paint_group(painter, option.font, area, index.data(), row.group.count)
        elif row.hidden_lines:
            painter.setPen(QColor(self._theme.theme.accent))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(area.adjusted(8, 0, 0, 0), flags, index.data())
        elif row.snippet is None:
            self._paint_heading(painter, option.font, area, row.hit)
        else:
            self._paint_snippet(painter, option.font, area.adjusted(8, 0, 0, 0), row.snippet)
        painter.restore()

    def _paint_group(self, painter: QPainter, font: QFont, area: QRect, name: str, count: int) -> None:
        """Paint the name of a group above a line, with its count on the right."""
        theme = self._theme.theme
        painter.setPen(QColor(theme.border))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(QColor(theme.muted))
        painter.setFont(font)
        metrics = QFontMetrics(font)
        number = f"{count:,}"
        width = area.width() - metrics.horizontalAdvance(number) - 2 * _TEXT_GAP
        bottom = Qt.AlignmentFlag.AlignBottom
        area = area.adjusted(0, 0, 0, -3)
        elided = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)
        painter.drawText(area, bottom | Qt.AlignmentFlag.AlignLeft, elided)
        painter.setPen(QColor(theme.faint))
        painter.drawText(area, bottom | Qt.AlignmentFlag.AlignRight, number)

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme = self._theme.theme
        state = option.state
        color = None
        if state & QStyle.StateFlag.State_Selected:
            color = theme.accent_soft
        elif state & QStyle.StateFlag.State_MouseOver:
            color = theme.hover
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if color is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(color))
            painter.drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), 5, 5)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(option.rect).adjusted(4.5, 1.5, -4.5, -1.5), 5, 5)

    def _paint_heading(self, painter: QPainter, font: QFont, area: QRect, hit: SearchHit) -> None:
        theme = self._theme.theme
        bold = QFont(font)
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QColor(theme.text))
        metrics = QFontMetrics(bold)
        title = metrics.elidedText(hit.title, Qt.TextElideMode.ElideRight, area.width())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(area, flags, title)
        remaining = area.adjusted(metrics.horizontalAdvance(title) + 2 * _TEXT_GAP, 0, 0, 0)
        if remaining.width() > 40 and hit.path.folder:
            painter.setFont(font)
            painter.setPen(QColor(theme.faint))
            middle = Qt.TextElideMode.ElideMiddle
            folder = QFontMetrics(font).elidedText(hit.path.folder, middle, remaining.width())
            painter.drawText(remaining, flags, folder)

    def _paint_snippet(self, painter: QPainter, font: QFont, area: QRect, snippet: Snippet) -> None:
        theme = self._theme.theme
        text, marks = _from_first_mark(snippet, QFontMetrics(font), area.width())
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats(
            [
                _create_mark(
                    to_utf16_offset(text, start), to_utf16_offset(text, end), theme.mark_bg, theme.text
                )
                for start, end in marks
            ]
        )
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(100_000)
        layout.endLayout()
        if line.naturalTextWidth() > area.width():
            ellipsis_width = QFontMetrics(font).horizontalAdvance("…")
            painter.setPen(QColor(theme.muted))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, "…")
            area = area.adjusted(0, 0, -ellipsis_width - 1, 0)
        painter.setClipRect(area)
        painter.setPen(QColor(theme.muted))
        top = area.top() + (area.height() - line.height()) / 2
        layout.draw(painter, QRectF(area.left(), top, 0, 0).topLeft())


def _create_mark(start: int, end: int, background: str, foreground: str) -> QTextLayout.FormatRange:
    """Return the format of a match between two UTF-16 offsets."""
    text_format = QTextCharFormat()
    text_format.setBackground(QColor(background))
    text_format.setForeground(QColor(foreground))
    mark = QTextLayout.FormatRange()
    mark.start, mark.length, mark.format = start, end - start, text_format
    return mark


def _from_first_mark(
    snippet: Snippet, metrics: QFontMetrics, width: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the snippet, truncated on the left if its first match would otherwise be clipped."""
    text = snippet.text.replace("\t", " ").replace("\n", " ")
    if not snippet.marks or metrics.horizontalAdvance(text[: snippet.marks[0][1]]) < width:
        return text, snippet.marks
    cut = max(0, snippet.marks[0][0] - 12)
    return "…" + text[cut:], tuple((start - cut + 1, end - cut + 1) for start, end in snippet.marks)
