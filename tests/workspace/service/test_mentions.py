"""A mention is shown as part of its line; the link is created at its position in the whole line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ConflictError
from app.index.mention_links import linked_line, mention_span, table_lines
from app.index.records import Mention
from app.index.text_matcher import shorten
from app.vault.path import NotePath

A = NotePath.parse("A.md")


@given(st.text("ab …", max_size=150), st.text("ab …", max_size=150), st.integers(20, 80))
def test_a_mention_is_located_at_the_name(before: str, after: str, width: int) -> None:
    line = f"{before}Longitude{after}"
    shown, places = shorten(line, [(len(before), len(before) + 9)], width)
    start, end = mention_span(Mention(A, 1, shown, *places[0]), line)
    assert line[start:end] == "Longitude"


def test_a_line_that_was_changed_is_left_alone() -> None:
    with pytest.raises(ConflictError):
        mention_span(Mention(A, 1, "of Longitude", 3, 12), "something else")


def test_mentions_become_links_also_in_a_table() -> None:
    line = "| Tea and tea |"
    mentions = [Mention(A, 1, line, 2, 5), Mention(A, 1, line, 10, 13)]
    assert linked_line(line, mentions, "Tea") == "| [[Tea]] and [[Tea\\|tea]] |"


def test_a_row_of_a_table_need_not_start_with_a_bar() -> None:
    text = "a | b\n\nName | Note\n---- | ----\ngreen tea | good\nplain tea\n\ntea | no table\n"
    assert table_lines(text) == {3, 4, 5, 6}
    mention = Mention(A, 5, "green tea | good", 6, 9)
    assert linked_line(mention.text, [mention], "Tea", in_table=True) == "green [[Tea\\|tea]] | good"
