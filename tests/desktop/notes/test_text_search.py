"""Matches are the positions that Qt selects, with any characters around them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from app.desktop.notes.text_search import MAX_MATCHES, TextMatches, find_all, replace_all

_TEXT = st.text(st.sampled_from("abAB 🧭鄭é.*\n"), max_size=60)
_WORDS = st.text(st.sampled_from("abAB 🧭鄭.*"), min_size=1, max_size=3)


@given(_TEXT, _WORDS)
def test_every_match_selects_its_text(qapp, text: str, words: str) -> None:
    document = QTextDocument()
    document.setPlainText(text)
    matches = find_all(document.toRawText(), words, match_case=True)
    assert len(matches.spans) == text.count(words)
    for start, end in matches.spans:
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        assert cursor.selectedText() == words


@given(_TEXT, _WORDS, st.text(st.sampled_from("x\\1🧭"), max_size=3))
def test_replacing_inserts_the_exact_text(text: str, words: str, replacement: str) -> None:
    assert replace_all(text, words, replacement, match_case=True) == (
        text.replace(words, replacement),
        text.count(words),
    )


def test_case_matters_only_on_request() -> None:
    assert len(find_all("Moon moon MOON", "moon", match_case=False).spans) == 3
    assert find_all("Moon moon MOON", "moon", match_case=True).spans == ((5, 9),)


def test_next_and_previous_match_wrap_around() -> None:
    matches = TextMatches(((2, 3), (6, 7)))
    assert (matches.after(0), matches.after(3), matches.after(7)) == (0, 1, 0)
    assert (matches.before(7), matches.before(6), matches.before(2)) == (1, 0, 1)
    assert TextMatches(()).after(0) is None
    assert TextMatches(()).before(9) is None


def test_very_many_matches_are_truncated_and_reported() -> None:
    matches = find_all("a" * (MAX_MATCHES + 5), "a", match_case=True)
    assert len(matches.spans) == MAX_MATCHES
    assert matches.is_truncated
    assert find_all("", "", match_case=True) == TextMatches(())
