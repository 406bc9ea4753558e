"""Propose the multilingual model for a vault with enough notes in languages other than English."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.desktop.shell.window_state import WindowState
from app.embeddings import multilingual
from app.embeddings.languages import LanguagesMeasured, VaultLanguages
from app.embeddings.model_config import MULTILINGUAL, SHIPPED_MODEL
from app.events import Event
from app.settings import Settings
from app.workspace import SettingsChanged

_BANNER_KEY = "multilingual"
_DECLINED = "multilingual declined"
_MAX_NAMED_LANGUAGES = 3


class LanguageProposal(QObject):
    """Shows the proposal as a banner when the vault's languages call for it, unless the user has declined.

    `settings_change_requested` carries a function from the current settings to the changed ones.
    """

    settings_change_requested = Signal(object)

    def __init__(
        self, client: VaultClient, banners: Banners, vault_state: WindowState, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._banners = banners
        self._vault_state = vault_state
        self._window = parent
        client.events.batch.connect(self._handle_events)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, LanguagesMeasured) and event.languages.need_multilingual:
                if not self._vault_state.text(_DECLINED):
                    work = self._show(event.languages)
                    tasks.start(work, owner=self._window, action=self.tr("look for the multilingual model"))
            elif isinstance(event, SettingsChanged) and event.settings.embeddings.model != SHIPPED_MODEL:
                self._banners.clear(_BANNER_KEY)

    async def _show(self, languages: VaultLanguages) -> None:
        state = await asyncio.to_thread(multilingual.state)
        text = self.tr(
            "About {0}% of the notes in this vault are not in English ({1}). The multilingual model finds "
            "notes by meaning in about 100 languages."
        ).format(round(100 * languages.non_english_share), language_names(languages))
        decline = (self.tr("Don't ask again"), self._decline)
        if state == "missing":
            text += f" {multilingual.installation_instructions()}"
            self._banners.show_message(_BANNER_KEY, text, "info", decline)
        else:
            self._banners.show_message(
                _BANNER_KEY, text, "info", (self.tr("Switch model"), self._switch), decline
            )

    def _switch(self) -> None:
        self._banners.clear(_BANNER_KEY)
        self.settings_change_requested.emit(_with_multilingual)

    def _decline(self) -> None:
        self._vault_state.save(**{_DECLINED: "yes"})
        self._banners.clear(_BANNER_KEY)


def language_names(languages: VaultLanguages) -> str:
    """Return the names of up to three languages other than English, most frequent first."""
    codes = [code for code, _ in languages.shares if code != "en"]
    return ", ".join(language_name(code) for code in codes[:_MAX_NAMED_LANGUAGES])


def language_name(code: str) -> str:
    """Return the English name of a language by its ISO 639 code; the code if Qt has no name for it."""
    language = QLocale.codeToLanguage(code)
    return code if language is QLocale.Language.AnyLanguage else QLocale.languageToString(language)


def _with_multilingual(settings: Settings) -> Settings:
    embeddings = settings.embeddings.model_copy(update={"model": MULTILINGUAL})
    return settings.model_copy(update={"embeddings": embeddings})
