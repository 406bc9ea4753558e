from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMainWindow, QVBoxLayout, QWidget

from app.desktop.shell.actions import Actions
from app.desktop.shell.command_palette import ITEM_ROLE, CommandPalette, PaletteItem
from app.desktop.shell.command_registry import COMMANDS
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.colors import LIGHT
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.index.completion import best_matches
from app.settings import ShortcutSettings

NAMES = ["readme\0", "re\0a", "where\0b", "more about it\0", "kyoto\0references", "a re start\0"]


def test_the_order_is_exact_start_word_middle_note() -> None:
    assert [NAMES[i].partition("\0")[0] for i in best_matches("re", NAMES)] == [
        "re",
        "readme",
        "a re start",
        "where",
        "more about it",
        "kyoto",
    ]


def test_nothing_typed_keeps_the_order_and_is_short() -> None:
    assert best_matches("", NAMES, limit=3) == [0, 1, 2]


def test_a_misspelled_name_is_found() -> None:
    assert best_matches("raedme", ["readme\0", "kyoto\0"]) == [0]


@given(st.text(max_size=8), st.lists(st.text(max_size=12), max_size=30), st.integers(1, 10))
def test_matches_are_real_distinct_and_few(query: str, names: list[str], limit: int) -> None:
    indices = best_matches(query, [name.casefold() for name in names], limit)
    assert len(indices) == len(set(indices)) <= limit
    assert all(0 <= index < len(names) for index in indices)


@given(st.lists(st.text(alphabet="abc ", min_size=1, max_size=6), min_size=1, max_size=20), st.data())
def test_an_exact_name_is_listed_first(names: list[str], data: st.DataObject) -> None:
    query = data.draw(st.sampled_from([name for name in names if name.strip()] or ["a"]))
    indices = best_matches(query, names)
    if query.strip() in names:
        assert names[indices[0]] == query.strip()


@pytest.fixture
def window(qtbot) -> QWidget:
    new_window = QWidget()
    new_window.resize(800, 600)
    column = QVBoxLayout(new_window)
    column.addWidget(QLineEdit())
    qtbot.addWidget(new_window)
    new_window.show()
    return new_window


async def load_four() -> tuple[PaletteItem, ...]:
    return tuple(PaletteItem(f"{name}.md", name, "Folder") for name in ("Alpha", "Beta", "Gamma", "Alphabet"))


def texts(palette: CommandPalette) -> list[str]:
    model = palette.list.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_typing_narrows_and_enter_chooses(gui, wait_until, window: QWidget) -> None:
    async def main() -> list[tuple[str, str]]:
        palette = CommandPalette(ThemeSource("light"), window)
        chosen: list[tuple[str, str]] = []
        palette.chosen.connect(lambda mode, key: chosen.append((mode, key)))
        palette.open("notes", "Go to a note", load_four)
        await wait_until(lambda: len(texts(palette)) == 4)
        QTest.keyClicks(palette.field, "alph")
        await wait_until(lambda: texts(palette) == ["Alpha", "Alphabet"])
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
        assert palette.list.currentIndex().data(ITEM_ROLE).text == "Alphabet"
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert not palette.isVisible()
        return chosen

    assert gui(main()) == [("notes", "Alphabet.md")]


def test_reloaded_choices_keep_the_query_and_the_selection(gui, wait_until, window: QWidget) -> None:
    async def main() -> None:
        names = ["Alpha", "Beta"]

        async def load() -> tuple[PaletteItem, ...]:
            return tuple(PaletteItem(f"{name}.md", name) for name in names)

        palette = CommandPalette(ThemeSource("light"), window)
        palette.open("notes", "Go to a note", load)
        await wait_until(lambda: len(texts(palette)) == 2)
        QTest.keyClicks(palette.field, "alph")
        await wait_until(lambda: texts(palette) == ["Alpha"])
        names.insert(0, "Gamma")
        names.append("Alph")
        palette.reload()
        await wait_until(lambda: texts(palette) == ["Alph", "Alpha"])
        assert palette.field.text() == "alph"
        assert palette.list.currentIndex().data(ITEM_ROLE).text == "Alpha"

    gui(main())


def test_escape_closes_and_gives_the_focus_back(gui, wait_until, window: QWidget) -> None:
    async def main() -> None:
        field = window.findChild(QLineEdit)
        field.setFocus()
        palette = CommandPalette(ThemeSource("light"), window)
        palette.open("notes", "Go to a note", load_four)
        await wait_until(lambda: texts(palette))
        QTest.keyClick(palette.field, Qt.Key.Key_Escape)
        assert not palette.isVisible() and window.focusWidget() is field

    gui(main())


def test_a_name_that_no_note_has_is_offered_on(gui, wait_until, window: QWidget) -> None:
    async def main() -> list[tuple[str, str]]:
        palette = CommandPalette(ThemeSource("light"), window)
        requested: list[tuple[str, str]] = []
        palette.fallback.connect(lambda mode, text: requested.append((mode, text)))
        palette.open("notes", "Go to a note", load_four)
        await wait_until(lambda: texts(palette))
        QTest.keyClicks(palette.field, "zzzzqqqq")
        await wait_until(lambda: not texts(palette))
        assert palette.no_match_label.isVisible()
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        return requested

    assert gui(main()) == [("notes", "zzzzqqqq")]


def test_every_shortcut_belongs_to_one_command() -> None:
    keys = [key for command in COMMANDS for key in command.shortcuts]
    assert len(keys) == len(set(keys))
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)


def test_a_command_without_a_vault_is_grayed_out_and_does_nothing(qtbot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    done: list[str] = []
    actions = Actions(window, lambda command: done.append(command.id), Keymap(ShortcutSettings()))
    actions.run("new-note")
    actions.run("settings")
    assert done == ["settings"]
    actions.set_has_vault(True)
    actions.run("new-note")
    actions.run("save-note")
    assert done == ["settings", "new-note"]
    without_tab = {c.id for c in COMMANDS if c.when in ("always", "vault")}
    assert {c.id for c in actions.available()} == without_tab
    actions.set_open_tab(True)
    assert {c.id for c in actions.available()} == {c.id for c in COMMANDS if c.when != "note"}
    assert {c.id for c in actions.available()} > without_tab
    actions.set_open_tab(True, is_note=True)
    actions.run("save-note")
    assert done[-1] == "save-note"
    assert {c.id for c in actions.available()} == {c.id for c in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_an_existing_icon(command, qtbot) -> None:
    assert not icon(LIGHT, command.icon).isNull()


async def load_slowly() -> tuple[PaletteItem, ...]:
    await asyncio.sleep(0.05)
    return (
        PaletteItem("Tea.md", "The book of tea", "Books", aliases=("Tea", "Okakura 1906")),
        PaletteItem("Teapot.md", "Teapot"),
    )


def test_a_note_is_found_by_its_other_names_and_the_name_is_shown(gui, wait_until, window: QWidget) -> None:
    async def main() -> None:
        palette = CommandPalette(ThemeSource("light"), window)
        palette.open("notes", "Go to a note", load_slowly)
        await wait_until(lambda: len(texts(palette)) == 2)
        QTest.keyClicks(palette.field, "okakura")
        await wait_until(lambda: texts(palette) == ["The book of tea"])
        assert palette.list.currentIndex().data(ITEM_ROLE).detail == "Okakura 1906 · Books"

    gui(main())


def test_a_file_name_that_is_typed_whole_comes_first() -> None:
    assert best_matches("tea", ["teapot\0", "the book of tea\ntea\0books"]) == [1, 0]


def test_enter_waits_for_the_list_that_answers_to_what_was_typed(gui, wait_until, window: QWidget) -> None:
    async def main() -> tuple[list[str], list[str]]:
        palette = CommandPalette(ThemeSource("light"), window)
        chosen: list[str] = []
        requested: list[str] = []
        palette.chosen.connect(lambda _, key: chosen.append(key))
        palette.fallback.connect(lambda _, text: requested.append(text))
        palette.open("notes", "Go to a note", load_slowly)
        QTest.keyClicks(palette.field, "teapot")
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        await wait_until(lambda: chosen or requested)
        # The text typed the last time does not filter the reloaded list.
        palette.open("notes", "Go to a note", load_slowly)
        await asyncio.sleep(0)
        QTest.keyClicks(palette.field, "book")
        await wait_until(lambda: palette.list.model().rowCount())
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        await wait_until(lambda: len(chosen) == 2 or requested)
        return chosen, requested

    assert gui(main()) == (["Teapot.md", "Tea.md"], [])
