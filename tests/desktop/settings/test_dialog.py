from __future__ import annotations

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QPushButton, QSpinBox, QWidget

from app.desktop.settings.answering_field import AnsweringEditor
from app.desktop.settings.dialog import SettingsDialog
from app.desktop.settings.dialog_factory import create_settings_dialog
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.model_form import ModelEditor, ModelRows
from app.settings import Rule, Settings
from tests.support.settings_rows import visible_settings


@pytest.fixture
def dialog(qtbot) -> SettingsDialog:
    answering = {("agent", "answering"): lambda value: AnsweringEditor(Settings())}
    new_dialog = SettingsDialog(Settings(), ThemeSource("light"), editors=answering)
    qtbot.addWidget(new_dialog)
    return new_dialog


def every_field() -> list[tuple[str, str]]:
    """Every setting that has a control of its own; the tool categories are switches of their section."""
    return [
        (section, name)
        for section, holder in Settings.model_fields.items()
        for name, field in holder.annotation.model_fields.items()  # type: ignore[union-attr]
        if field.json_schema_extra != {"form": False}
    ]


@pytest.mark.parametrize(("section", "name"), every_field())
def test_every_setting_has_a_control_a_title_and_a_description(dialog, section: str, name: str) -> None:
    control = dialog.editor_of(section, name).control
    field = type(getattr(Settings(), section)).model_fields[name]
    assert control.accessibleName() == field.title
    assert control.accessibleDescription() == field.description
    assert dialog.editor_of(section, name).value == getattr(getattr(Settings(), section), name)


def test_a_change_takes_effect_immediately_and_is_typed(dialog) -> None:
    changes: list[Settings] = []
    dialog.changed.connect(changes.append)
    theme = dialog.editor_of("general", "theme").control
    assert isinstance(theme, QComboBox)
    theme.setCurrentText("Dark")
    zoom = dialog.editor_of("general", "zoom").control
    assert isinstance(zoom, QDoubleSpinBox) and zoom.maximum() == 2.5
    zoom.setValue(1.5)
    deletes = dialog.editor_of("permissions", "unlock_delete_grants").control
    assert isinstance(deletes, QCheckBox)
    deletes.setChecked(True)
    bulk = dialog.editor_of("permissions", "bulk_threshold").control
    assert isinstance(bulk, QSpinBox) and bulk.minimum() == 1
    bulk.setValue(7)
    last = changes[-1]
    assert (last.general.theme, last.general.zoom) == ("dark", 1.5)
    assert (last.permissions.unlock_delete_grants, last.permissions.bulk_threshold) == (True, 7)
    assert len(changes) == 4


def test_invalid_values_are_reported_and_not_saved(dialog) -> None:
    changes: list[Settings] = []
    dialog.changed.connect(changes.append)
    field = dialog.editor_of("model", "temperature").control
    assert isinstance(field, QLineEdit)
    field.setText("very hot")
    field.editingFinished.emit()
    assert changes == [] and dialog.settings.model.temperature is None
    (row,) = (row for row in dialog._rows if row.name == "temperature")
    assert not row.error.isHidden() and "number" in row.error.text()
    field.setText("0.5")
    field.editingFinished.emit()
    assert changes[-1].model.temperature == 0.5 and row.error.isHidden()


def test_a_port_has_no_separator_between_its_digits(dialog) -> None:
    port = dialog.editor_of("servers", "port").control
    tokens = dialog.editor_of("model", "max_tokens_per_turn").control
    assert isinstance(port, QSpinBox) and not port.isGroupSeparatorShown()
    assert isinstance(tokens, QSpinBox) and tokens.isGroupSeparatorShown()


def test_globs_are_a_list_of_words(dialog) -> None:
    field = dialog.editor_of("index", "exclude").control
    assert isinstance(field, QLineEdit)
    field.setText(" Archive/**, *.draft.md ,")
    field.editingFinished.emit()
    assert dialog.settings.index.exclude == ("Archive/**", "*.draft.md")


def test_rules_can_be_added_and_removed(dialog) -> None:
    rows = dialog.editor_of("permissions", "rules").control
    assert isinstance(rows, ModelRows)
    (add,) = (b for b in rows.findChildren(QPushButton) if b.text() == "Add")
    add.click()
    row = rows.findChild(ModelEditor)
    row.editors["effect"].control.setCurrentText("Deny")
    row.editors["glob"].control.setText("Journal/**")
    row.editors["glob"].control.editingFinished.emit()
    assert dialog.settings.permissions.rules == (Rule(effect="deny", glob="Journal/**"),)
    (remove,) = (b for b in rows.findChildren(QPushButton) if b.text() == "Remove")
    remove.click()
    assert dialog.settings.permissions.rules == ()


def test_searching_shows_matching_settings_of_all_sections(dialog) -> None:
    dialog.search.setText("maximum note")
    assert visible_settings(dialog) == ("index.max_note_mib",)
    assert dialog.list.currentRow() == -1, "what is found may be of any section"
    dialog.search.setText("theme dark")
    assert visible_settings(dialog) == ("general.theme",)
    dialog.search.setText("nothing is called so")
    assert visible_settings(dialog) == () and not dialog._no_match.isHidden()
    dialog.search.clear()
    assert dialog.list.currentRow() == 0
    assert len(visible_settings(dialog)) == len(every_field())


def test_a_section_can_be_shown(dialog) -> None:
    dialog.show_section("permissions")
    visible = [name for name, block in dialog._sections.items() if not block.isHidden()]
    assert visible == ["permissions"]


def test_the_other_sections_are_made_between_the_window_s_events(dialog, qtbot) -> None:
    dialog.show_section("journal")
    dialog.show()
    assert dialog._editors, "what is looked at is there at once"
    assert len(dialog._editors) < len(every_field())
    qtbot.waitUntil(lambda: dialog._build_queue.is_empty)
    assert set(dialog._editors) == set(every_field())
    names = [f"{row.section}.{row.name}" for row in dialog._rows]
    assert sorted(names) == sorted(".".join(field) for field in every_field()), "each is made once"


def test_a_section_that_is_made_late_shows_the_settings_as_they_are_by_then(dialog) -> None:
    dialog.show_section("general")
    assert ("permissions", "bulk_threshold") not in dialog._editors
    changed = dialog.settings.permissions.model_copy(update={"bulk_threshold": 7})
    dialog.settings = dialog.settings.model_copy(update={"permissions": changed})
    assert dialog.editor_of("permissions", "bulk_threshold").value == 7


def test_the_search_finds_pages_by_keywords_that_no_screen_reader_reads(qtbot, gui) -> None:
    async def search() -> None:
        dialog = create_settings_dialog(Settings(), ThemeSource("light"), None, None)
        qtbot.addWidget(dialog)
        for words, section in (
            ("clients configuration", "servers"),
            ("release check", "updates"),
            ("codex gemini", "programs"),
            ("calls a minute", "tools"),
        ):
            dialog.search.setText(words)
            assert f"{section}." in visible_settings(dialog), words
            read = [widget.accessibleDescription() for widget in dialog.findChildren(QWidget)]
            assert not [text for text in read if all(word in text.casefold() for word in words.split())]

    gui(search())


def test_tab_moves_from_the_search_to_the_sections(dialog) -> None:
    assert dialog.search.nextInFocusChain() is dialog.list
