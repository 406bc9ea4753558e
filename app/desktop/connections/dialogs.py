"""The dialogs of the connection page: adding a program, and showing its token once."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.desktop.connections.configuration_view import ConfigurationView, fill_transports
from app.desktop.connections.configurations import TARGETS, ConnectionDetails, Target, Transport
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.plain_labels import wrapped_label

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
        for target in TARGETS:
            self.target_box.addItem(translate("Connections", target.title), target)
        self.target_box.setToolTip(self.tr("The configuration is generated for this program"))
        self.transport_box = QComboBox()
        self.transport_box.setToolTip(
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
        rows.addRow(self.tr("Connects via"), self.transport_box)
        rows.addRow(self.tr("&Name"), self.name)
        self.add_body(form)
        self.problem = wrapped_label(problem, "danger")
        self.problem.setVisible(bool(problem))
        self.add_body(self.problem)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.connect_button = self.add_button(self.tr("Connect"), int(QDialog.DialogCode.Accepted), "primary")
        self.connect_button.setDefault(True)
        self._has_custom_name = bool(name)
        self.name.textEdited.connect(self._update_button)
        self.target_box.currentIndexChanged.connect(self._show_target)
        self._show_target()
        self.target_box.setFocus()

    @property
    def target(self) -> Target:
        """The selected program."""
        target: Target = self.target_box.currentData()
        return target

    @property
    def transport(self) -> Transport:
        """The connection type."""
        transport: Transport = self.transport_box.currentData()
        return transport

    def _update_button(self, text: str) -> None:
        self._has_custom_name = bool(text.strip())
        self.connect_button.setEnabled(bool(text.strip()))

    def _show_target(self, *_: object) -> None:
        fill_transports(self.transport_box, self.target)
        if not self._has_custom_name:
            name = self.target.title.partition(" (")[0]
            self.name.setText("" if self.target.id == "other" else name)
        self.connect_button.setEnabled(bool(self.name.text().strip()))


class SetUpDialog(dialogs.SheetDialog):
    """Shows a program's configuration, and its new token if there is one."""

    def __init__(
        self,
        connection: ConnectionDetails,
        transport: Transport,
        target: str,
        theme: ThemeSource,
        parent: QWidget | None,
    ) -> None:
        token_text = translate("Connections", "Copy this token now. It won't be shown again.")
        configuration_text = translate(
            "Connections", "Add this to the program's configuration, then restart the program."
        )
        title = translate("Connections", "{0} can now connect").format(connection.name)
        super().__init__(parent, title, token_text if connection.token else configuration_text)
        self.setMinimumSize(round(640 * theme.zoom), round(440 * theme.zoom))
        self.token = QLineEdit(connection.token)
        self.token.setReadOnly(True)
        self.token.setAccessibleName(self.tr("Token"))
        self.copy_token_button = QPushButton(self.tr("Copy token"))
        self.copy_token_button.setToolTip(self.tr("Copy the token to the clipboard"))
        self.copy_token_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(connection.token))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.token, 1)
        layout.addWidget(self.copy_token_button)
        row.setVisible(bool(connection.token))
        self.view = ConfigurationView(theme)
        self.view.show_connection(connection, transport, target)
        self.add_body(row)
        self.add_body(self.view)
        done_button = self.add_button(self.tr("Done"), int(QDialog.DialogCode.Accepted))
        done_button.setDefault(True)
        self.view.copy_button.setFocus()
