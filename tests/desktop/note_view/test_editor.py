"""The source view: its steps of undo, its lists, what it completes, follows and colours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from app.desktop.note_view.editor import SourceEditor, difference, link_at
from app.desktop.theme import ThemeSource
from app.desktop.utf16 import units

_TEXT = st.text(st.sampled_from("ab🧭鄭 \n"), max_size=40)


@pytest.fixture
def editor(qtbot) -> SourceEditor:
    made = SourceEditor(ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    return made


def typed(editor: SourceEditor, text: str) -> str:
    """What is in the editor after `text` and Enter."""
    editor.load(text)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    return editor.toPlainText()


@given(_TEXT, _TEXT)
def test_a_difference_makes_one_text_of_the_other(old: str, new: str) -> None:
    start, end, fresh = difference(old, new)
    assert old[:start] + fresh + old[end:] == new


@given(_TEXT, _TEXT)
def test_a_change_from_outside_is_one_step_of_undo(qapp, old: str, new: str) -> None:
    editor = SourceEditor(ThemeSource("light"))
    editor.load(old)
    editor.become(new)
    assert editor.toPlainText() == new
    if old != new:
        editor.undo()
    assert editor.toPlainText() == old
    editor.deleteLater()


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- one", "- one\n- "),
        ("  * one", "  * one\n  * "),
        ("9. nine", "9. nine\n10. "),
        ("- [x] done 🧭", "- [x] done 🧭\n- [ ] "),
        ("- ", ""),
        ("plain", "plain\n"),
    ],
)
def test_enter_goes_on_with_a_list(editor: SourceEditor, line: str, after: str) -> None:
    assert typed(editor, line) == after


def test_tab_indents_an_item_and_shift_tab_takes_it_back(editor: SourceEditor) -> None:
    editor.load("- one")
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "  - one"
    QTest.keyClick(editor, Qt.Key.Key_Backtab)
    assert editor.toPlainText() == "- one"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_name_is_completed_after_an_emoji(editor: SourceEditor, qtbot) -> None:
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus)
    editor.completion_wanted.connect(lambda wanted: editor.offer(wanted, ["Longitude"]))
    editor.load("🧭 see ")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(editor, "[[Lon")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == "🧭 see [[Longitude]]"
    assert editor.textCursor().atEnd()


@pytest.mark.parametrize(
    ("line", "place", "found"),
    [
        ("🧭 see [[N#H|A]] and", 9, ("note", "N#H|A")),
        ("a [t](dir/N%20M.md#H)", 4, ("address", "dir/N%20M.md#H")),
        ("go https://a.example/x now", 8, ("address", "https://a.example/x")),
        ("with #tag/sub here", 8, ("tag", "tag/sub")),
        ("nothing here", 4, None),
    ],
)
def test_a_link_is_found_under_the_pointer(line: str, place: int, found: tuple[str, str] | None) -> None:
    assert link_at(line[:place], line[place:]) == found


def test_colours_stand_where_the_words_are_behind_an_emoji(editor: SourceEditor) -> None:
    editor.load("🧭🧭 a [[Link]] b")
    spans = editor.document().firstBlock().layout().formats()
    starts = {(span.start, span.length) for span in spans}
    assert (units("🧭🧭 a "), len("[[Link]]")) in starts


def test_colouring_a_long_note_in_slices_is_no_edit(editor: SourceEditor, qtbot) -> None:
    edits = []
    editor.load("# A\n\nwith a [[Link]]\n" * 1500)
    editor.edited.connect(lambda: edits.append(1))
    last = editor.document().lastBlock().previous()
    qtbot.waitUntil(lambda: bool(last.layout().formats()))
    assert not edits
    QTest.keyClicks(editor, "x")
    assert edits == [1]


def test_what_is_typed_after_another_text_was_loaded_is_coloured_at_once(editor: SourceEditor) -> None:
    for _ in range(2):
        editor.load("plain\n\nplain")
        editor.moveCursor(QTextCursor.MoveOperation.End)
        assert not editor.document().lastBlock().layout().formats()
        QTest.keyClicks(editor, " #tag")
        (span,) = editor.document().lastBlock().layout().formats()
        assert (span.start, span.length) == (6, 4)
