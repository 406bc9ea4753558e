"""The list of search results: a model over hits, and how each is painted with its marks."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.desktop.theme import ThemeSource
from app.index.records import SearchHit, Snippet

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_LEFT, _GAP = 12, 4


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: the head of a hit, or one snippet of it."""

    hit: SearchHit
    snippet: Snippet | None = None


class Hits(QAbstractListModel):
    """Rows of hits; a hit's head is followed by its snippets."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []

    def show(self, hits: tuple[SearchHit, ...]) -> None:
        """Show these hits in place of what is shown."""
        self.beginResetModel()
        self._rows = _rows(hits)
        self.endResetModel()

    def append(self, hits: tuple[SearchHit, ...]) -> None:
        """Show these hits after what is shown."""
        rows = _rows(hits)
        if rows:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return tuple(self._rows)

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """How many rows `parent` has."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a view shows of `index` in `role`."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.snippet.text if row.snippet else row.hit.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.hit.path.text if row.snippet is None else f"{row.hit.path.text}:{row.snippet.line}"
        return None


def _rows(hits: tuple[SearchHit, ...]) -> list[Row]:
    return [row for hit in hits for row in (Row(hit), *(Row(hit, snippet) for snippet in hit.snippets))]


class HitPainter(QStyledItemDelegate):
    """Paints a head as title and folder, a snippet as one line with its marks on a tinted ground."""

    def __init__(self, theme: ThemeSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """One line, with room over a head."""
        height = QFontMetrics(option.font).height()
        return QSize(80, height + (14 if index.data(ROW_ROLE).snippet is None else 6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one row."""
        row: Row = index.data(ROW_ROLE)
        painter.save()
        self._paint_ground(painter, option)
        area = QRect(option.rect).adjusted(_LEFT, 0, -_LEFT, 0)
        if row.snippet is None:
            self._paint_head(painter, option.font, area, row.hit)
        else:
            self._paint_snippet(painter, option.font, area.adjusted(8, 0, 0, 0), row.snippet)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
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

    def _paint_head(self, painter: QPainter, font: QFont, area: QRect, hit: SearchHit) -> None:
        theme = self._theme.theme
        bold = QFont(font)
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QColor(theme.text))
        metrics = QFontMetrics(bold)
        title = metrics.elidedText(hit.title, Qt.TextElideMode.ElideRight, area.width())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(area, flags, title)
        rest = area.adjusted(metrics.horizontalAdvance(title) + 2 * _GAP, 0, 0, 0)
        if rest.width() > 40 and hit.path.folder:
            painter.setFont(font)
            painter.setPen(QColor(theme.faint))
            middle = Qt.TextElideMode.ElideMiddle
            folder = QFontMetrics(font).elidedText(hit.path.folder, middle, rest.width())
            painter.drawText(rest, flags, folder)

    def _paint_snippet(self, painter: QPainter, font: QFont, area: QRect, snippet: Snippet) -> None:
        theme = self._theme.theme
        text, marks = _from_first_mark(snippet, QFontMetrics(font), area.width())
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats([_mark(start, end, theme.mark_bg, theme.text) for start, end in marks])
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(100_000)
        layout.endLayout()
        if line.naturalTextWidth() > area.width():
            more = QFontMetrics(font).horizontalAdvance("…")
            painter.setPen(QColor(theme.muted))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, "…")
            area = area.adjusted(0, 0, -more - 1, 0)
        painter.setClipRect(area)
        painter.setPen(QColor(theme.muted))
        top = area.top() + (area.height() - line.height()) / 2
        layout.draw(painter, QRectF(area.left(), top, 0, 0).topLeft())


def _mark(start: int, end: int, ground: str, ink: str) -> QTextLayout.FormatRange:
    look = QTextCharFormat()
    look.setBackground(QColor(ground))
    look.setForeground(QColor(ink))
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, end - start, look
    return made


def _from_first_mark(
    snippet: Snippet, metrics: QFontMetrics, width: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The snippet's text, cut at the left when its first mark would otherwise be out of sight."""
    text = snippet.text.replace("\t", " ").replace("\n", " ")
    if not snippet.marks or metrics.horizontalAdvance(text[: snippet.marks[0][1]]) < width:
        return text, snippet.marks
    cut = max(0, snippet.marks[0][0] - 12)
    return "…" + text[cut:], tuple((start - cut + 1, end - cut + 1) for start, end in snippet.marks)
