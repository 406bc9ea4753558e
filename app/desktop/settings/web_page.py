"""The API key of the search provider on the web page of the settings."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.settings.messages_page import SecretRow
from app.desktop.widgets.plain_labels import wrapped_label
from app.settings import MessageSettings, WebSettings
from app.web.access import key_account
from app.web.providers import PROVIDERS


class _KeyRow(SecretRow):
    """The key of a provider; an invalid key is reported by the first search."""

    def show_provider(self, settings: WebSettings) -> None:
        """Show the state of the provider's key."""
        self._service, account = key_account(settings.provider, settings.address)
        self.show_for(MessageSettings(), account)

    def _missing_account_label(self) -> str:
        return self.tr("Enter the address of your server first.")

    def _check(self, secret: str) -> None:
        """Accept any key: keys have no common format."""


class WebSearchPage(QFrame):
    """The key of the chosen provider, if it needs one."""

    def __init__(
        self, client: VaultClient | None, settings: WebSettings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.status = wrapped_label(tone="muted")
        self.row = _KeyRow(self.tr("Key"), self.tr("API key of the search provider"), client, "")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(12)
        column.addWidget(self.status)
        column.addWidget(self.row)
        self.show_settings(settings)

    def show_settings(self, settings: WebSettings) -> None:
        """Apply the current settings."""
        provider = PROVIDERS.get(settings.provider)
        can_have_key = provider is not None and (provider.needs_key or not provider.address)
        self.row.setVisible(can_have_key)
        if provider is None:
            self.status.setText(
                self.tr("Choose a provider to search the web. Fetching pages doesn't require one.")
            )
        elif provider.needs_key:
            self.status.setText(self.tr("Get a key for {0} on its website.").format(provider.name))
        elif can_have_key:
            self.status.setText(self.tr("Needed only if your server requires a login."))
        else:
            self.status.setText(self.tr("{0} needs no key.").format(provider.name))
        if can_have_key:
            self.row.show_provider(settings)
