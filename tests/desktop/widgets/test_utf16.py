"""Conversion between the text offsets of Qt and Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from app.desktop.widgets.utf16 import from_utf16_offset, text_around_cursor, to_utf16_offset, utf16_length

_QT_SEPARATORS = "\u2028\u2029\ufdd0\ufdd1"
_BYTE_ORDER_MARKS = "\ufeff\ufffe"
"""Qt drops a byte order mark at the start of a text."""
_LINES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=_QT_SEPARATORS + _BYTE_ORDER_MARKS)
)


@given(_LINES)
def test_utf16_length_matches_the_encoding(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2


@given(_LINES, st.data())
def test_positions_round_trip(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    assert from_utf16_offset(text, to_utf16_offset(text, index)) == index


@given(_LINES, st.data())
def test_text_around_the_cursor_is_its_line(qapp, text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    document = QTextDocument(text)
    cursor = QTextCursor(document)
    cursor.setPosition(to_utf16_offset(text, index))
    before, after = text_around_cursor(cursor)
    assert before + after == document.firstBlock().text()
    assert cursor.positionInBlock() == utf16_length(before)
