"""The composer: sending, stopping, names after @, attached notes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest

from app.desktop.agent.composer import Composer, dropped_notes
from app.desktop.files.model import FileTreeModel, FolderListing
from app.desktop.theme.theme import ThemeSource


@pytest.fixture
def composer(qtbot) -> Composer:
    new_composer = Composer(ThemeSource("light"))
    qtbot.addWidget(new_composer)
    new_composer.resize(360, 200)
    new_composer.show()
    return new_composer


def test_enter_sends_and_shift_enter_breaks_the_line(composer: Composer, qtbot) -> None:
    sent: list[str] = []
    composer.sent.connect(sent.append)
    QTest.keyClicks(composer.field, "one")
    QTest.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.field, "two")
    assert not sent
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == ["one\ntwo"]


def test_nothing_is_sent_while_a_turn_runs_and_escape_stops_it(composer: Composer) -> None:
    signals: list[str] = []
    composer.sent.connect(signals.append)
    composer.stop_requested.connect(lambda: signals.append("stop"))
    composer.set_running(True)
    QTest.keyClicks(composer.field, "more")
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    QTest.keyClick(composer.field, Qt.Key.Key_Escape)
    assert signals == ["stop"]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_note_is_named_after_an_at_sign_behind_an_emoji(composer: Composer, qtbot) -> None:
    composer.field.setFocus()
    qtbot.waitUntil(composer.field.hasFocus)
    composer.completions_requested.connect(lambda _: composer.set_names(["Longitude"]))
    composer.field.setPlainText("🧭 tag ")
    composer.field.moveCursor(composer.field.textCursor().MoveOperation.End)
    QTest.keyClicks(composer.field, "@Lon")
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert composer.field.toPlainText() == "🧭 tag [[Longitude]] "


def test_a_note_dragged_from_the_tree_is_attached_once(composer: Composer, qapp) -> None:
    tree = FileTreeModel(ThemeSource("light"))
    tree.reset(FolderListing.of(["Concepts/Longitude.md"]))
    data = tree.mimeData([tree.index_of("Concepts/Longitude.md")])
    assert dropped_notes(data) == ("Concepts/Longitude.md",)
    for _ in range(2):
        drop = QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        composer.dropEvent(drop)
    assert composer.notes == ("Concepts/Longitude.md",)
    composer.field.setPlainText("look at this")
    assert composer.take_prompt() == ("look at this", ("Concepts/Longitude.md",))
    assert composer.notes == ()
    assert dropped_notes(QMimeData()) == ()


def test_escape_cancels_editing_an_earlier_message(composer: Composer) -> None:
    cancelled: list[int] = []
    composer.edit_canceled.connect(lambda: cancelled.append(1))
    composer.restore_prompt("an earlier message", ("A.md",))
    composer.set_editing(True)
    QTest.keyClick(composer.field, Qt.Key.Key_Escape)
    assert cancelled == [1]
    assert composer.take_prompt() == ("", ())
