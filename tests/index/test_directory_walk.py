from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.index.directory_walk import Exclusion
from app.vault.path import NotePath


@pytest.mark.parametrize(
    ("glob", "path", "excluded"),
    [
        ("Templates", "a/templates/b/x.md", True),
        ("/Templates/", "a/Templates/x.md", True),
        ("Templates", "Templates.md", False),
        ("Archive/**", "Archive/2020/x.md", True),
        ("Archive/*", "Archive/2020/x.md", True),
        ("Archive/*", "more/Archive/x.md", False),
        ("*.draft", "book.draft/one/x.md", True),
        ("{a,b}/x.*", "b/x.md", True),
        ("Journal/202?", "Journal/2024/x.md", True),
        ("Journal/[!a]*", "Journal/a.md", False),
        ("Caf\u00e9", "Cafe\u0301/x.md", True),
        ("", "x.md", False),
    ],
)
def test_an_excluded_glob_excludes_what_is_below(glob, path, excluded):
    assert Exclusion([glob]).excludes(NotePath(path)) is excluded


@given(
    st.lists(st.text("ab*?/.", min_size=1, max_size=6), max_size=3),
    st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join),
)
def test_a_change_is_excluded_just_as_a_walk_excludes_it(globs, path):
    exclusion = Exclusion(globs)
    parts = path.split("/")
    walked_past = any("/".join(parts[: end + 1]) in exclusion for end in range(len(parts)))
    assert exclusion.excludes(NotePath(path)) is (walked_past or NotePath(path).is_hidden)
