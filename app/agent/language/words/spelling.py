"""Similarity of words, and correction of misspelled ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

MIN_FUZZY_LENGTH = 4
"""Words of fewer letters are not compared with similar ones."""
_START_SIMILARITY = 96.0
_LONG_WORD = 8


def name_similarity(key: str, name: str) -> float:
    """Return the similarity of `key` to a name, 0 to 100: of all letters, or of each word of `key`."""
    letters = fuzz.ratio(key, name)
    words, known = key.split(), name.split()
    by_words = 0.0
    if known and (len(words) > 1 or len(key) >= MIN_FUZZY_LENGTH):
        by_words = min(max(word_similarity(word, other) for other in known) for word in words)
    return max(letters, by_words * 0.9 + letters * 0.05)


def word_similarity(word: str, other: str) -> float:
    """Return the similarity of two words, 0 to 100; a prefix counts almost as much as the whole word."""
    is_start = len(word) >= MIN_FUZZY_LENGTH and other.startswith(word)
    return max(fuzz.ratio(word, other), _START_SIMILARITY if is_start else 0.0)


def correct_spelling(word: str, known: Collection[str], endings: Sequence[str] = ()) -> str | None:
    """Return the known word that `word` misspells, or None.

    Words that differ only in their ending ("note", "notes") are different words, not misspellings.
    """
    if len(word) < MIN_FUZZY_LENGTH or not word.isalpha() or word in known:
        return None
    max_distance = max_misspelling(word)
    best: tuple[int, int, str] | None = None
    for other in known:
        if abs(len(other) - len(word)) > max_distance or len(other) < MIN_FUZZY_LENGTH:
            continue
        longer, shorter = (other, word) if len(other) > len(word) else (word, other)
        if longer.startswith(shorter) and longer[len(shorter) :] in endings and longer[-1:] != shorter[-1:]:
            continue
        distance = OSA.distance(word, other, score_cutoff=max_distance)
        if distance > max_distance:
            continue
        # A missing letter is likelier than a wrong one: "taks" is "tasks" rather than "tags".
        wrong = sum((Counter(word) - Counter(other)).values())
        if best is None or (distance, wrong, other) < best:
            best = (distance, wrong, other)
    return best[2] if best else None


def max_misspelling(word: str) -> int:
    """Return the number of letters in which a misspelling of a word may differ."""
    return 1 if len(word) < _LONG_WORD else 2
