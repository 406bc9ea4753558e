"""The delegate of the feed: status, time, tool, result and caller of each activity."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.desktop.activity.item import ActivityItem, ActivityStatus, origin_name, tool_label
from app.desktop.activity.model import ACTIVITY_ROLE
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource, icon
from app.vault.escaped_line import escape_hidden

_Index = QModelIndex | QPersistentModelIndex
_SIDE_MARGIN, _COLUMN_GAP, _ICON_SIZE, _VERTICAL_PADDING = 12, 10, 16, 6
_NAME_WIDTH_SHARE, _MIN_NAME_WIDTH, _MAX_NAME_WIDTH, _MAX_ORIGIN_WIDTH = 0.2, 110, 190, 150
_NARROW_WIDTH = 520
_SYMBOLS = {
    ActivityStatus.RUNNING: "spinner",
    ActivityStatus.PENDING: "hourglass-medium",
    ActivityStatus.COMPLETED: "check-circle",
    ActivityStatus.FAILED: "warning-circle",
    ActivityStatus.DENIED: "prohibit",
}


class ActivityDelegate(QStyledItemDelegate):
    """Paints one activity; `buttons_width` returns the width that the row's buttons take."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.buttons_width: dict[str, int] = {}

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        """Leave the text to `paint`, and omit the focus frame: the row is highlighted."""
        super().initStyleOption(option, index)
        option.text = ""
        option.state &= ~QStyle.StateFlag.State_HasFocus

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of one line of text with padding."""
        height = max(QFontMetrics(option.font).height(), round(_ICON_SIZE * self._theme.zoom))
        return QSize(0, height + round(2 * _VERTICAL_PADDING * self._theme.zoom))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        """Give the buttons the whole height of the row, not that of its text."""
        editor.setGeometry(option.rect)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the row and its parts from the left; the result takes the remaining width."""
        super().paint(painter, option, index)
        activity: ActivityItem = index.data(ACTIVITY_ROLE)
        theme, zoom = self._theme.theme, self._theme.zoom
        area = QRect(option.rect).adjusted(
            _SIDE_MARGIN, 0, -_SIDE_MARGIN - self.buttons_width.get(activity.key, 0), 0
        )
        width = option.rect.width()
        painter.save()
        side = round(_ICON_SIZE * zoom)
        mark = QRect(area.left(), area.center().y() - side // 2, side, side)
        icon(theme, _SYMBOLS[activity.status], status_color(activity.status, theme)).paint(painter, mark)
        area.setLeft(mark.right() + _COLUMN_GAP)
        metrics = QFontMetrics(option.font)
        if width > _NARROW_WIDTH * zoom:
            clock = format_time(activity.at)
            _draw_elided(painter, area, clock, theme.faint, option.font)
            area.setLeft(area.left() + metrics.horizontalAdvance(clock) + _COLUMN_GAP)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        name = round(min(_MAX_NAME_WIDTH * zoom, max(width * _NAME_WIDTH_SHARE, _MIN_NAME_WIDTH * zoom)))
        place = QRect(area.left(), area.top(), name, area.height())
        _draw_elided(painter, place, tool_label(activity), theme.text, bold)
        area.setLeft(area.left() + name + _COLUMN_GAP)
        if width > _NARROW_WIDTH * zoom:
            starter = origin_name(activity)
            wide = min(metrics.horizontalAdvance(starter), round(_MAX_ORIGIN_WIDTH * zoom), area.width() // 3)
            place = QRect(area.right() - wide, area.top(), wide + 1, area.height())
            _draw_elided(painter, place, starter, theme.muted, option.font)
            area.setRight(area.right() - wide - _COLUMN_GAP)
        tone = theme.text if activity.status is ActivityStatus.PENDING else theme.muted
        _draw_elided(painter, area, escape_hidden(activity.summary), tone, option.font)
        painter.restore()


def status_color(status: ActivityStatus, theme: Theme) -> str:
    """The color of a status."""
    return {
        ActivityStatus.RUNNING: theme.accent,
        ActivityStatus.PENDING: theme.warning,
        ActivityStatus.COMPLETED: theme.success,
        ActivityStatus.FAILED: theme.danger,
        ActivityStatus.DENIED: theme.muted,
    }[status]


def format_time(at: float) -> str:
    """Return the time for today, else the date, in the same width."""
    moment = datetime.fromtimestamp(at)
    today = moment.date() == datetime.now().date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %y")


def _draw_elided(painter: QPainter, place: QRect, text: str, color: str, font: QFont) -> None:
    painter.setPen(QColor(color))
    painter.setFont(font)
    line = " ".join(text.split())
    shown = QFontMetrics(font).elidedText(line, Qt.TextElideMode.ElideRight, max(0, place.width()))
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
