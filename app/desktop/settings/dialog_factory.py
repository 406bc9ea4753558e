"""Create the settings dialog with the pages and editors that are not generated from the settings model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.connections.settings_link import ConnectionsLink
from app.desktop.notes.spelling import DictionaryStatus
from app.desktop.runtime.translation import translate
from app.desktop.settings.answering_field import AnsweringEditor
from app.desktop.settings.dialog import EditorFactory, PageFactory, SettingsDialog
from app.desktop.settings.external.page import ExternalServersPage
from app.desktop.settings.font_field import create_font_editor
from app.desktop.settings.messages_page import MessagesPage
from app.desktop.settings.model_page import ModelPage
from app.desktop.settings.plugins import PluginList
from app.desktop.settings.programs_page import ProgramsPage
from app.desktop.settings.sentence_model_editor import SentenceModelEditor
from app.desktop.settings.shortcuts_page import ShortcutsPage
from app.desktop.settings.tool_categories import DEFAULT_ON, ToolCategoryList
from app.desktop.settings.updates import UpdatesRow
from app.desktop.settings.web_page import WebSearchPage
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.model_form import ModelRows
from app.settings import AgentProgram, AnswerByModel, Settings


def create_settings_dialog(
    settings: Settings, theme: ThemeSource, client: VaultClient | None, parent: QWidget | None
) -> SettingsDialog:
    """Create the settings dialog; `client` is None if no vault is open."""
    # A section is built when it is first shown: its widgets start with the settings at that moment and follow
    # later changes.
    followers: list[Callable[[Settings], None]] = []

    def set_model(name: str) -> None:
        editor = dialog.editor_of("model", "model")
        if isinstance(editor.control, QLineEdit):
            editor.control.setText(name)
            editor.emit_value()

    def create_model_page(block: QWidget) -> QWidget:
        use_model = partial(dialog.set_value, "agent", "answering", AnswerByModel())
        page = ModelPage(client, theme, dialog.settings.model, set_model, block, use_model=use_model)
        page.show_answering(dialog.settings)
        followers.append(lambda changed: page.show_model(changed.model))
        followers.append(page.show_answering)
        return page

    def create_messages_page(block: QWidget) -> QWidget:
        page = MessagesPage(client, dialog.settings.messages, block)
        followers.append(lambda changed: page.show_settings(changed.messages))
        return page

    def create_web_page(block: QWidget) -> QWidget:
        page = WebSearchPage(client, dialog.settings.web, block)
        followers.append(lambda changed: page.show_settings(changed.web))
        return page

    def switch_plugin(name: str, enabled: bool) -> None:
        others = [plugin for plugin in dialog.settings.tools.plugins_on if plugin != name]
        editor = dialog.editor_of("tools", "plugins_on")
        if isinstance(editor.control, QLineEdit):
            editor.control.setText(", ".join([*others, name] if enabled else others))
            editor.emit_value()

    def switch_category(category_id: str, enabled: bool) -> None:
        categories = dict(dialog.settings.permissions.categories)
        categories.pop(category_id, None)
        is_default = enabled and category_id in DEFAULT_ON
        dialog.set_value(
            "permissions", "categories", categories if is_default else {**categories, category_id: enabled}
        )

    def create_tools_page(block: QWidget) -> QWidget:
        categories = ToolCategoryList(client, dialog.settings, block)
        categories.toggled.connect(switch_category)
        plugins = PluginList(dialog.settings, block)
        plugins.toggled.connect(switch_plugin)
        followers.extend((categories.show_settings, plugins.show_settings))
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(20)
        column.addWidget(categories)
        column.addWidget(plugins)
        page.setProperty(
            "searchKeywords", f"{categories.property('searchKeywords')} {plugins.accessibleDescription()}"
        )
        return page

    def create_connections_link(block: QWidget) -> QWidget:
        return ConnectionsLink(client is not None, lambda: dialog.close_and_run("show-connections"), block)

    def add_program(program: AgentProgram) -> None:
        rows = dialog.editor_of("programs", "programs").control
        if isinstance(rows, ModelRows):
            rows.append(program)

    def create_programs_page(block: QWidget) -> QWidget:
        page = ProgramsPage(dialog.settings.programs, block)
        page.added.connect(add_program)
        followers.append(lambda changed: page.show_settings(changed.programs))
        return page

    def create_shortcuts_page(block: QWidget) -> QWidget:
        page = ShortcutsPage(theme, dialog.settings.shortcuts, block)
        page.changed.connect(lambda custom: dialog.set_value("shortcuts", "custom", custom))
        followers.append(lambda changed: page.show_settings(changed.shortcuts))
        return page

    def create_updates_row(block: QWidget) -> QWidget:
        row = UpdatesRow(dialog.settings.updates, block)
        row.check_requested.connect(lambda: dialog.close_and_run("check-updates"))
        followers.append(lambda changed: row.show_settings(changed.updates))
        return row

    def create_answering_editor(_value: object) -> AnsweringEditor:
        editor = AnsweringEditor(dialog.settings)
        followers.append(editor.show_settings)
        return editor

    def show_changes(changed: Settings) -> None:
        for follower in followers:
            follower(changed)

    pages: dict[str, PageFactory] = {
        "model": create_model_page,
        "tools": create_tools_page,
        "messages": create_messages_page,
        "web": create_web_page,
        "servers": create_connections_link,
        "programs": create_programs_page,
        "updates": create_updates_row,
        "editor": DictionaryStatus,
        "shortcuts": create_shortcuts_page,
    }
    editors: dict[tuple[str, str], EditorFactory] = {
        ("external", "servers"): lambda _value: ExternalServersPage(
            client, theme, dialog.settings.external.servers
        ),
        ("agent", "answering"): create_answering_editor,
        ("embeddings", "model"): lambda value: SentenceModelEditor(client, str(value), theme.zoom),
        ("editor", "font"): lambda value: create_font_editor(
            value, default_label=translate("SettingsDialog", "Same as the interface")
        ),
        ("editor", "code_font"): lambda value: create_font_editor(
            value, default_label=translate("SettingsDialog", "System default"), fixed_pitch=True
        ),
    }
    dialog = SettingsDialog(settings, theme, pages, parent, editors=editors)
    dialog.changed.connect(show_changes)
    return dialog
