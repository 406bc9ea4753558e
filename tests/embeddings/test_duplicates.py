"""Edited copies are near-duplicates; notes with the same template or subject are not."""

from __future__ import annotations

import numpy as np

from app.embeddings.duplicates import near_duplicates
from app.embeddings.vector_table import NoteVectors
from app.vault.path import NotePath

ESSAY = "\n".join(f"Sentence {n} of an essay on how bread is made, with {n * 7} details." for n in range(12))
TEXTS = {
    "a essay.md": ESSAY,
    "b copy.md": ESSAY,
    "c edited.md": ESSAY.replace("Sentence 3 ", "The third sentence ") + "\nAnd a last line.",
    "d other.md": "\n".join(f"Line {n}: quite another story about bread and its bakers." for n in range(12)),
    "e template.md": "Rating:\nSeen on:",
    "f template.md": "Rating:\nSeen on:",
}


def _vectors(alike: bool = True) -> NoteVectors:
    paths = tuple(NotePath.parse(name) for name in TEXTS)
    generator = np.random.default_rng(1)
    middle = generator.normal(size=16)
    rows = [middle + 0.01 * generator.normal(size=16) if alike else generator.normal(size=16) for _ in paths]
    matrix = np.array(rows, dtype=np.float32)
    return NoteVectors(paths, matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


def test_copies_and_edited_copies_are_found_with_what_differs() -> None:
    found = near_duplicates(_vectors(), lambda path: TEXTS[str(path)])
    pairs = [(pair.first.name, pair.second.name, pair.only_first, pair.only_second) for pair in found]
    assert sorted(pairs) == [
        ("a essay", "b copy", 0, 0),
        ("a essay", "c edited", 1, 2),
        ("b copy", "c edited", 1, 2),
    ]
    assert found[0].is_exact and found[0].word_similarity == 1.0 and not found[1].is_exact


def test_long_notes_with_different_ends_are_not_exact_duplicates() -> None:
    long_text = "\n".join([ESSAY] * 40)
    texts = {"a essay.md": long_text, "b copy.md": f"{long_text}\nA last line."}
    (pair,) = near_duplicates(_vectors(), lambda path: texts.get(str(path)))
    assert not pair.is_exact and (pair.only_first, pair.only_second) == (0, 1)


def test_texts_of_other_meaning_are_not_even_read() -> None:
    read: list[NotePath] = []

    def body(path: NotePath) -> str:
        read.append(path)
        return TEXTS[str(path)]

    assert near_duplicates(_vectors(alike=False), body) == ()
    assert not read


def test_the_search_can_be_stopped_and_tolerates_missing_notes() -> None:
    assert near_duplicates(_vectors(), lambda path: TEXTS[str(path)], lambda: True) == ()
    assert near_duplicates(_vectors(), lambda path: None) == ()
    empty = NoteVectors((), np.zeros((0, 16), np.float32))
    assert near_duplicates(empty, lambda path: "") == ()
