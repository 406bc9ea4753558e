"""TF-IDF similarity of texts, used when no embeddings are available."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Function words show the structure of a sentence, not its subject.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can did do does for from had has have he her his i if in into is"
        " it its may more most my no not of on one only or our she so some such than that the their them then"
        " there these they this those to up was we were what when where which who will with would you your"
        " der die das und ist ein eine zu den mit von auf im nicht es le la les de des et un une en du est el"
        " los las y que",
    )
)


def content_words(text: str) -> list[str]:
    """Return the content words, casefolded and without a plural s; CJK words as pairs of characters.

    Other one-letter words are left out.
    """
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if _CJK.search(word):
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        elif word not in STOP_WORDS and len(word) > 1:
            words.append(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return words


def tfidf_similarity(texts: Sequence[str]) -> Matrix:
    """Return the TF-IDF cosine of each pair of texts, float64 (n, n), 0 to 1.

    The diagonal is 0 for a text without words.
    """
    counted = [Counter(content_words(text)) for text in texts]
    text_counts = Counter(word for counts in counted for word in counts)
    column = {word: at for at, word in enumerate(text_counts)}
    rows = np.zeros((len(texts), max(1, len(column))))
    for row, counts in enumerate(counted):
        for word, count in counts.items():
            rarity = 1 + math.log((1 + len(texts)) / (1 + text_counts[word]))
            rows[row, column[word]] = (1 + math.log(count)) * rarity
    return cosine_matrix(rows)


def cosine_matrix(rows: NDArray[np.floating]) -> Matrix:
    """Return the cosine of each pair of rows, float64 (n, n), 0 to 1; negative ones become 0."""
    vectors = np.asarray(rows, dtype=np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return np.asarray(np.clip(unit @ unit.T, 0.0, 1.0))
