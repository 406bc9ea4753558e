"""Conversion of plain words in a query to a semantic filter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import QueryError
from app.index.query import parse
from app.index.query_ast import And, SimilarityFilter, walk_nodes
from app.index.semantic_query import to_semantic_query


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("how bread rises", 'similar:"how bread rises"'),
        ("Bread", 'similar:"Bread"'),
        ('"free will" choice', 'similar:"free will choice"'),
        ("tag:idea bread rises", 'similar:"bread rises" tag:idea '),
        ("bread OR cake", 'similar:"bread cake"'),
        ("bread -tag:done", 'similar:"bread" -tag:done '),
        ("bread -cake", 'similar:"bread" -cake*'),
        ("tag:idea", "tag:idea"),
        ("", ""),
        ("  ", "  "),
    ],
)
def test_plain_words_are_searched_by_meaning_and_filters_stay(query: str, wanted: str) -> None:
    assert to_semantic_query(query) == wanted


def test_an_invalid_query_is_an_error() -> None:
    with pytest.raises(QueryError):
        to_semantic_query("bread (")


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1))
def test_the_semantic_query_contains_every_word(words: list[str]) -> None:
    node = parse(to_semantic_query(f"path:Notes {' '.join(words)}"))
    assert isinstance(node, And)
    (meant,) = [part for part in walk_nodes(node) if isinstance(part, SimilarityFilter)]
    assert meant.text.split() == words and len(node.items) == 2
