"""A note edited in the editor keeps every byte that was not edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QPlainTextEdit

from app.desktop.notes.newlines import for_editor, from_editor

# `editable` distinguishes the characters that have a special meaning in Qt documents.
_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufdd0\ufdd1\ufffc")
_TEXTS = st.lists(st.one_of(_CHARACTERS, st.sampled_from(["\r\n", "\n", "\r", "\u2029", "\u00a0", "\u2028"])))


@given(_TEXTS.map("".join))
def test_unedited_text_comes_back_as_it_was(qapp, text):
    editor = QPlainTextEdit()
    editor.setPlainText(for_editor(text))
    assert from_editor(editor.document().toRawText(), text) == text


def test_only_the_edited_line_changes_in_a_note_with_mixed_line_ends(qtbot):
    text = "one\r\ntwo\nthree\r\nfour\u00a0five\r"
    editor = QPlainTextEdit()
    qtbot.addWidget(editor)
    editor.setPlainText(for_editor(text))
    cursor = editor.textCursor()
    cursor.movePosition(cursor.MoveOperation.Down)
    cursor.insertText("2: ")
    expected = "one\r\n2: two\nthree\r\nfour\u00a0five\r"
    assert from_editor(editor.document().toRawText(), text) == expected


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("one\ntw\no\nthree\nfour\n", "one\r\ntw\r\no\nthree\r\nfour\r\n"),
        ("one\nnew\ntwo\nthree\nfour\n", "one\r\nnew\r\ntwo\nthree\r\nfour\r\n"),
        ("onetwo\nthree\nfour\n", "onetwo\nthree\r\nfour\r\n"),
        ("ONE\nTWO\nTHREE\nFOUR\n", "ONE\r\nTWO\nTHREE\r\nFOUR\r\n"),
        ("two\nfour", "two\nfour"),
        ("", ""),
    ],
)
def test_an_edited_line_keeps_its_line_end(edited: str, expected: str) -> None:
    raw = edited.replace("\n", "\u2029")
    assert from_editor(raw, "one\r\ntwo\nthree\r\nfour\r\n") == expected


def test_a_new_line_gets_the_usual_line_end():
    assert from_editor("a\u2029new\u2029b\u2029", "a\r\nb\r\n") == "a\r\nnew\r\nb\r\n"
