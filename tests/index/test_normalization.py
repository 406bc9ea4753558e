"""Words are found in any case and script; offsets in folded text are valid in the text."""

from __future__ import annotations

import sqlite3
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from app.index.fulltext import leaf_expression
from app.index.normalization import SEPARATOR, count_words, fold, segment, tokenize, unsegment
from app.index.query_ast import PhraseTerm

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=[SEPARATOR, "\0"]), max_size=60)


@given(TEXT)
def test_folding_preserves_positions(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(TEXT)
def test_separators_are_removed_again(text: str) -> None:
    assert unsegment(segment(text)) == unicodedata.normalize("NFC", text)


def test_letters_without_case_and_accents() -> None:
    assert fold("Éclair ÅNGSTRÖM straße") == "eclair angstrom straße"


def test_scripts_without_spaces_are_words_letter_by_letter() -> None:
    assert tokenize("My 漢字 ノート abc漢def") == ["My", "漢", "字", "ノ", "ー", "ト", "abc", "漢", "def"]
    assert count_words("two words") == 2
    assert count_words("两个 words") == 3


@given(TEXT | st.text(st.characters(max_codepoint=127)))
def test_words_are_counted_as_they_are_found(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assert count_words(text) == len(text.split() if text.isascii() else tokenize(text))


@given(
    st.text(st.sampled_from("漢字かなカナ한국กขab12 -é"), max_size=20), st.integers(0, 19), st.integers(1, 6)
)
def test_any_part_of_a_text_in_such_a_script_is_found(text: str, start: int, length: int) -> None:
    part = "".join(letter for letter in text[start : start + length] if letter in "漢字かなカナ한국กข")
    if not part or part not in text:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'unicode61 remove_diacritics 2')")
    connection.execute("INSERT INTO t VALUES (?)", (segment(text),))
    said = leaf_expression(PhraseTerm(part))
    assert connection.execute("SELECT count(*) FROM t WHERE t MATCH ?", (said,)).fetchone()[0] == 1
    connection.close()
