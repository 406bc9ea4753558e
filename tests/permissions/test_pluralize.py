"""Numbers agree with their nouns."""

from __future__ import annotations

import pytest

from app.permissions.pluralize import pluralize


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 notes"), (1, "1 note"), (2, "2 notes"), (12345, "12,345 notes")]
)
def test_a_count_agrees_with_its_noun(count, words):
    assert pluralize(count, "note") == words


def test_other_words_may_agree_too():
    assert pluralize(1, "note links", "notes link") == "1 note links"
    assert pluralize(3, "note links", "notes link") == "3 notes link"
