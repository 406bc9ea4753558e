"""The fields that filter the feed by text, status and origin."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from app.desktop.activity.item import ActivityOrigin, ActivityStatus
from app.desktop.activity.labels import origin_label, status_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import SearchField


class ActivityFilterBar(QWidget):
    """The fields above the feed; `changed` is emitted when one of them changes."""

    changed = Signal()

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.text = SearchField(theme, self.tr("Filter activity"))
        self.text.setMinimumWidth(round(120 * theme.zoom))
        self.status = _create_combo_box(self.tr("Any state"), self.tr("Filter by state"))
        for status in ActivityStatus:
            self.status.addItem(status_label(status), status.value)
        self.origin = _create_combo_box(self.tr("Anyone"), self.tr("Filter by initiator"))
        for origin in ActivityOrigin:
            self.origin.addItem(origin_label(origin), origin.value)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 6, 8, 6)
        self._row.setSpacing(6)
        self._row.addWidget(self.text, 1)
        for box in (self.status, self.origin):
            self._row.addWidget(box)
            box.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.text.textChanged.connect(lambda _: self.changed.emit())

    @property
    def values(self) -> tuple[str, str, str]:
        """The text, status and origin to filter by."""
        return self.text.text(), str(self.status.currentData()), str(self.origin.currentData())

    def add(self, widget: QWidget) -> None:
        """Add `widget` after the fields."""
        self._row.addWidget(widget)


def _create_combo_box(any_label: str, name: str) -> QComboBox:
    box = QComboBox()
    box.addItem(any_label, "")
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box
