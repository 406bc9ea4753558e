"""The API key and the connection test on the model page of the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.agent.models import PROVIDERS, ModelCheck
from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ThemedButton
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.settings import AnswerByModel, ModelSettings, Settings

if TYPE_CHECKING:
    from app.workspace import VaultService


class ModelPage(QFrame):
    """The API key of the chosen provider, and a button that tests its model.

    The key is saved in the system's key store and never shown again. `set_model` is called with the name of a
    model that the user picks from the server's list, `use_model` when the user lets the model answer.
    """

    def __init__(
        self,
        client: VaultClient | None,
        theme: ThemeSource,
        model: ModelSettings,
        set_model: Callable[[str], None],
        parent: QWidget | None = None,
        *,
        use_model: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._client = client
        self._model = model
        self._set_model = set_model
        self._key_box = self._build_key(theme)
        self._test_box = self._build_test()
        self._status = wrapped_label(tone="muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(12)
        self.use_button = QPushButton(self.tr("Let this model answer"))
        self.use_button.setToolTip(self.tr("Use this model instead of the current agent in the agent panel"))
        self.use_button.clicked.connect(lambda: use_model() if use_model is not None else None)
        self.use_button.hide()
        for widget in (self._status, self._key_box, self._test_box, self.use_button):
            column.addWidget(widget)
        self.show_model(model)

    def _build_key(self, theme: ThemeSource) -> QWidget:
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setAccessibleName(self.tr("API key"))
        self.key.returnPressed.connect(self.save_key)
        show_button = ThemedButton(theme, "eye", self.tr("Show the key"), self)
        show_button.setCheckable(True)
        echo_modes = QLineEdit.EchoMode
        show_button.toggled.connect(
            lambda on: self.key.setEchoMode(echo_modes.Normal if on else echo_modes.Password)
        )
        self._save_button = QPushButton(self.tr("Save"))
        self._save_button.clicked.connect(self.save_key)
        self._remove_button = QPushButton(self.tr("Remove"))
        self._remove_button.setProperty("role", "quiet")
        self._remove_button.clicked.connect(self.remove_key)
        self.key_state = wrapped_label()
        self.key_state.hide()
        title = QLabel(self.tr("API key"))
        title.setProperty("textSize", "strong")
        title.setBuddy(self.key)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.key, 1)
        for button in (show_button, self._save_button, self._remove_button):
            row.addWidget(button)
        return _create_column(title, row, self.key_state)

    def _build_test(self) -> QWidget:
        self.test_button = QPushButton(self.tr("Test model"))
        self.test_button.clicked.connect(self.check)
        self.result = wrapped_label()
        self.result.hide()
        self.models = QComboBox()
        self.models.setAccessibleName(self.tr("Models on this server"))
        self.models.activated.connect(self._pick_model)
        self._models_box = QWidget()
        row = QHBoxLayout(self._models_box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QLabel(self.tr("Models on this server")))
        row.addWidget(self.models, 1)
        self._models_box.hide()
        buttons = QHBoxLayout()
        buttons.addWidget(self.test_button)
        buttons.addStretch(1)
        return _create_column(buttons, self.result, self._models_box)

    def show_model(self, model: ModelSettings) -> None:
        """Apply the current model settings; if they changed, clear the result of the last test."""
        if model != self._model:
            show_text(self.result, "")
        self._model = model
        provider = next(provider for provider in PROVIDERS if provider.id == model.provider)
        is_usable = self._client is not None
        self._key_box.setVisible(is_usable)
        self._test_box.setVisible(is_usable)
        self._status.setVisible(not is_usable)
        if self._client is None:
            self._status.setText(self.tr("Open a vault to enter the key and test the model."))
        else:
            optional_label = self.tr("API key, if the server needs one")
            self.key.setPlaceholderText(self.tr("API key") if provider.needs_key else optional_label)
            tasks.start(self._show_key(), owner=self, action=self.tr("read the key"))

    def show_answering(self, settings: Settings) -> None:
        """Offer to let the model answer if one is chosen and another agent answers."""
        is_answering = isinstance(settings.agent.answering, AnswerByModel)
        self.use_button.setVisible(not is_answering and bool(settings.model.model.strip()))

    def save_key(self) -> None:
        """Save the typed key, if any."""
        if key := self.key.text().strip():
            tasks.start(self._store_key(key), owner=self, action=self.tr("save the key"))

    def remove_key(self) -> None:
        """Remove the key."""
        tasks.start(self._store_key(""), owner=self, action=self.tr("remove the key"))

    def check(self) -> None:
        """Save a typed key, then test the model with a request."""
        tasks.start(self._check(), owner=self, action=self.tr("test the model"))

    async def _store_key(self, key: str) -> None:
        assert self._client is not None
        model = self._model
        is_stored = await self._client.run(
            lambda vault: vault.settings.set_key(model.provider, model.base_url, key)
        )
        self.key.clear()
        await self._show_key()
        if not key and not is_stored:
            show_text(self.key_state, self.tr("The key could not be removed. Try again."), "danger")

    async def _show_key(self) -> None:
        assert self._client is not None
        has_key, is_persistent = await self._client.run(partial(_key_state, model=self._model))
        self._remove_button.setVisible(has_key)
        self._save_button.setText(self.tr("Replace") if has_key else self.tr("Save"))
        if has_key and is_persistent:
            text = self.tr("Saved in the system's key store.")
        elif has_key:
            text = self.tr("Kept in memory until you quit the app.")
        elif is_persistent:
            text = self.tr("The key is saved in the system's key store, never in settings or logs.")
        else:
            text = self.tr("This system has no key store: the key is kept in memory until you quit the app.")
        show_text(self.key_state, text, "muted" if is_persistent else "warning")

    async def _check(self) -> None:
        assert self._client is not None
        self.test_button.setEnabled(False)
        show_text(self.result, self.tr("Testing…"))
        try:
            if key := self.key.text().strip():
                await self._store_key(key)
            self._show_check(await self._client.run(lambda vault: vault.settings.check_model()))
        except BaseException:
            show_text(self.result, self.tr("Could not run the test."), "danger")
            raise
        finally:
            self.test_button.setEnabled(True)

    def _show_check(self, check: ModelCheck) -> None:
        show_text(self.result, f"{check.text} {check.hint}".strip(), "success" if check.ok else "danger")
        self.models.clear()
        self.models.addItems(check.models)
        self.models.setCurrentIndex(self.models.findText(self._model.model))
        self._models_box.setVisible(bool(check.models))

    def _pick_model(self, row: int) -> None:
        self._set_model(self.models.itemText(row))


def _key_state(vault: VaultService, model: ModelSettings) -> tuple[bool, bool]:
    has_key = vault.settings.key(model.provider, model.base_url) is not None
    return has_key, vault.settings.keeps_keys


def _create_column(*parts: QWidget | QHBoxLayout) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    for part in parts:
        column.addWidget(part) if isinstance(part, QWidget) else column.addLayout(part)
    return widget
