"""The look of the tabs of notes."""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QTabBar
from pytestqt.qtbot import QtBot

from app.desktop.notes.tabs import NoteTabs
from app.desktop.theme.theme import ThemeSource
from app.errors import NotFoundError
from app.settings import Settings, ShortcutSettings
from app.workspace import SettingsChanged
from tests.desktop.open_vault import PlainNote

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_the_buttons_that_close_tabs_grow_with_the_zoom(qtbot: QtBot, qapp: QApplication) -> None:
    theme = ThemeSource("light")
    theme.apply(qapp)
    tabs = NoteTabs(Mock(settings=Settings()), theme, PlainNote)
    qtbot.addWidget(tabs)
    group = tabs._active_group
    group.addTab(PlainNote(Mock(), theme, group), "One")
    tabs.show()
    bar = group.tabBar()

    def side(index: int) -> int:
        return bar.tabButton(index, QTabBar.ButtonPosition.RightSide).width()

    before, tab = side(0), bar.tabRect(0).size()
    theme.set("light", zoom=2.0)
    assert side(0) == 2 * before
    assert bar.tabRect(0).height() > 1.5 * tab.height() and bar.tabRect(0).width() > 1.5 * tab.width()
    group.addTab(PlainNote(Mock(), theme, group), "Two")
    assert side(1) == side(0)
    theme.set("light", zoom=1.0)
    assert side(1) == side(0) == before and bar.tabRect(0).size() == tab
    qapp.setStyleSheet("")


def test_a_group_whose_first_note_is_gone_is_restored(gui, qtbot: QtBot) -> None:
    class MissingNote(PlainNote):
        async def open(self, path: str, fragment: str = "") -> None:
            if path == "Gone.md":
                raise NotFoundError("There is no such note.")
            await super().open(path, fragment)

    async def main() -> None:
        tabs = NoteTabs(Mock(settings=Settings()), ThemeSource("light"), MissingNote)
        qtbot.addWidget(tabs)
        groups = [["A.md", "B.md"], ["Gone.md", "C.md", "D.md"]]
        await tabs.restore({"groups": groups, "front": "A.md"})
        assert tabs.state()["groups"] == [["A.md", "B.md"], ["C.md", "D.md"]]

    gui(main())


def test_a_note_that_loads_behind_another_tab_is_not_the_shown_one(gui, qtbot: QtBot) -> None:
    loaded = asyncio.Event()

    class SlowNote(PlainNote):
        async def open(self, path: str, fragment: str = "") -> None:
            if path == "Slow.md":
                await loaded.wait()
            await super().open(path, fragment)

    async def main() -> None:
        tabs = NoteTabs(Mock(settings=Settings()), ThemeSource("light"), SlowNote)
        qtbot.addWidget(tabs)
        shown: list[str] = []
        tabs.shown.connect(shown.append)
        await tabs.open("A.md")
        opening = asyncio.create_task(tabs.open("Slow.md"))
        while len(tabs.tabs()) < 2 or tabs.current.path:
            await asyncio.sleep(0)
        tabs.step(-1)
        loaded.set()
        await opening
        assert shown[-1] == "A.md" == tabs.current.path

    gui(main())


def test_a_tab_that_is_closed_twice_while_it_is_saved_is_closed_once(gui, qtbot: QtBot) -> None:
    saved = asyncio.Event()

    class UnsavedNote(PlainNote):
        async def confirm_close(self) -> bool:
            await saved.wait()
            return True

    async def main() -> None:
        tabs = NoteTabs(Mock(settings=Settings()), ThemeSource("light"), UnsavedNote)
        qtbot.addWidget(tabs)
        for path in ("A.md", "B.md"):
            await tabs.open(path)
        closings = [asyncio.create_task(tabs.close_current()) for _ in range(2)]
        await asyncio.sleep(0)
        saved.set()
        assert await asyncio.gather(*closings) == [True, True]
        assert [tab.path for tab in tabs.tabs()] == ["A.md"]
        tabs.reopen()
        assert not tabs.can_reopen

    gui(main())


def test_moving_a_tab_to_a_group_with_the_same_note_leaves_one_tab(gui, wait_until, qtbot: QtBot) -> None:
    async def main() -> None:
        tabs = NoteTabs(Mock(settings=Settings()), ThemeSource("light"), PlainNote)
        qtbot.addWidget(tabs)
        for path in ("A.md", "B.md"):
            await tabs.open(path)
        await tabs.open("A.md", in_other_group=True)
        tabs.split()
        await wait_until(lambda: len(tabs.tabs()) == 2)
        assert [tab.path for tab in tabs.tabs()] == ["A.md", "B.md"]
        assert tabs.current.path == "A.md"

    gui(main())


def test_the_hint_without_a_note_names_the_current_shortcut(qtbot: QtBot) -> None:
    tabs = NoteTabs(Mock(settings=Settings()), ThemeSource("light"), PlainNote)
    qtbot.addWidget(tabs)

    def hint() -> str:
        return " ".join(label.text() for label in tabs._empty_state.findChildren(QLabel))

    assert "press Ctrl+P" in hint()
    for shortcuts, text in ((("F7",), "press F7"), ((), "or click a file.")):
        settings = Settings(shortcuts=ShortcutSettings(custom={"go-note": shortcuts}))
        tabs._handle_events((SettingsChanged(settings),))
        assert text in hint() and "Ctrl+P" not in hint()
