"""A shortcut is changed in the settings of the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop.help.pages import SHORTCUTS
from app.desktop.notes.handbook_tab import HandbookTab
from app.desktop.settings.dialog import SettingsDialog
from app.desktop.settings.shortcuts_page import ShortcutsPage
from app.settings import ShortcutSettings, load_settings, save_settings
from tests.flows.pilot import Pilot

CTRL = Qt.KeyboardModifier.ControlModifier


def keys_of(pilot: Pilot, command_id: str) -> list[str]:
    return [keys.toString() for keys in pilot.window.menu.by_id[command_id].shortcuts()]


def shortcuts_in_the_handbook(pilot: Pilot) -> str:
    (tab,) = pilot.window.findChildren(HandbookTab)
    assert tab.current == SHORTCUTS
    return tab.page.toPlainText()


async def open_page(pilot: Pilot) -> tuple[SettingsDialog, ShortcutsPage]:
    pilot.window.show_settings("shortcuts")
    await pilot.until(lambda: any(isinstance(s, SettingsDialog) for s in pilot.sheets), "settings")
    dialog = next(sheet for sheet in pilot.sheets if isinstance(sheet, SettingsDialog))
    (page,) = dialog.findChildren(ShortcutsPage)
    return dialog, page


def test_a_changed_shortcut_works_at_once_and_after_a_restart(app_run, garden: Path) -> None:
    async def change(pilot: Pilot) -> None:
        window = pilot.window
        await pilot.open(garden)
        note = await pilot.open_note("Tea.md")
        window.show_help("shortcuts")
        await pilot.until(lambda: window.findChildren(HandbookTab), "the handbook opens")
        (tab,) = window.findChildren(HandbookTab)
        await pilot.until(lambda: tab.current == SHORTCUTS, "its page is shown")
        await pilot.until(lambda: "Go to note" in shortcuts_in_the_handbook(pilot), "it has its text")
        dialog, page = await open_page(pilot)
        page.search.setText("save")
        page.select("save-note")
        await pilot.press("Change…", page)
        QTest.keyClick(page.card.recorder, Qt.Key.Key_P, CTRL)
        await pilot.until(lambda: "“Go to note”" in page.card.message.text(), "the conflict is shown")
        assert keys_of(pilot, "go-note") == ["Ctrl+P"]
        await pilot.press("Reassign", page)
        assert keys_of(pilot, "save-note") == ["Ctrl+P"] and keys_of(pilot, "go-note") == []
        dialog.done(0)
        await pilot.until(lambda: not pilot.sheets)
        await pilot.until(lambda: "Go to note" not in shortcuts_in_the_handbook(pilot), "the page follows")
        assert "Ctrl+P" in shortcuts_in_the_handbook(pilot)
        await pilot.open_note("Tea.md")
        save = note._header._save_button
        await pilot.until(lambda: save.toolTip() == "Save (Ctrl+P)", "the tooltip follows")
        await pilot.write_at_end(note, " More.")
        await pilot.front()
        note.editor.setFocus()
        QTest.keyClick(note.editor, Qt.Key.Key_P, CTRL)
        await pilot.until(lambda: not note.document.is_dirty, "the note is saved")
        assert "More." in (garden / "Tea.md").read_text("utf-8")

    async def restart(pilot: Pilot) -> None:
        assert keys_of(pilot, "save-note") == ["Ctrl+P"] and keys_of(pilot, "go-note") == []
        dialog, page = await open_page(pilot)
        await pilot.press("Reset all…", page)
        await pilot.press("Reset all")
        await pilot.until(lambda: keys_of(pilot, "go-note") == ["Ctrl+P"], "the defaults are back")
        dialog.done(0)
        await pilot.until(lambda: not pilot.sheets)

    app_run(change)
    assert load_settings().shortcuts.custom == {"save-note": ("Ctrl+P",), "go-note": ()}
    app_run(restart)
    assert load_settings().shortcuts.custom == {}


def test_an_invalid_shortcut_in_the_settings_file_is_reported(app_run, settings) -> None:
    settings.shortcuts = ShortcutSettings(custom={"save-note": ("Ctrl+Bogus",)})
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        (banner,) = (key for key in pilot.banners if "Ctrl+Bogus" in key)
        assert "Save" in pilot.banner(banner)
        assert keys_of(pilot, "save-note") == ["Ctrl+S"]

    app_run(use)
    assert load_settings().shortcuts.custom == {"save-note": ("Ctrl+Bogus",)}
