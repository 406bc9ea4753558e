"""The welcome page: drop or open a folder, open the sample vault or a recent vault."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.shell.command_registry import command_title
from app.desktop.theme.app_icon import app_icon
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.time_labels import time_ago
from app.settings.recent import RecentVault, RecentVaults

_MAX_WIDTH = 560
_MAX_NAME_WIDTH = 300
_MAX_SHOWN_VAULTS = 6


class Welcome(QScrollArea):
    """The welcome page.

    Signals:
        open_requested: The path of a recent vault.
        pick_requested: The user wants to choose a folder.
        sample_requested: The user wants to open the sample vault.
    """

    open_requested = Signal(str)
    pick_requested = Signal()
    sample_requested = Signal()

    def __init__(self, theme: ThemeSource, recent: RecentVaults) -> None:
        super().__init__()
        self._theme = theme
        self._recent = recent
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        page = QWidget()
        page.setObjectName("page")
        outer = QHBoxLayout(page)
        outer.setContentsMargins(24, 24, 24, 24)
        outer.addStretch(1)
        self._inner = QWidget()
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addStretch(2)
        self._build_heading(column)
        column.addSpacing(24)
        self._build_drop_zone(column)
        column.addSpacing(20)
        self._recent_list = QVBoxLayout()
        self._recent_list.setSpacing(2)
        column.addLayout(self._recent_list)
        column.addStretch(3)
        outer.addWidget(self._inner)
        outer.addStretch(1)
        self.setWidget(page)
        theme.changed.connect(self._update_icons)
        self._update_icons(theme.theme)
        self.refresh()

    def refresh(self) -> None:
        """Rebuild the list of the most recent vaults."""
        while (item := self._recent_list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        vaults = self._recent.list_vaults()
        if not vaults:
            return
        heading = QLabel(self.tr("Recent vaults"))
        heading.setProperty("tone", "faint")
        heading.setProperty("textSize", "strong")
        heading.setContentsMargins(8, 0, 0, 4)
        self._recent_list.addWidget(heading)
        for vault in vaults[:_MAX_SHOWN_VAULTS]:
            self._recent_list.addWidget(self._recent_row(vault))

    def set_hovered(self, hovered: bool) -> None:
        """Highlight the drop zone while a folder is dragged over the window."""
        if self._drop_zone.property("over") != hovered:
            self._drop_zone.setProperty("over", hovered)
            self._drop_zone.style().polish(self._drop_zone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column at a readable width."""
        super().resizeEvent(event)
        self._inner.setFixedWidth(min(round(_MAX_WIDTH * self._theme.zoom), self.viewport().width() - 48))

    def _build_heading(self, column: QVBoxLayout) -> None:
        self._logo = QLabel()
        self._logo.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        title = QLabel("Scriptorium")
        title.setProperty("textSize", "title")
        title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        label = wrapped_label(
            self.tr(
                "See your notes as a graph, and work with an agent whose changes you approve and can undo."
            ),
            "muted",
        )
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        label.setContentsMargins(64, 0, 64, 0)
        for widget in (self._logo, title, label):
            column.addWidget(widget)

    def _build_drop_zone(self, column: QVBoxLayout) -> None:
        self._drop_zone = QFrame()
        self._drop_zone.setObjectName("dropZone")
        drop_column = QVBoxLayout(self._drop_zone)
        drop_column.setContentsMargins(24, 24, 24, 24)
        drop_column.setSpacing(6)
        self._drop_icon = QLabel()
        self._drop_icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        heading = QLabel(self.tr("Drop a folder of Markdown notes here"))
        heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        heading.setProperty("textSize", "strong")
        explanation = wrapped_label(
            self.tr(
                "The folder stays where it is. Nothing is uploaded, and nothing changes unless you approve."
            ),
            "muted",
        )
        explanation.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        self.pick_button = QPushButton(command_title("open-folder"))
        self.pick_button.setProperty("role", "primary")
        self.pick_button.clicked.connect(self.pick_requested)
        self.sample_button = QPushButton(command_title("open-sample"))
        self.sample_button.clicked.connect(self.sample_requested)
        buttons.addStretch(1)
        buttons.addWidget(self.pick_button)
        buttons.addWidget(self.sample_button)
        buttons.addStretch(1)
        for widget in (self._drop_icon, heading, explanation):
            drop_column.addWidget(widget)
        drop_column.addSpacing(8)
        drop_column.addLayout(buttons)
        column.addWidget(self._drop_zone)

    def _recent_row(self, vault: RecentVault) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        button = _RecentButton(self._theme, vault)
        button.clicked.connect(lambda: self.open_requested.emit(vault.path))
        text = self.tr("Remove {0} from this list").format(vault.name)
        remove_button = ThemedButton(self._theme, "x", text, size=14)
        remove_button.clicked.connect(lambda: self._forget(vault))
        layout.addWidget(button, 1)
        layout.addWidget(remove_button)
        return row

    def _forget(self, vault: RecentVault) -> None:
        self._recent.remove(vault.path)
        self.refresh()

    def _update_icons(self, theme: Theme) -> None:
        zoom = self._theme.zoom
        self._logo.setPixmap(app_icon(theme).pixmap(round(64 * zoom), round(64 * zoom)))
        drop_icon = icon(theme, "folder-notch-plus", theme.muted)
        self._drop_icon.setPixmap(drop_icon.pixmap(round(32 * zoom), round(32 * zoom)))


class _RecentButton(QToolButton):
    """The button that opens a recent vault: its name, path and time of last use."""

    def __init__(self, theme: ThemeSource, vault: RecentVault) -> None:
        super().__init__()
        self.setObjectName("recentVault")
        exists = vault.exists
        self.setAccessibleName(self.tr("Open {0}").format(vault.name))
        self.setToolTip(vault.path if exists else self.tr("{0} is missing").format(vault.path))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._line = line = QHBoxLayout(self)
        line.setContentsMargins(8, 6, 8, 6)
        line.setSpacing(10)
        self._theme = theme
        self._symbol = "folder-simple" if exists else "link-break"
        self._icon_label = QLabel()
        name_label = ElidedLabel(vault.name, elide=Qt.TextElideMode.ElideRight)
        name_label.setProperty("textSize", "strong")
        name_label.ensurePolished()  # The width depends on the font.
        # A long path is elided before the name.
        name_label.setMinimumWidth(min(name_label.sizeHint().width(), round(_MAX_NAME_WIDTH * theme.zoom)))
        path_label = ElidedLabel(vault.path)
        path_label.setProperty("tone", "faint")
        opened_label = QLabel(time_ago(vault.opened) if exists else self.tr("missing"))
        opened_label.setProperty("tone", "muted" if exists else "warning")
        line.addWidget(self._icon_label)
        line.addWidget(name_label)
        line.addWidget(path_label)
        line.addStretch(1)
        line.addWidget(opened_label)
        for label in (self._icon_label, name_label, path_label, opened_label):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self._draw)
        self._draw(theme.theme)

    def sizeHint(self) -> QSize:
        """Return the size of its labels."""
        return self._line.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return a smaller width, because the path can be elided."""
        return QSize(120, self._line.sizeHint().height())

    def _draw(self, theme: Theme) -> None:
        size = round(18 * self._theme.zoom)
        self._icon_label.setPixmap(icon(theme, self._symbol, theme.faint).pixmap(QSize(size, size)))
