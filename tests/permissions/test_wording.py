"""Numbers agree with their nouns."""

from __future__ import annotations

import pytest

from app.permissions.wording import counted


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 notes"), (1, "1 note"), (2, "2 notes"), (12345, "12,345 notes")]
)
def test_a_count_agrees_with_its_noun(count, words):
    assert counted(count, "note") == words


def test_other_words_may_agree_too():
    assert counted(1, "note links", "notes link") == "1 note links"
    assert counted(3, "note links", "notes link") == "3 notes link"
