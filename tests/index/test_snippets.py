"""Snippets of notes found by meaning."""

from __future__ import annotations

import pytest

from app.index.records import Snippet
from app.index.snippets import MAX_SNIPPET_CHARS, opening_snippet


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Tea is hot.\nMore.", (1, "Tea is hot.")),
        ("---\ntags: [tea]\n---\n\n# Tea\n\r\n  Hot\twater.\r\n", (7, "Hot water.")),
        ("x" * 9000, (1, "x" * MAX_SNIPPET_CHARS)),
    ],
)
def test_the_opening_is_the_first_line_with_text(text: str, wanted: tuple[int, str]) -> None:
    assert opening_snippet(text) == (Snippet(*wanted, ()),)


@pytest.mark.parametrize("text", ["", "---\ntags: [tea]\n---\n", "# Tea\n\n## Green\n", "\n" * 9000])
def test_a_note_without_text_has_no_opening(text: str) -> None:
    assert opening_snippet(text) == ()
