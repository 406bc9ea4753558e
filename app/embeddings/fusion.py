"""One ranking out of two: of what the words of a text find, and what its meaning finds.

`python -m tests.benchmarks.retrieval` compares ways on real notes, English and Chinese.
Words alone beat meaning alone; reciprocal rank fusion loses to both mixtures of scores, since it forgets how
sure each is; best is the sum of the two below, with less say for meaning the less the model knows the script.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TypeVar

from app.embeddings.model_choice import ModelChoice

Key = TypeVar("Key", bound=Hashable)

# How much meaning says against words, at most. Between 0.4 and 0.6 the mean hardly changes.
_SHARE = 0.5
# Cosines between these are stretched to 0 … 1: below, texts have nothing in common but the language.
_UNLIKE, _SAME = 0.2, 0.8
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_OTHER = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
# A word has some four Latin letters, but one or two characters of Chinese or Japanese.
_LETTERS_OF_WORD, _CHARACTERS_OF_WORD = 4.0, 1.5


def blended(
    words: Sequence[tuple[Key, float]], meant: Sequence[tuple[Key, float]], share: float = _SHARE
) -> list[tuple[Key, float]]:
    """The keys of both rankings, best first, each with its score, 0 to 1.

    Args:
        words: Found by words, best first; the scores (BM25) count in proportion to the first.
        meant: Found by meaning; the scores are cosines.
        share: How much meaning says, 0 to 1; words say the rest.
    """
    scores: dict[Key, float] = {}
    best = max((score for _, score in words), default=0.0)
    for key, score in words:
        scores[key] = (1.0 - share) * (score / best if best > 0 else 1.0)
    for key, cosine in meant:
        stretched = min(1.0, max(0.0, (cosine - _UNLIKE) / (_SAME - _UNLIKE)))
        scores[key] = scores.get(key, 0.0) + share * stretched
    # Equal sums keep the order in which the keys came.
    return sorted(scores.items(), key=lambda one: -one[1])


def share_of_meaning(text: str, model: ModelChoice) -> float:
    """How much the meaning of `text` should say, judged by how much of it is in a script the model knows."""
    if not model.is_shipped:
        return _SHARE
    latin = len(_LATIN.findall(text)) / _LETTERS_OF_WORD
    other = len(_OTHER.findall(text)) / _CHARACTERS_OF_WORD
    return _SHARE * latin / (latin + other) if latin or other else _SHARE
