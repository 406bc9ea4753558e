"""The list of the user's plug-ins in the settings."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app import paths
from app.desktop.widgets.plain_labels import wrapped_label
from app.settings import Settings
from app.toolkit.plugins import PluginPackage, find_plugin_packages


class PluginList(QWidget):
    """A card for each plug-in in the plug-in folder; `toggled` carries its name and whether to load it."""

    toggled = Signal(str, bool)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[str, QCheckBox] = {}
        self.setAccessibleDescription(
            self.tr("Plug-ins (wheel packages) in the plug-in folder. Turn each one on or off.")
        )
        heading = QLabel(self.tr("Plug-ins"))
        heading.setProperty("textSize", "strong")
        self.folder_button = QPushButton(self.tr("Open plug-in folder"))
        self.folder_button.setAutoDefault(False)
        self.folder_button.clicked.connect(_open_folder)
        header = QHBoxLayout()
        header.addWidget(heading, 1)
        header.addWidget(self.folder_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(header)
        column.addWidget(
            wrapped_label(
                self.tr(
                    "A plug-in is a wheel (.whl), or a folder created by “pip install --target”. It "
                    "runs with the full permissions of this app: turn on only what you trust. Changes "
                    "take effect when a vault is opened; the categories that a plug-in adds are off "
                    "until you turn them on."
                ),
                "muted",
            )
        )
        packages = find_plugin_packages()
        for package in packages:
            column.addWidget(self._create_card(package))
        if not packages:
            column.addWidget(wrapped_label(self.tr("The plug-in folder is empty."), "muted"))
        self.show_settings(settings)

    def show_settings(self, settings: Settings) -> None:
        """Show which plug-ins these settings enable."""
        for name, box in self.boxes.items():
            box.blockSignals(True)
            box.setChecked(name in settings.tools.plugins_on)
            box.blockSignals(False)

    def _create_card(self, package: PluginPackage) -> QWidget:
        card = QFrame(self)
        card.setObjectName("card")
        row = QHBoxLayout(card)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(16)
        title = QLabel(package.title)
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setProperty("textSize", "strong")
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        text_column.addWidget(title)
        text_column.addWidget(wrapped_label(package.problem or package.name, "muted"))
        row.addLayout(text_column, 1)
        if not package.problem:
            box = self.boxes[package.name] = QCheckBox(self.tr("On"))
            box.setAccessibleName(self.tr("Load the plug-in {0}").format(package.title))
            box.toggled.connect(lambda on: self.toggled.emit(package.name, on))
            row.addWidget(box, 0, Qt.AlignmentFlag.AlignTop)
        return card


def _open_folder() -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(paths.plugin_folder())))
