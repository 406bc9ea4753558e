"""How a line of the feed is drawn: its state, when, what, what came of it, and who began it."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.desktop.activity.activity import Activity, Status, name_of, who
from app.desktop.activity.feed import ACTIVITY_ROLE
from app.desktop.colors import Theme
from app.desktop.theme import ThemeSource, icon
from app.vault.visible import describe

_Index = QModelIndex | QPersistentModelIndex
_SIDE, _GAP, _ICON, _ABOVE = 12, 10, 16, 6
_NAME_SHARE, _NAME_LEAST, _NAME_MOST, _WHO_MOST = 0.2, 110, 190, 150
_NARROW = 520
_SYMBOLS = {
    Status.RUNNING: "spinner",
    Status.PENDING: "hourglass-medium",
    Status.COMPLETED: "check-circle",
    Status.FAILED: "warning-circle",
    Status.DENIED: "prohibit",
}


class Line(QStyledItemDelegate):
    """Paints one activity. `kept_free` says how much of a line's right end its buttons take."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.kept_free: dict[str, int] = {}

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        """Leave the text to `paint`, and the frame of a focus out: the row is marked."""
        super().initStyleOption(option, index)
        option.text = ""
        option.state &= ~QStyle.StateFlag.State_HasFocus

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """One line of text with air."""
        height = max(QFontMetrics(option.font).height(), round(_ICON * self._theme.zoom))
        return QSize(0, height + round(2 * _ABOVE * self._theme.zoom))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        """The buttons have the whole height of the line, not that of its text."""
        editor.setGeometry(option.rect)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the row, then its parts from the left; what came of it takes the room that is left."""
        super().paint(painter, option, index)
        activity: Activity = index.data(ACTIVITY_ROLE)
        theme, zoom = self._theme.theme, self._theme.zoom
        area = QRect(option.rect).adjusted(_SIDE, 0, -_SIDE - self.kept_free.get(activity.key, 0), 0)
        whole = option.rect.width()
        painter.save()
        side = round(_ICON * zoom)
        mark = QRect(area.left(), area.center().y() - side // 2, side, side)
        icon(theme, _SYMBOLS[activity.status], status_color(activity.status, theme)).paint(painter, mark)
        area.setLeft(mark.right() + _GAP)
        metrics = QFontMetrics(option.font)
        if whole > _NARROW * zoom:
            clock = time_words(activity.at)
            _text(painter, area, clock, theme.faint, option.font)
            area.setLeft(area.left() + metrics.horizontalAdvance(clock) + _GAP)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        name = round(min(_NAME_MOST * zoom, max(whole * _NAME_SHARE, _NAME_LEAST * zoom)))
        place = QRect(area.left(), area.top(), name, area.height())
        _text(painter, place, name_of(activity), theme.text, bold)
        area.setLeft(area.left() + name + _GAP)
        if whole > _NARROW * zoom:
            starter = who(activity)
            wide = min(metrics.horizontalAdvance(starter), round(_WHO_MOST * zoom), area.width() // 3)
            place = QRect(area.right() - wide, area.top(), wide + 1, area.height())
            _text(painter, place, starter, theme.muted, option.font)
            area.setRight(area.right() - wide - _GAP)
        tone = theme.text if activity.status is Status.PENDING else theme.muted
        _text(painter, area, describe(activity.summary), tone, option.font)
        painter.restore()


def status_color(status: Status, theme: Theme) -> str:
    """The colour of a status."""
    return {
        Status.RUNNING: theme.accent,
        Status.PENDING: theme.warning,
        Status.COMPLETED: theme.success,
        Status.FAILED: theme.danger,
        Status.DENIED: theme.muted,
    }[status]


def time_words(at: float) -> str:
    """The clock for today, else the day: both as wide."""
    moment = datetime.fromtimestamp(at)
    today = moment.date() == datetime.now().date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %y")


def _text(painter: QPainter, place: QRect, words: str, color: str, font: QFont) -> None:
    painter.setPen(QColor(color))
    painter.setFont(font)
    line = " ".join(words.split())
    shown = QFontMetrics(font).elidedText(line, Qt.TextElideMode.ElideRight, max(0, place.width()))
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
