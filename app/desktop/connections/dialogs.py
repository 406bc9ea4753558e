"""The dialogs of the connection page: adding a program, and showing its token once."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.desktop.connections.configuration_view import ConfigurationView
from app.desktop.connections.configurations import TARGETS, ConnectionDetails, Target, Way
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs

_MAX_NAME_CHARS = 60


class NewProgramDialog(dialogs.SheetDialog):
    """Asks for the program to connect, the connection type and the name."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None, name: str = "", problem: str = "") -> None:
        super().__init__(
            parent,
            translate("Connections", "Connect a program"),
            translate(
                "Connections",
                "The program uses the vault's tools within its permissions. You review each change that it"
                " proposes.",
            ),
        )
        self.setMinimumWidth(round(480 * theme.zoom))
        self.target_box = QComboBox()
        for one in TARGETS:
            self.target_box.addItem(one.title, one)
        self.target_box.setToolTip(self.tr("The configuration is generated for this program"))
        self.way_box = QComboBox()
        self.way_box.setToolTip(
            self.tr(
                "Started by the program: needs no token. Over HTTP: needs a token, and works only while the"
                " vault is open."
            )
        )
        self.name = QLineEdit(name)
        self.name.setMaxLength(_MAX_NAME_CHARS)
        self.name.setToolTip(self.tr("Name shown in rules, requests and the audit log"))
        form = QWidget()
        rows = QFormLayout(form)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setVerticalSpacing(10)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.addRow(self.tr("&Program"), self.target_box)
        rows.addRow(self.tr("Connects via"), self.way_box)
        rows.addRow(self.tr("&Name"), self.name)
        self.add_body(form)
        self.problem = QLabel(problem)
        self.problem.setProperty("tone", "danger")
        self.problem.setWordWrap(True)
        self.problem.setVisible(bool(problem))
        self.add_body(self.problem)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.go = self.add_button(self.tr("Connect"), int(QDialog.DialogCode.Accepted), "primary")
        self.go.setDefault(True)
        self._named = bool(name)
        self.name.textEdited.connect(self._follow_name)
        self.target_box.currentIndexChanged.connect(self._follow_target)
        self._follow_target()
        self.target_box.setFocus()

    @property
    def target(self) -> Target:
        """The chosen program."""
        found: Target = self.target_box.currentData()
        return found

    @property
    def way(self) -> Way:
        """The connection type."""
        found: Way = self.way_box.currentData()
        return found

    def _follow_name(self, text: str) -> None:
        self._named = bool(text.strip())
        self.go.setEnabled(bool(text.strip()))

    def _follow_target(self, *_: object) -> None:
        names = {"stdio": self.tr("Starts Scriptorium itself"), "http": self.tr("Over HTTP, with a token")}
        self.way_box.clear()
        for way in self.target.ways:
            self.way_box.addItem(names[way], way)
        self.way_box.setEnabled(len(self.target.ways) > 1)
        if not self._named:
            plain = self.target.title.partition(" (")[0]
            self.name.setText("" if self.target.id == "other" else plain)
        self.go.setEnabled(bool(self.name.text().strip()))


class SetUpDialog(dialogs.SheetDialog):
    """Shows the program's configuration, with its new token if it just received one."""

    def __init__(
        self, connection: ConnectionDetails, way: Way, target: str, theme: ThemeSource, parent: QWidget | None
    ) -> None:
        instructions = translate("Connections", "Copy this token now. It is not shown again.")
        started = translate(
            "Connections", "Add this to the program's configuration, then restart the program."
        )
        title = translate("Connections", "{0} can now connect").format(connection.name)
        super().__init__(parent, title, instructions if connection.token else started)
        self.setMinimumSize(round(640 * theme.zoom), round(440 * theme.zoom))
        self.token = QLineEdit(connection.token)
        self.token.setReadOnly(True)
        self.token.setAccessibleName(self.tr("Token"))
        self.copy_token = QPushButton(self.tr("Copy token"))
        self.copy_token.setToolTip(self.tr("Copy the token to the clipboard"))
        self.copy_token.clicked.connect(lambda: QGuiApplication.clipboard().setText(connection.token))
        row = QWidget()
        parts = QHBoxLayout(row)
        parts.setContentsMargins(0, 0, 0, 0)
        parts.setSpacing(6)
        parts.addWidget(self.token, 1)
        parts.addWidget(self.copy_token)
        row.setVisible(bool(connection.token))
        self.view = ConfigurationView(theme)
        self.view.show_connection(connection, way, target)
        self.add_body(row)
        self.add_body(self.view)
        done = self.add_button(self.tr("Done"), int(QDialog.DialogCode.Accepted))
        done.setDefault(True)
        self.view.copy.setFocus()
