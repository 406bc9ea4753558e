"""The links of a note load in parts, in order and completely."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.desktop.notes.links_pane import LinksPane
from app.desktop.notes.loader import NoteContext
from app.desktop.theme.theme import ThemeSource
from app.index.records import LinkRecord, Mention
from app.vault.path import NotePath

HERE = NotePath.parse("Here.md")


def note(name: str, number: int) -> NotePath:
    return NotePath.parse(f"{name} {number}.md")


def link(source: NotePath, target: NotePath) -> LinkRecord:
    return LinkRecord(source, target, target.name, "LINKS_TO", None, None, False, False, 3, "as it says")


def context_with(incoming: int, outgoing: int) -> NoteContext:
    return NoteContext(
        None,
        tuple(link(note("From", number), HERE) for number in range(incoming)),
        tuple(link(HERE, note("To", number)) for number in range(outgoing)),
    )


def names(pane: LinksPane, start: str) -> list[str]:
    """Return the listed notes, from top to bottom."""
    buttons = [each for each in pane.findChildren(QPushButton) if each.text().startswith(start)]
    page = pane.widget()
    assert page is not None
    return [each.text() for each in sorted(buttons, key=lambda each: each.mapTo(page, QPoint(0, 0)).y())]


@pytest.fixture
def pane(qtbot: QtBot, qapp: QApplication) -> LinksPane:
    links_pane = LinksPane(ThemeSource("light"))
    qtbot.addWidget(links_pane)
    links_pane.resize(400, 300)
    links_pane.show()
    qtbot.waitExposed(links_pane)
    return links_pane


def wait_until_complete(pane: LinksPane, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: pane.is_complete, timeout=20_000)
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


def test_many_links_load_in_order_while_the_window_responds(pane: LinksPane, qtbot: QtBot) -> None:
    pane.show_links(context_with(260, 30))
    assert not pane.is_complete
    assert names(pane, "From")[0] == "From 0"
    assert names(pane, "To")[0] == "To 0"
    wait_until_complete(pane, qtbot)
    listed = [f"From {number}" for number in range(200)]
    others = [f"To {number}" for number in range(30)]
    # Rows are in order after the layout.
    qtbot.waitUntil(lambda: names(pane, "From") == listed and names(pane, "To") == others, timeout=10_000)
    assert [each.text() for each in pane.findChildren(QLabel) if "more" in each.text()] == ["and 60 more"]


def test_another_note_replaces_one_that_is_still_loading(pane: LinksPane, qtbot: QtBot) -> None:
    pane.show_links(context_with(150, 150))
    pane.show_mentions(tuple(Mention(note("Named", number), 1, "here", 0, 4) for number in range(40)))
    pane.forget()
    pane.show_links(context_with(2, 1))
    wait_until_complete(pane, qtbot)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert names(pane, "From") == ["From 0", "From 1"]
    assert names(pane, "To") == ["To 0"]
    assert names(pane, "Named") == []


def test_updates_keep_the_scroll_position(pane: LinksPane, qtbot: QtBot) -> None:
    pane.show_links(context_with(120, 0))
    wait_until_complete(pane, qtbot)
    bar = pane.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 2000, timeout=10_000)
    bar.setValue(1500)
    for _ in range(2):
        pane.show_links(context_with(121, 0))
    wait_until_complete(pane, qtbot)
    qtbot.waitUntil(lambda: bar.value() == 1500, timeout=10_000)


def test_an_ampersand_in_a_name_is_shown(pane: LinksPane) -> None:
    pane.show_links(NoteContext(None, (link(NotePath.parse("R&D.md"), HERE),), ()))
    button = next(each for each in pane.findChildren(QPushButton) if each.toolTip() == "R&D.md")
    assert button.text() == "R&&D", "a single ampersand would underline the next letter"
