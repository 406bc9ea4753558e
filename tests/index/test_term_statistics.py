"""Statistics of a query's words in the notes."""

from __future__ import annotations

import sqlite3

import pytest

from app.index import term_statistics as module
from app.index.term_statistics import TermStatistics, term_statistics
from app.vault.path import NotePath
from tests.index.conftest import MakeVault


@pytest.fixture
def connection():
    made = sqlite3.connect(":memory:")
    made.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    texts = ["bread and butter", "bread with salt", "salt marsh", "\x1f日\x1f本\x1f"]
    made.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts, 1))
    yield made
    made.close()


def test_words_are_counted_once_whatever_their_case(connection) -> None:
    found = term_statistics(connection, "words", 'Bread bread "salt" yeast', 4, 2)
    assert found == TermStatistics(4, ("bread", "salt", "yeast"), (2, 2, 0), (True, True, False))


def test_the_texts_with_all_words_are_counted_up_to_a_limit(connection, monkeypatch) -> None:
    assert term_statistics(connection, "words", "bread", 4, None).with_all == 2
    assert term_statistics(connection, "words", "bread and salt", 4, None).with_all == 0
    assert term_statistics(connection, "words", 'with "bread salt', 4, None).with_all == 1
    monkeypatch.setattr(module, "_MAX_JOINT_ROWS", 1)
    assert term_statistics(connection, "words", "bread", 4, None).with_all == 1


def test_a_text_is_named_by_words_that_all_stand_in_its_names() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE notes USING fts5 (name, aliases, text)")
    connection.execute("INSERT INTO notes VALUES ('Rye bread', 'Sourdough', 'with salt')")
    for text, is_named in (("bread rye", True), ("sourdough bread", True), ("rye salt", False)):
        assert term_statistics(connection, "notes", text, 1, 1, "name aliases").is_named == is_named
    assert not term_statistics(connection, "notes", "bread rye", 1, 1).is_named
    connection.close()


def test_rarer_words_weigh_more(connection) -> None:
    found = term_statistics(connection, "words", "bread butter yeast", 4, 1)
    bread, butter, yeast = found.weights
    assert bread < butter < yeast
    assert found.covered == pytest.approx((bread + butter) / (bread + butter + yeast))


def test_short_words_weigh_less(connection) -> None:
    a, butter = term_statistics(connection, "words", "an butter", 4, 1).weights
    assert a < butter


def test_without_words_or_hits_nothing_is_covered(connection) -> None:
    assert term_statistics(connection, "words", "…", 4, None) == TermStatistics(4)
    assert TermStatistics().covered == 0.0
    assert term_statistics(connection, "words", "bread", 4, None).covered == 0.0


def test_a_frequent_word_is_counted_by_extrapolation(connection, monkeypatch) -> None:
    monkeypatch.setattr(module, "_MAX_COUNTED_ROWS", 1)
    assert term_statistics(connection, "words", "salt", 4, 3).frequencies == (2,)


def test_letters_of_scripts_without_spaces_are_words(connection) -> None:
    assert term_statistics(connection, "words", "日本", 4, 4).frequencies == (1, 1)


async def test_a_heading_of_the_best_hit_counts_as_a_name(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {"Rye.md": "# Rye\n\n## Feeding the starter\n\nDaily.\n", "Oats.md": "The starter.\n"}
    )
    index, best = vault.index, NotePath("Rye.md")
    assert (await index.term_statistics("feeding the starter", best)).is_named
    assert not (await index.term_statistics("daily starter", best)).is_named
