"""The page that changes keyboard shortcuts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from app.desktop.settings.shortcuts_page import ShortcutsPage
from app.desktop.shell.command_registry import COMMANDS
from app.desktop.shell.keymap import short_title
from app.desktop.theme.theme import ThemeSource
from app.settings import ShortcutSettings

KEY, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
Custom = dict[str, tuple[str, ...]]


@pytest.fixture
def page(qtbot: QtBot) -> ShortcutsPage:
    return create_page(qtbot, {})


def create_page(qtbot: QtBot, custom: Custom) -> ShortcutsPage:
    """Return a page whose changes are applied at once, as the dialog does."""
    page = ShortcutsPage(ThemeSource("light"), ShortcutSettings(custom=custom))
    qtbot.addWidget(page)
    page.changed.connect(lambda changed: page.show_settings(ShortcutSettings(custom=changed)))
    page.show()
    return page


def changes_of(page: ShortcutsPage) -> list[Custom]:
    changes: list[Custom] = []
    page.changed.connect(changes.append)
    return changes


def current(page: ShortcutsPage) -> QTreeWidgetItem:
    row = page.table.currentItem()
    assert row is not None
    return row


def shortcut_of(page: ShortcutsPage, command_id: str) -> str:
    page.select(command_id)
    return current(page).text(2)


def visible_commands(page: ShortcutsPage) -> list[str]:
    """Return the titles of the commands in the list."""
    rows = (page.table.topLevelItem(index) for index in range(page.table.topLevelItemCount()))
    return [row.text(0) for row in rows if row is not None and not row.isHidden()]


def press_delete(page: ShortcutsPage) -> None:
    page.table.setFocus()
    QTest.keyClick(page.table, KEY.Key_Delete)


def shown(page: ShortcutsPage) -> list[str]:
    """Return the labels of the card's visible buttons."""
    return [button.text() for button in page.card.findChildren(QPushButton) if button.isVisible()]


def record(page: ShortcutsPage, command_id: str, key: Qt.Key, modifiers: Qt.KeyboardModifier = CTRL) -> None:
    page.select(command_id)
    page.card.record_button.click()
    QTest.keyClick(page.card.recorder, key, modifiers)


def test_every_command_is_listed_with_its_menu_and_shortcut(page: ShortcutsPage) -> None:
    assert visible_commands(page) == [short_title(command.id) for command in COMMANDS]
    page.select("save-note")
    row = current(page)
    assert [row.text(column) for column in range(3)] == ["Save", "File", "Ctrl+S"]


def test_the_search_finds_titles_menus_and_shortcuts(page: ShortcutsPage) -> None:
    page.search.setText("theme dark")
    assert visible_commands(page) == ["Theme: dark"] == [current(page).text(0)]
    page.search.setText("ctrl+j")
    assert visible_commands(page) == [short_title("toggle-bottom")]
    page.search.setText("nothing is called so")
    assert visible_commands(page) == [] and not page.table.isVisible() and not page.card.isVisible()
    page.search.clear()
    assert len(visible_commands(page)) == len(COMMANDS) and page.card.isVisible()


def test_a_recorded_shortcut_is_assigned_at_once(page: ShortcutsPage) -> None:
    changes = changes_of(page)
    record(page, "save-note", KEY.Key_1)
    assert changes == [{"save-note": ("Ctrl+1",)}]
    assert shortcut_of(page, "save-note") == "Ctrl+1" and current(page).font(2).bold()
    assert shown(page) == ["Change…", "Remove", "Reset"]


def test_a_double_click_and_enter_start_recording(page: ShortcutsPage) -> None:
    page.select("save-note")
    page.table.itemDoubleClicked.emit(current(page), 0)
    assert page.card.recorder.isVisible()
    QTest.keyClick(page.card.recorder, KEY.Key_Escape)
    assert not page.card.recorder.isVisible() and shortcut_of(page, "save-note") == "Ctrl+S"


@pytest.mark.parametrize("key", [KEY.Key_A, KEY.Key_Return, KEY.Key_Tab])
def test_a_key_for_writing_is_rejected_and_recording_continues(page: ShortcutsPage, key: Qt.Key) -> None:
    changes = changes_of(page)
    record(page, "save-note", key, Qt.KeyboardModifier.NoModifier)
    message = page.card.message
    assert "needed for writing" in message.text() and message.isVisible()
    assert message.text().endswith(". Press another shortcut, or Esc to cancel.")
    assert page.card.recorder.accessibleName() == "New shortcut"
    assert changes == [] and page.card.recorder.isVisible()
    QTest.keyClick(page.card.recorder, KEY.Key_F7)
    assert changes == [{"save-note": ("F7",)}]


def test_a_conflict_names_the_other_command_and_can_be_canceled(page: ShortcutsPage) -> None:
    changes = changes_of(page)
    record(page, "save-note", KEY.Key_P)
    assert page.card.message.text() == "Ctrl+P is the shortcut of “Go to note”. Reassign it to “Save”?"
    assert shown(page) == ["Reassign", "Cancel"]
    page.card.cancel_button.click()
    assert changes == [] and shortcut_of(page, "save-note") == "Ctrl+S"
    record(page, "save-note", KEY.Key_P)
    page.card.reassign_button.click()
    assert changes == [{"save-note": ("Ctrl+P",), "go-note": ()}]
    assert shortcut_of(page, "save-note") == "Ctrl+P" and shortcut_of(page, "go-note") == ""


def test_a_shortcut_can_be_removed_and_reset(page: ShortcutsPage) -> None:
    changes = changes_of(page)
    page.select("zoom-in")
    assert current(page).text(2).split() == ["Ctrl++", "Ctrl+="]
    assert not page.card.reset_button.isEnabled()
    page.card.remove_button.click()
    assert changes == [{"zoom-in": ()}] and not page.card.remove_button.isEnabled()
    page.card.reset_button.click()
    assert changes[-1] == {} and shortcut_of(page, "zoom-in").split() == ["Ctrl++", "Ctrl+="]


def test_delete_removes_the_shortcut_only_where_the_button_does(page: ShortcutsPage) -> None:
    changes = changes_of(page)
    page.select("save-note")
    page.card.record_button.click()
    press_delete(page)
    page.card.cancel_button.click()
    record(page, "save-note", KEY.Key_P)  # The card asks whether to take it from another command.
    press_delete(page)
    assert changes == [] and shown(page) == ["Reassign", "Cancel"]
    page.card.cancel_button.click()
    press_delete(page)
    assert changes == [{"save-note": ()}]
    press_delete(page)
    assert len(changes) == 1


def test_a_default_that_another_command_has_is_not_restored_without_asking(qtbot: QtBot) -> None:
    page = create_page(qtbot, {"save-note": ("Ctrl+P",), "go-note": ()})
    changes = changes_of(page)
    page.select("go-note")
    page.card.reset_button.click()
    assert changes == [] and "“Save”" in page.card.message.text()
    page.card.reassign_button.click()
    assert changes == [{"save-note": ()}]


def test_all_shortcuts_are_reset_after_a_question(gui, wait_until, qtbot) -> None:
    async def main() -> None:
        page = create_page(qtbot, {"save-note": ("F7",), "from-the-future": ("F6",)})
        changes = changes_of(page)
        page.reset_all_button.click()
        await wait_until(lambda: [b for b in page.findChildren(QPushButton) if b.text() == "Reset all"])
        next(b for b in page.findChildren(QPushButton) if b.text() == "Reset all").click()
        await wait_until(lambda: changes == [{}])
        assert shortcut_of(page, "save-note") == "Ctrl+S" and not page.reset_all_button.isEnabled()

    gui(main())


def test_shortcuts_that_cannot_be_used_are_named(qtbot: QtBot, page: ShortcutsPage) -> None:
    assert not page.problems.isVisible()
    other = create_page(qtbot, {"save-note": ("Ctrl+Bogus",), "from-the-future": ("F7",)})
    assert other.problems.isVisible()
    assert "Ctrl+Bogus" in other.problems.text() and "from-the-future" in other.problems.text()
    assert shortcut_of(other, "save-note") == "Ctrl+S"
