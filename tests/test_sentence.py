from __future__ import annotations

import pytest

from app.sentence import as_sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the file is too large", "The file is too large."),
        (" Already a sentence. ", "Already a sentence."),
        ("the disk is full...", "The disk is full."),
        ("", ""),
        (" ", ""),
    ],
)
def test_a_phrase_becomes_a_sentence(text: str, expected: str) -> None:
    assert as_sentence(text) == expected
