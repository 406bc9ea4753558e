"""The secrets of the message channels in the settings; they are saved and never shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.errors import InvalidParametersError
from app.messages.bluesky import BlueskyAccount
from app.messages.channel_registry import BLUESKY, DISCORD, WEBHOOK, webhook_account
from app.messages.discord import DiscordWebhook
from app.settings import MessageSettings

if TYPE_CHECKING:
    from app.workspace import VaultService


class SecretRow(QWidget):
    """One secret: a field, buttons to save and remove it, and its state."""

    def __init__(self, title: str, hint: str, client: VaultClient | None, service: str) -> None:
        super().__init__()
        self._client = client
        self._service = service
        self._settings = MessageSettings()
        self._account = ""
        name = QLabel(title)
        name.setProperty("textSize", "strong")
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(title)
        self.field.setToolTip(self.tr("Saved in the system's key store and not shown again."))
        self.field.returnPressed.connect(self.save)
        name.setBuddy(self.field)
        self.save_button = QPushButton(self.tr("Save"))
        self.save_button.setToolTip(self.tr("Save in the system's key store"))
        self.save_button.clicked.connect(self.save)
        self.remove_button = QPushButton(self.tr("Remove"))
        self.remove_button.setProperty("role", "quiet")
        self.remove_button.setToolTip(self.tr("Remove from the system's key store"))
        self.remove_button.clicked.connect(self.remove)
        self.status = wrapped_label()
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.save_button)
        row.addWidget(self.remove_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(name)
        column.addLayout(row)
        column.addWidget(self.status)

    def show_for(self, settings: MessageSettings, account: str) -> None:
        """Show the state of this account's secret; without an account, disable the row."""
        self._settings, self._account = settings, account
        is_usable = self._client is not None and bool(account)
        self.field.setEnabled(is_usable)
        self.save_button.setEnabled(is_usable)
        self.remove_button.hide()
        if self._client is None:
            show_text(self.status, self.tr("Open a vault first."), "muted")
        elif not account:
            show_text(self.status, self._missing_account_label(), "muted")
        else:
            tasks.start(self._load_state(), owner=self, action=self.tr("read the secret"))

    def save(self) -> None:
        """Save the typed secret if it is well-formed, else show the problem."""
        secret = self.field.text().strip()
        if not secret:
            return
        try:
            self._check(secret)
        except InvalidParametersError as error:
            show_text(self.status, error.message, "danger")
            return
        tasks.start(self._store_secret(secret), owner=self, action=self.tr("save the secret"))

    def remove(self) -> None:
        """Remove the secret."""
        tasks.start(self._store_secret(""), owner=self, action=self.tr("remove the secret"))

    def _missing_account_label(self) -> str:
        """Return the message that asks the user to enter the account first."""
        return self.tr("Enter the handle first.")

    def _check(self, secret: str) -> None:
        if self._service == DISCORD:
            DiscordWebhook(secret)
        else:
            BlueskyAccount(self._account, secret, self._settings.bluesky_service)

    async def _store_secret(self, secret: str) -> None:
        assert self._client is not None
        service, account = self._service, self._account
        is_stored = await self._client.run(lambda vault: vault.settings.set_key(service, account, secret))
        self.field.clear()
        await self._load_state()
        if not secret and not is_stored:
            show_text(self.status, self.tr("The secret could not be removed. Try again."), "danger")

    async def _load_state(self) -> None:
        assert self._client is not None
        service, account = self._service, self._account

        def load(vault: VaultService) -> tuple[bool, bool]:
            return vault.settings.key(service, account) is not None, vault.settings.keeps_keys

        has_secret, is_persistent = await self._client.run(load)
        self.remove_button.setVisible(has_secret)
        if has_secret and is_persistent:
            show_text(self.status, self.tr("Saved in the system's key store."), "muted")
        elif has_secret:
            show_text(self.status, self.tr("Kept in memory until you quit the app."), "warning")
        elif is_persistent:
            text = self.tr("Not set. It will be saved in the system's key store, never in settings or logs.")
            show_text(self.status, text, "muted")
        else:
            text = self.tr(
                "This system has no key store: the secret is kept in memory until you quit the app."
            )
            show_text(self.status, text, "warning")


class MessagesPage(QFrame):
    """The Discord and Bluesky secrets."""

    def __init__(
        self, client: VaultClient | None, settings: MessageSettings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        example = "https://discord.com/api/webhooks/…"
        self.webhook = SecretRow(self.tr("Discord webhook"), example, client, DISCORD)
        self.password = SecretRow(self.tr("Bluesky app password"), "xxxx-xxxx-xxxx-xxxx", client, BLUESKY)
        self._client = client
        self.extra_rows: dict[tuple[str, str], SecretRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 14, 16, 14)
        self._column.setSpacing(12)
        self._column.addWidget(self.webhook)
        self._column.addWidget(self.password)
        self.show_settings(settings)

    def show_settings(self, settings: MessageSettings) -> None:
        """Apply the current settings."""
        self.webhook.show_for(settings, WEBHOOK)
        self.password.show_for(settings, settings.bluesky_handle)
        # Keep existing rows: the user may be typing a secret in one.
        existing, self.extra_rows = self.extra_rows, {}
        for name in settings.discord_channels:
            title = self.tr("Discord webhook for {0}").format(name)
            self._show_row(existing, DISCORD, webhook_account(name), title, settings)
        for handle in settings.bluesky_handles:
            title = self.tr("Bluesky app password for {0}").format(handle)
            self._show_row(existing, BLUESKY, handle, title, settings)
        for row in existing.values():
            row.hide()
            row.deleteLater()

    def _show_row(
        self,
        existing: dict[tuple[str, str], SecretRow],
        service: str,
        account: str,
        title: str,
        settings: MessageSettings,
    ) -> None:
        """Show the row of an account, which is removed from `existing`, or a new one."""
        key = (service, account)
        row = existing.pop(key) if key in existing else self.extra_rows.get(key)
        if row is None:
            hint = (self.webhook if service == DISCORD else self.password).field.placeholderText()
            row = SecretRow(title, hint, self._client, service)
        self.extra_rows[key] = row
        self._column.addWidget(row)
        row.show_for(settings, account)
