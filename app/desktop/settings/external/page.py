"""External servers in the settings: the list of servers, and permissions for their tools."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPushButton, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.settings.external.server_card import ServerCard
from app.desktop.settings.external.server_form import ServerDialog
from app.desktop.settings.external.tool_review import ALLOW_RESULT, REVOKE_RESULT, ToolReviewDialog
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.model_form import Editor
from app.desktop.widgets.plain_labels import wrapped_label
from app.errors import StorageError
from app.events import Event
from app.external.http_transport import token_account
from app.external.states import ExternalChanged, ServerState, ToolState
from app.settings import ExternalServer

if TYPE_CHECKING:
    from app.workspace import VaultService


class ExternalServersPage(Editor):
    """Edits the list of servers, which is saved as a setting; tool permissions take effect immediately."""

    def __init__(
        self,
        client: VaultClient | None,
        theme: ThemeSource,
        servers: Sequence[ExternalServer],
    ) -> None:
        page = QWidget()
        super().__init__(page, lambda: self.servers)
        self._client = client
        self._theme = theme
        self.servers: tuple[ExternalServer, ...] = tuple(servers)
        self.cards: dict[str, ServerCard] = {}
        self._states: dict[str, ServerState] = {}
        self._is_loading = self._needs_reload = False
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.empty = wrapped_label(
            self.tr(
                "No external servers. Servers that support the Model Context Protocol offer tools: "
                "each tool is off until you allow it, and each call needs your approval."
            ),
            "faint",
        )
        self.add_button = QPushButton(self.tr("Add server…"))
        self.add_button.setAutoDefault(False)
        self.add_button.setToolTip(self.tr("A local program or a web address"))
        self.add_button.clicked.connect(self._start_adding)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        column.addWidget(self.empty)
        column.addLayout(self._column)
        column.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._show_servers()
        if client is not None:
            client.events.batch.connect(self._handle_events)
            self._refresh_states()

    def _handle_events(self, batch: Sequence[Event]) -> None:
        if any(isinstance(event, ExternalChanged) for event in batch):
            self._refresh_states()

    def _refresh_states(self) -> None:
        """Load the states of the servers; a request in the meantime causes another load."""
        self._needs_reload = True
        if not self._is_loading and self._client is not None:
            tasks.start(self._load_states(self._client), owner=self, action=self.tr("load the servers"))

    async def _load_states(self, client: VaultClient) -> None:
        self._is_loading = True
        try:
            while self._needs_reload:
                self._needs_reload = False
                states = await client.run(lambda vault: vault.external.states())
                self._states = {state.name: state for state in states}
                for name, card in self.cards.items():
                    card.show_state(self._states.get(name))
        finally:
            self._is_loading = False

    def _show_servers(self) -> None:
        existing = {card.server: card for card in self.cards.values()}
        self.cards = {}
        for index, server in enumerate(self.servers):
            card = existing.pop(server, None) or self._create_card(server)
            self.cards[server.name] = card
            self._column.insertWidget(index, card)
            card.show_state(self._states.get(server.name))
        for card in existing.values():
            card.hide()
            card.deleteLater()
        self.empty.setVisible(not self.servers)

    def _create_card(self, server: ExternalServer) -> ServerCard:
        card = ServerCard(server, self._theme)
        card.switched.connect(partial(self._switch, server.name))
        card.edited.connect(lambda: self._start(self._edit, card.server))
        card.removed.connect(lambda: self._start(self._remove, card.server))
        card.retried.connect(partial(self._run, lambda vault: vault.external.retry(server.name)))
        card.allowed.connect(partial(self._allow, server.name))
        card.revoked.connect(partial(self._revoke, server.name))
        card.reviewed.connect(lambda tool: self._start(partial(self._review, tool=tool), server))
        return card

    def _start(
        self, work: Callable[[ExternalServer], Coroutine[object, object, None]], server: ExternalServer
    ) -> None:
        tasks.start(work(server), owner=self, action=self.tr("change the servers"))

    def _run(self, work: Callable[[VaultService], object]) -> None:
        if self._client is not None:
            tasks.start(self._client.run(work), owner=self, action=self.tr("change the servers"))

    def _set_servers(self, servers: Sequence[ExternalServer]) -> None:
        self.servers = tuple(servers)
        self._show_servers()
        self.emit_value()

    def _start_adding(self) -> None:
        tasks.start(self._add(), owner=self, action=self.tr("add a server"))

    async def _add(self) -> None:
        server, _ = await self._run_form(None)
        if server is not None:
            self._set_servers((*self.servers, server))

    async def _edit(self, initial: ExternalServer) -> None:
        server, has_new_token = await self._run_form(initial)
        if server is None:
            return
        if server == initial:
            if has_new_token and server.on:
                self._run(lambda vault: vault.external.retry(initial.name))
            return
        account = token_account(initial.name, initial.address)
        new_account = token_account(server.name, server.address)
        is_same_origin = account[1] == new_account[1] != ""
        if self._client is not None and account != new_account and is_same_origin and not has_new_token:
            # The server starts under its new name, so its token must already be stored under that name.
            await self._client.run(partial(_copy_token, account, new_account))
        self._set_servers([server if other.name == initial.name else other for other in self.servers])
        if account != new_account:
            self._forget(initial)

    async def _run_form(self, initial: ExternalServer | None) -> tuple[ExternalServer | None, bool]:
        """Ask for a server; return it (None if canceled) and whether it has a new token."""
        names = [other.name for other in self.servers if initial is None or other.name != initial.name]
        form = ServerDialog(self._client, initial, names, self)
        accepted = await dialogs.run_dialog(form) == int(QDialog.DialogCode.Accepted)
        return (form.server, form.has_new_token) if accepted else (None, False)

    async def _remove(self, server: ExternalServer) -> None:
        confirmed = await dialogs.confirm(
            self,
            self.tr("Remove {0}?").format(server.name),
            self.tr("The server will be stopped, and its token and permissions will be deleted."),
            self.tr("Remove"),
            is_destructive=True,
        )
        if not confirmed:
            return
        self._set_servers([other for other in self.servers if other.name != server.name])
        self._forget(server)

    def _forget(self, server: ExternalServer) -> None:
        """Delete the token and permissions of a server that was removed or whose name or address changed."""
        account = token_account(server.name, server.address)

        def forget(vault: VaultService) -> None:
            vault.external.remove_server(server.name)
            if account[1] and not vault.settings.set_key(*account, ""):
                raise StorageError(
                    translate(
                        "ExternalServersPage",
                        "The server's token could not be deleted. Delete it in the system's key store.",
                    )
                )

        self._run(forget)

    def _switch(self, name: str, on: bool) -> None:
        # Keep the card: only its switch has changed, and it has the focus.
        card = self.cards[name]
        card.server = card.server.model_copy(update={"on": on})
        self.servers = tuple(card.server if server.name == name else server for server in self.servers)
        self.emit_value()

    def _allow(self, server: str, tool: ToolState) -> None:
        self._run(lambda vault: vault.external.allow(server, tool.name, tool.digest))

    def _revoke(self, server: str, tool: ToolState) -> None:
        self._run(lambda vault: vault.external.revoke(server, tool.name))

    async def _review(self, server: ExternalServer, tool: ToolState) -> None:
        answer = await dialogs.run_dialog(ToolReviewDialog(server.name, tool, self._theme, self))
        if answer == ALLOW_RESULT:
            self._allow(server.name, tool)
        elif answer == REVOKE_RESULT:
            self._revoke(server.name, tool)


def _copy_token(account: tuple[str, str], new_account: tuple[str, str], vault: VaultService) -> None:
    token = vault.settings.key(*account)
    if token is None:
        return
    vault.settings.set_key(*new_account, token)
    if vault.settings.key(*new_account) != token:
        raise StorageError(
            translate(
                "ExternalServersPage",
                "The server's token could not be stored under the new name, so the server was not changed. "
                "Enter the token in the server's settings, and save again.",
            )
        )
