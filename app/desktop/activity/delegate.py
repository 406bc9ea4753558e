"""The activity feed's delegate: each activity's status, time, tool, result and caller."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from app.desktop.activity.item import ActivityItem, ActivityStatus
from app.desktop.activity.labels import item_label, origin_name
from app.desktop.activity.model import ACTIVITY_ROLE
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.row_delegate import PaintedRowDelegate
from app.desktop.widgets.time_labels import time_or_date
from app.vault.invisible_chars import escape_hidden

_Index = QModelIndex | QPersistentModelIndex
_SIDE_MARGIN = 12
_COLUMN_GAP = 10
_ICON_SIZE = 16
_VERTICAL_PADDING = 6
_NAME_WIDTH_SHARE = 0.2
_MIN_NAME_WIDTH = 110
_MAX_NAME_WIDTH = 190
_MAX_ORIGIN_WIDTH = 150
_NARROW_WIDTH = 520
_ICONS = {
    ActivityStatus.RUNNING: "spinner",
    ActivityStatus.PENDING: "hourglass-medium",
    ActivityStatus.COMPLETED: "check-circle",
    ActivityStatus.FAILED: "warning-circle",
    ActivityStatus.DENIED: "prohibit",
}


class ActivityDelegate(PaintedRowDelegate):
    """Paints one activity; `buttons_width` maps the key of a row with buttons to their width in pixels."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.buttons_width: dict[str, int] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the padded height of a line of text or the icon; the width is 0."""
        height = max(QFontMetrics(option.font).height(), round(_ICON_SIZE * self._theme.zoom))
        return QSize(0, height + round(2 * _VERTICAL_PADDING * self._theme.zoom))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        """Give the buttons the full height of the row."""
        editor.setGeometry(option.rect)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the status, time, tool and result from the left, and the caller at the right edge.

        The result takes the remaining width; narrow rows omit the time and the caller.
        """
        super().paint(painter, option, index)
        activity: ActivityItem = index.data(ACTIVITY_ROLE)
        theme, zoom = self._theme.theme, self._theme.zoom
        area = QRect(option.rect).adjusted(
            _SIDE_MARGIN, 0, -_SIDE_MARGIN - self.buttons_width.get(activity.key, 0), 0
        )
        width = option.rect.width()
        painter.save()
        icon_size = round(_ICON_SIZE * zoom)
        icon_rect = QRect(area.left(), area.center().y() - icon_size // 2, icon_size, icon_size)
        icon(theme, _ICONS[activity.status], status_color(activity.status, theme)).paint(painter, icon_rect)
        area.setLeft(icon_rect.right() + _COLUMN_GAP)
        metrics = QFontMetrics(option.font)
        if width > _NARROW_WIDTH * zoom:
            time_text = time_or_date(activity.time, with_seconds=True)
            _draw_elided(painter, area, time_text, theme.faint, option.font)
            area.setLeft(area.left() + metrics.horizontalAdvance(time_text) + _COLUMN_GAP)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        name_width = round(
            min(_MAX_NAME_WIDTH * zoom, max(width * _NAME_WIDTH_SHARE, _MIN_NAME_WIDTH * zoom))
        )
        rect = QRect(area.left(), area.top(), name_width, area.height())
        _draw_elided(painter, rect, item_label(activity), theme.text, bold)
        area.setLeft(area.left() + name_width + _COLUMN_GAP)
        if width > _NARROW_WIDTH * zoom:
            origin = origin_name(activity)
            origin_width = min(
                metrics.horizontalAdvance(origin), round(_MAX_ORIGIN_WIDTH * zoom), area.width() // 3
            )
            rect = QRect(area.right() - origin_width, area.top(), origin_width + 1, area.height())
            _draw_elided(painter, rect, origin, theme.muted, option.font)
            area.setRight(area.right() - origin_width - _COLUMN_GAP)
        color = theme.text if activity.status is ActivityStatus.PENDING else theme.muted
        _draw_elided(painter, area, escape_hidden(activity.summary), color, option.font)
        painter.restore()


def status_color(status: ActivityStatus, theme: Theme) -> str:
    """Return the color of a status."""
    return {
        ActivityStatus.RUNNING: theme.accent,
        ActivityStatus.PENDING: theme.warning,
        ActivityStatus.COMPLETED: theme.success,
        ActivityStatus.FAILED: theme.danger,
        ActivityStatus.DENIED: theme.muted,
    }[status]


def _draw_elided(painter: QPainter, rect: QRect, text: str, color: str, font: QFont) -> None:
    painter.setPen(QColor(color))
    painter.setFont(font)
    line = " ".join(text.split())
    elided = QFontMetrics(font).elidedText(line, Qt.TextElideMode.ElideRight, max(0, rect.width()))
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
