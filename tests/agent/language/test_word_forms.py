"""Forms of one word have the same base."""

from __future__ import annotations

import pytest

from app.agent.language.word_forms import is_same_word


@pytest.mark.parametrize(
    ("word", "other", "language"),
    [
        ("repot", "repotted", "en"),
        ("sow", "sown", "en"),
        ("bake", "baking", "en"),
        ("planted", "planting", "en"),
        ("berry", "berries", "en"),
        ("tidy", "tidied", "en"),
        ("box", "boxes", "en"),
        ("water", "watered", "en"),
        ("karte", "karten", "de"),
        ("gieße", "gießen", "de"),
        ("kaufen", "kauft", "de"),
    ],
)
def test_forms_of_one_word_are_the_same_word(word: str, other: str, language: str) -> None:
    assert is_same_word(word, other, language) and is_same_word(other, word, language)


@pytest.mark.parametrize(
    ("word", "other", "language"),
    [
        ("clean", "clear", "en"),
        ("train", "trail", "en"),
        ("read", "ready", "en"),
        ("count", "country", "en"),
        ("art", "artist", "en"),
        ("car", "care", "en"),
        ("plan", "plant", "en"),
        ("corn", "corner", "en"),
        ("haus", "haut", "de"),
        ("karte", "karten", "xx"),
    ],
)
def test_words_that_only_begin_alike_are_different_words(word: str, other: str, language: str) -> None:
    assert not is_same_word(word, other, language) and not is_same_word(other, word, language)
