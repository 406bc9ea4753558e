"""The API key and the connection test on the model page of the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
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
from app.desktop.connections.settings_link import ConnectionsLink
from app.desktop.notes.spelling import DictionaryStatus
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.settings.answering_field import AnsweringEditor
from app.desktop.settings.dialog import Extra, OwnEditor, SettingsDialog
from app.desktop.settings.external.page import ExternalServersPage
from app.desktop.settings.font_field import font_editor
from app.desktop.settings.messages_page import MessagesPage
from app.desktop.settings.plugins import PluginList
from app.desktop.settings.programs_page import ProgramsPage
from app.desktop.settings.sentence_model_editor import SentenceModelEditor
from app.desktop.settings.tool_categories import DEFAULT_ON, ToolCategoryList
from app.desktop.settings.updates import UpdatesRow
from app.desktop.settings.web_page import WebSearchPage
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.model_form import ModelRows
from app.desktop.widgets.panel import ThemedButton
from app.settings import AgentProgram, AnswerByModel, ModelSettings, Settings

if TYPE_CHECKING:
    from app.workspace import VaultService


class ModelPage(QFrame):
    """The API key of the chosen provider, and a button that tests its model.

    The key is saved in the system's credential store and never shown again. `set_model` is called with the
    name of a model on the server that the user picks, `use_model` when the model shall answer.
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
        self._status = QLabel()
        self._status.setProperty("tone", "muted")
        self._status.setWordWrap(True)
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
        eye = ThemedButton(theme, "eye", self.tr("Show the key"), self)
        eye.setCheckable(True)
        modes = QLineEdit.EchoMode
        eye.toggled.connect(lambda on: self.key.setEchoMode(modes.Normal if on else modes.Password))
        self._save = QPushButton(self.tr("Save"))
        self._save.clicked.connect(self.save_key)
        self._forget = QPushButton(self.tr("Remove"))
        self._forget.setProperty("role", "quiet")
        self._forget.clicked.connect(self.forget_key)
        self.key_state = _create_label()
        title = QLabel(self.tr("API key"))
        title.setProperty("textSize", "strong")
        title.setBuddy(self.key)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.key, 1)
        for button in (eye, self._save, self._forget):
            row.addWidget(button)
        return _stacked(title, row, self.key_state)

    def _build_test(self) -> QWidget:
        self.test = QPushButton(self.tr("Test model"))
        self.test.clicked.connect(self.check)
        self.result = _create_label()
        self.models = QComboBox()
        self.models.setAccessibleName(self.tr("Models on this server"))
        self.models.activated.connect(self._pick)
        self._pick_box = QWidget()
        row = QHBoxLayout(self._pick_box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QLabel(self.tr("Models on this server")))
        row.addWidget(self.models, 1)
        self._pick_box.hide()
        buttons = QHBoxLayout()
        buttons.addWidget(self.test)
        buttons.addStretch(1)
        return _stacked(buttons, self.result, self._pick_box)

    def show_model(self, model: ModelSettings) -> None:
        """Apply the current model settings and clear the result of an earlier test."""
        if model != self._model:
            _show_text(self.result, "")
        self._model = model
        known = next(one for one in PROVIDERS if one.id == model.provider)
        usable = self._client is not None
        self._key_box.setVisible(usable)
        self._test_box.setVisible(usable)
        self._status.setVisible(not usable)
        if self._client is None:
            self._status.setText(self.tr("Open a vault to enter the key and test the model."))
        else:
            optional = self.tr("API key, if the server needs one")
            self.key.setPlaceholderText(self.tr("API key") if known.needs_key else optional)
            tasks.start(self._show_key(), owner=self, what=self.tr("look for the key"))

    def show_answering(self, settings: Settings) -> None:
        """Offer to let the model answer if it is set up and does not."""
        answers = isinstance(settings.agent.answering, AnswerByModel)
        self.use_button.setVisible(not answers and bool(settings.model.model.strip()))

    def save_key(self) -> None:
        """Save the typed key."""
        if key := self.key.text().strip():
            tasks.start(self._store_key(key), owner=self, what=self.tr("save the key"))

    def forget_key(self) -> None:
        """Remove the key."""
        tasks.start(self._store_key(""), owner=self, what=self.tr("remove the key"))

    def check(self) -> None:
        """Test the model with a request."""
        tasks.start(self._check(), owner=self, what=self.tr("test the model"))

    async def _store_key(self, key: str) -> None:
        assert self._client is not None
        model = self._model
        await self._client.run(lambda vault: vault.settings.set_key(model.provider, model.base_url, key))
        self.key.clear()
        await self._show_key()

    async def _show_key(self) -> None:
        assert self._client is not None
        has, persistent = await self._client.run(partial(_key_state, model=self._model))
        self._forget.setVisible(has)
        self._save.setText(self.tr("Replace") if has else self.tr("Save"))
        if has and persistent:
            text = self.tr("Saved in the system's key store.")
        elif has:
            text = self.tr("Saved until you quit the app.")
        elif persistent:
            text = self.tr("It is saved in the system's key store, never in settings or logs.")
        else:
            text = self.tr("This system has no key store: the key is kept in memory until you quit the app.")
        _show_text(self.key_state, text, "muted" if persistent else "warning")

    async def _check(self) -> None:
        assert self._client is not None
        self.test.setEnabled(False)
        _show_text(self.result, self.tr("Testing…"))
        try:
            if key := self.key.text().strip():
                await self._store_key(key)
            self._show_check(await self._client.run(lambda vault: vault.settings.check_model()))
        except BaseException:
            _show_text(self.result, self.tr("Could not run the test."), "danger")
            raise
        finally:
            self.test.setEnabled(True)

    def _show_check(self, check: ModelCheck) -> None:
        _show_text(self.result, f"{check.text} {check.hint}".strip(), "success" if check.ok else "danger")
        self.models.clear()
        self.models.addItems(check.models)
        self.models.setCurrentIndex(self.models.findText(self._model.model))
        self._pick_box.setVisible(bool(check.models))

    def _pick(self, row: int) -> None:
        self._set_model(self.models.itemText(row))


def settings_with_model(
    settings: Settings, theme: ThemeSource, client: VaultClient | None, parent: QWidget
) -> SettingsDialog:
    """Return the settings dialog with its extra widgets: keys, switches, secrets."""
    model_pages: list[ModelPage] = []

    def set_model(name: str) -> None:
        chosen = dialog.editor_of("model", "model")
        if isinstance(chosen.control, QLineEdit):
            chosen.control.setText(name)
            chosen.emit_value()

    def extra(block: QWidget) -> QWidget:
        use = partial(dialog.set_value, "agent", "answering", AnswerByModel())
        model_pages.append(ModelPage(client, theme, dialog.settings.model, set_model, block, use_model=use))
        model_pages[0].show_answering(dialog.settings)
        return model_pages[0]

    answering: list[AnsweringEditor] = []

    def answering_editor(value: object) -> AnsweringEditor:
        del value
        answering.append(AnsweringEditor(dialog.settings))
        return answering[0]

    secrets: list[MessagesPage] = []

    def messages(block: QWidget) -> QWidget:
        secrets.append(MessagesPage(client, dialog.settings.messages, block))
        return secrets[0]

    web_keys: list[WebSearchPage] = []

    def web(block: QWidget) -> QWidget:
        web_keys.append(WebSearchPage(client, dialog.settings.web, block))
        return web_keys[0]

    def switch_plugin(name: str, on: bool) -> None:
        others = [one for one in dialog.settings.tools.plugins_on if one != name]
        line = dialog.editor_of("tools", "plugins_on")
        if isinstance(line.control, QLineEdit):
            line.control.setText(", ".join([*others, name] if on else others))
            line.emit_value()

    def switch(id: str, on: bool) -> None:
        others = {one: value for one, value in dialog.settings.permissions.categories.items() if one != id}
        is_default = on and id in DEFAULT_ON
        dialog.set_value("permissions", "categories", others if is_default else {**others, id: on})

    def categories(block: QWidget) -> QWidget:
        switches = ToolCategoryList(client, dialog.settings, block)
        switches.toggled.connect(switch)
        switches_made.append(switches)
        plugins = PluginList(dialog.settings, block)
        plugins.toggled.connect(switch_plugin)
        plugins_made.append(plugins)
        return _stacked(switches, plugins, spacing=20)

    def connections(block: QWidget) -> QWidget:
        return ConnectionsLink(client is not None, lambda: dialog.close_and_run("show-connections"), block)

    programs_made: list[ProgramsPage] = []

    def programs(block: QWidget) -> QWidget:
        programs_made.append(ProgramsPage(dialog.settings.programs, block))
        programs_made[0].added.connect(add_program)
        return programs_made[0]

    def add_program(program: AgentProgram) -> None:
        rows = dialog.editor_of("programs", "programs").control
        if isinstance(rows, ModelRows):
            rows.append(program)

    def updates(block: QWidget) -> QWidget:
        made_updates.append(UpdatesRow(dialog.settings.updates, block))
        made_updates[0].check_requested.connect(lambda: dialog.close_and_run("check-updates"))
        return made_updates[0]

    made_updates: list[UpdatesRow] = []
    switches_made: list[ToolCategoryList] = []
    plugins_made: list[PluginList] = []
    extras: dict[str, Extra] = {
        "model": extra,
        "tools": categories,
        "messages": messages,
        "web": web,
        "servers": connections,
        "programs": programs,
        "updates": updates,
        "editor": DictionaryStatus,
    }
    own: dict[tuple[str, str], OwnEditor] = {
        ("external", "servers"): lambda value: ExternalServersPage(
            client, theme, dialog.settings.external.servers
        ),
        ("agent", "answering"): answering_editor,
        ("embeddings", "model"): lambda value: SentenceModelEditor(client, str(value), theme.zoom),
        ("editor", "font"): lambda value: font_editor(
            value, usual=translate("SettingsDialog", "As the interface")
        ),
        ("editor", "code_font"): lambda value: font_editor(
            value, usual=translate("SettingsDialog", "System default"), fixed_pitch=True
        ),
    }
    dialog = SettingsDialog(settings, theme, extras, parent, own=own)

    def show(changed: Settings) -> None:
        """Update the existing widgets; a section that is built later starts with the settings of then."""
        for model in model_pages:
            model.show_model(changed.model)
            model.show_answering(changed)
        for editor in answering:
            editor.show_settings(changed)
        for message in secrets:
            message.show_settings(changed.messages)
        for keys in web_keys:
            keys.show_settings(changed.web)
        for switches in switches_made:
            switches.show_settings(changed)
        for plugins in plugins_made:
            plugins.show_settings(changed)
        for update in made_updates:
            update.show_settings(changed.updates)
        for found in programs_made:
            found.show_settings(changed.programs)

    dialog.changed.connect(show)
    return dialog


def _key_state(vault: VaultService, model: ModelSettings) -> tuple[bool, bool]:
    has_key = vault.settings.key(model.provider, model.base_url) is not None
    return has_key, vault.settings.keeps_keys


def _create_label() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.hide()
    return label


def _show_text(label: QLabel, text: str, tone: str = "muted") -> None:
    label.setProperty("tone", tone)
    label.style().polish(label)
    label.setText(text)
    label.setVisible(bool(text))


def _stacked(*parts: QWidget | QHBoxLayout, spacing: int = 4) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(spacing)
    widget.setAccessibleDescription(
        " ".join(part.accessibleDescription() for part in parts if isinstance(part, QWidget))
    )
    for part in parts:
        column.addWidget(part) if isinstance(part, QWidget) else column.addLayout(part)
    return widget
