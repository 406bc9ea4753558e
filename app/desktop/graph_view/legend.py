"""What the colours mean; a click on an entry hides and shows its nodes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QVBoxLayout, QWidget

from app.desktop.colors import Theme
from app.desktop.graph_view.look import Group, relation_color
from app.desktop.graph_view.sprites import draw_disc
from app.graph.model import PLAIN_LINK

_MOST = 8
_ALWAYS = ("unresolved", "attachment")
_LONGEST = 22


class Legend(QFrame):
    """Entries for node groups and for the relation types that occur. `toggled` says group and on or off."""

    toggled = Signal(str, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphLegend")
        self.setAccessibleName("Legend of the graph")
        self._showing: object = None
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(8, 6, 8, 6)
        self._rows.setSpacing(0)

    def show_groups(
        self, groups: Sequence[Group], relations: Sequence[str], hidden: set[str], theme: Theme, ratio: float
    ) -> None:
        """Put the entries in place of the earlier ones."""
        wanted = (tuple(groups), tuple(relations), frozenset(hidden), theme.name, ratio)
        if wanted == self._showing:
            return
        self._showing = wanted
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        shown = [group for group in groups[:_MOST] if group.count]
        shown += [group for group in groups[_MOST:] if group.count and group.key in _ALWAYS]
        entries: list[QWidget] = [
            self._entry(group, group.key not in hidden, theme, ratio) for group in shown
        ]
        entries += [self._relation(name, theme) for name in relations if name != PLAIN_LINK]
        for entry in entries:
            self._rows.addWidget(entry)
            entry.show()
        self.setVisible(bool(shown))

    def _entry(self, group: Group, on: bool, theme: Theme, ratio: float) -> QToolButton:
        button = QToolButton(self)
        label = group.label if len(group.label) <= _LONGEST else group.label[: _LONGEST - 1] + "…"
        button.setText(f" {label.replace('&', '&&')}   {group.count:,}")
        button.setIcon(_swatch(group, on, theme, ratio))
        button.setIconSize(QSize(12, 12))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setToolTip(f"{'Hide' if on else 'Show'} {group.label}")
        button.setAccessibleName(f"{group.label}, {group.count} notes, {'shown' if on else 'hidden'}")
        button.clicked.connect(lambda: self.toggled.emit(group.key, not on))
        return button

    def _relation(self, name: str, theme: Theme) -> QLabel:
        words = name.replace("_", " ").lower()
        color = relation_color(theme, name)
        label = QLabel(f'<span style="color:{color}">━━</span>&nbsp; {words}', self)
        label.setProperty("tone", "muted")
        label.setContentsMargins(6, 2, 6, 2)
        return label


def _swatch(group: Group, on: bool, theme: Theme, ratio: float) -> QIcon:
    """The node as the graph draws it; only its ring when it is hidden."""
    pixmap = QPixmap(round(12 * ratio), round(12 * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if on:
        draw_disc(painter, QPointF(6, 6), 4.2, group, theme.panel)
    else:
        painter.setPen(QColor(theme.faint))
        painter.drawEllipse(QPointF(6, 6), 4.0, 4.0)
    painter.end()
    return QIcon(pixmap)
