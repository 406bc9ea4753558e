"""The form for an external server: its command or address, its token, and a connection test."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import ValidationError
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.settings.external.labels import (
    command_line,
    parse_arguments,
    reason_label,
    state_label,
    tools_label,
)
from app.desktop.widgets import dialogs
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.desktop.widgets.validation_text import problem_text
from app.errors import InvalidParametersError
from app.external.connection import ConnectionState
from app.external.http_transport import origin_at, token_account
from app.external.names import server_slug
from app.external.states import ServerState
from app.settings import ExternalServer

_ACCEPTED = int(QDialog.DialogCode.Accepted)
_MAX_ERROR_LINES = 6
_MIN_WIDTH = 520
_MAX_NAME_CHARS = 40


class ServerDialog(dialogs.SheetDialog):
    """Asks for a server; `server` holds it once the form is accepted.

    Args:
        client: Tests the server and stores its token; None without an open vault.
        server: The initial values; None for a new server.
        other_names: The names of the other servers.
    """

    def __init__(
        self,
        client: VaultClient | None,
        server: ExternalServer | None,
        other_names: Collection[str],
        parent: QWidget | None,
    ) -> None:
        title = self.tr("External server") if server is None else server.name
        super().__init__(
            parent,
            title,
            self.tr(
                "A server that supports the Model Context Protocol: a program on this computer or a web "
                "address. A program runs with your permissions, outside the sandbox: add only what you "
                "trust."
            ),
        )
        self.setMinimumWidth(_MIN_WIDTH)
        self._client = client
        self._other_names = {server_slug(name) for name in other_names}
        self._initial = server
        self.server: ExternalServer | None = None
        self._build(server or ExternalServer.model_construct(name="", on=True))
        self._show_kind()

    def _build(self, initial: ExternalServer) -> None:
        body = QWidget()
        self._form = form = QFormLayout(body)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        self.name = self._add_line(self.tr("Name"), initial.name, self.tr("weather"))
        self.name.setMaxLength(_MAX_NAME_CHARS)
        self.name.setToolTip(self.tr("Prefix for the names of its tools"))
        self.kind = QComboBox()
        self.kind.addItem(self.tr("Local program"), "stdio")
        self.kind.addItem(self.tr("Web address"), "http")
        self.kind.setCurrentIndex(self.kind.findData(initial.transport))
        self.kind.setToolTip(self.tr("Start a local program, or connect to a running server"))
        self.kind.currentIndexChanged.connect(lambda _: self._show_kind())
        self._add_row(self.tr("Type"), self.kind)
        self.command = self._add_line(self.tr("Program"), initial.command, "npx")
        self.arguments = self._add_line(
            self.tr("Arguments"), command_line(initial.arguments), self.tr("-y @example/weather-server")
        )
        self.arguments.setToolTip(self.tr("As on a command line; quote arguments that contain spaces"))
        self.variables = self._add_line(self.tr("Variables"), ", ".join(initial.variables), "WEATHER_API_KEY")
        self.variables.setToolTip(
            self.tr("Environment variables to pass on, separated by commas; no others are passed")
        )
        self.address = self._add_line(self.tr("Address"), initial.address, "https://example.org/mcp")
        self.token = self._add_line(self.tr("Token"), "", "")
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setToolTip(self.tr("Stored in the system's key store and sent only to this address"))
        self.seconds = QSpinBox()
        self.seconds.setRange(1, 3600)
        self.seconds.setValue(initial.seconds)
        self.seconds.setSuffix(self.tr(" s"))
        self.seconds.lineEdit().setTextMargins(6, 0, 0, 0)
        self.seconds.setToolTip(self.tr("Maximum duration of a tool call"))
        self._add_row(self.tr("Time limit"), self.seconds)
        self.add_body(body)
        self.message_label = wrapped_label()
        self.message_label.hide()
        self.add_body(self.message_label)
        self.test_button = QPushButton(self.tr("Test connection"))
        self.test_button.setAutoDefault(False)
        self.test_button.setToolTip(self.tr("Connect once and list the tools, without calling any"))
        self.test_button.setEnabled(self._client is not None)
        self.test_button.clicked.connect(self.test)
        self._buttons.addButton(self.test_button, QDialogButtonBox.ButtonRole.ResetRole)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.save_button = self.add_button(self.tr("Save"), _ACCEPTED, "primary")
        self.save_button.setDefault(True)
        self.name.setFocus()
        if self._client is not None and self._initial is not None:
            tasks.start(self._show_saved_token(self._initial), owner=self, action=self.tr("read the token"))

    def _add_line(self, title: str, text: str, hint: str) -> QLineEdit:
        field = QLineEdit(text)
        field.setPlaceholderText(hint)
        field.setCursorPosition(0)
        self._add_row(title, field)
        return field

    def _add_row(self, title: str, field: QWidget) -> None:
        field.setAccessibleName(title)
        self._form.addRow(title, field)

    @property
    def is_program(self) -> bool:
        """True if the server is a program to start."""
        return bool(self.kind.currentData() == "stdio")

    def _show_kind(self) -> None:
        for field in (self.command, self.arguments, self.variables):
            self._form.setRowVisible(field, self.is_program)
        for field in (self.address, self.token):
            self._form.setRowVisible(field, not self.is_program)

    @property
    def has_new_token(self) -> bool:
        """True if a token was typed; it is saved when the form is accepted."""
        return not self.is_program and bool(self.token.text().strip())

    def done(self, result: int) -> None:
        """Close on cancel; save a typed token and close if the form is valid, else show the problem."""
        if result == _ACCEPTED:
            self.server = self._read()
            if self.server is None:
                return
            if self._client is not None and self.has_new_token:
                token = self.token.text().strip()
                account = token_account(self.server.name, self.server.address)
                tasks.start(
                    self._client.run(lambda vault: vault.settings.set_key(*account, token)),
                    action=self.tr("save the token"),
                )
        super().done(result)

    def _read(self) -> ExternalServer | None:
        """Return the server in the fields; if they are invalid, show the problem and return None."""
        name = self.name.text().strip()
        try:
            arguments = parse_arguments(self.arguments.text())
            self._check(name)
            server = ExternalServer(
                name=name,
                transport=self.kind.currentData(),
                command=self.command.text().strip(),
                arguments=arguments,
                variables=tuple(
                    variable.strip() for variable in self.variables.text().split(",") if variable.strip()
                ),
                address=self.address.text().strip(),
                seconds=self.seconds.value(),
                on=self._initial.on if self._initial is not None else True,
            )
        except InvalidParametersError as error:
            show_text(self.message_label, error.message, "danger")
        except ValidationError as error:
            problems = (problem_text(problem, ExternalServer) for problem in error.errors())
            show_text(self.message_label, " ".join(problems), "danger")
        else:
            return server
        return None

    def _check(self, name: str) -> None:
        """Check the fields that the settings model does not check.

        Raises:
            InvalidParametersError: A field is invalid; the message is for the user.
        """
        if not name:
            raise InvalidParametersError(self.tr("Enter a name."))
        if server_slug(name) in self._other_names:
            text = self.tr("Another server has this name or a very similar one.")
            raise InvalidParametersError(text)
        if not self.is_program:
            origin_at(self.address.text())
        elif not self.command.text().strip():
            raise InvalidParametersError(self.tr("Enter the program to start."))

    def test(self) -> None:
        """Start the server or connect to it once, and show the result."""
        server = self._read()
        if server is not None and self._client is not None:
            tasks.start(self._test(server), owner=self, action=self.tr("test the connection"))

    async def _test(self, server: ExternalServer) -> None:
        assert self._client is not None
        token = self.token.text().strip() or None
        self.test_button.setEnabled(False)
        show_text(self.message_label, self.tr("Starting…") if self.is_program else self.tr("Connecting…"))
        try:
            state = await self._client.run(lambda vault: vault.external.test(server, token))
            self._show_state(state)
        finally:
            self.test_button.setEnabled(True)

    def _show_state(self, state: ServerState) -> None:
        if state.connection_state is ConnectionState.RUNNING:
            labels = [f"{label}." for label in (state_label(state), tools_label(state)) if label]
            show_text(self.message_label, "\n".join([" ".join(labels), *state.problems]), "success")
            return
        message = self.tr("Could not connect. {0}").format(reason_label(state))
        show_text(
            self.message_label,
            "\n".join([message, *state.problems, *state.errors[-_MAX_ERROR_LINES:]]),
            "danger",
        )

    async def _show_saved_token(self, server: ExternalServer) -> None:
        assert self._client is not None
        account = token_account(server.name, server.address)
        token: str | None = await self._client.run(lambda vault: vault.settings.key(*account))
        if account[1] and token is not None:
            self.token.setPlaceholderText(self.tr("Saved; type to replace"))
