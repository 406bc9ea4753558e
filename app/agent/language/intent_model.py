"""Intent classifier: a linear model over the words of a request, trained on examples.

The grammar reads requests whose words it knows; this model ranks the actions for all others. Names from the
vault are masked by their kind ("chuck out {note}"), so the model learns how people ask, not what they ask
about. `packaging/train_intents.py` trains it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.agent.language.mentions import EntityMention
from app.paths import resources_folder

BUCKETS = 1 << 13
TOPIC_SLOT = "{topic}"
MODEL_FILE = "intents.npz"


def mask_words(mentions: Iterable[EntityMention], known: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a request, with mentions replaced by their kinds and unknown words by `{topic}`.

    Args:
        mentions: The request's mentions, in order.
        known: The words that the model was trained on.
    """
    words: list[str] = []
    for mention in mentions:
        if mention.kind == "word":
            word = mention.tokens[0].key
            word = word if word in known else TOPIC_SLOT
        else:
            word = f"{{{mention.kind}}}"
        if not (words and word == words[-1] == TOPIC_SLOT):
            words.append(word)
    return tuple(words)


def features(words: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the hashed features of masked words: words, n-grams, pairs with a gap, and the beginning."""
    padded = ("<", *words, ">")
    names = {f"1{word}" for word in words}
    names |= {f"2{first} {second}" for first, second in pairwise(padded)}
    names |= {f"3{first} {second}" for first, second in zip(padded, padded[2:], strict=False)}
    names |= {f"4{' '.join(padded[position : position + 3])}" for position in range(len(padded) - 2)}
    names |= {f"5{word}" for word in words[:2]}
    names.add(f"6{min(len(words), 9)}")
    names.add(f"7{' '.join(sorted({word for word in words if word.startswith('{')}))}")
    return np.array(sorted({zlib.crc32(name.encode()) % BUCKETS for name in names}), dtype=np.int64)


class IntentModel:
    """The trained model.

    Args:
        path: The model file.

    Attributes:
        labels: The actions that it distinguishes, with an optional detail after a dot ("undo.today").
        words: The words that it knows.
        sources: The SHA-256 of its training files, by name.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path) as data:
            head = json.loads(bytes(data["head"]).decode())
            self.labels: tuple[str, ...] = tuple(head["labels"])
            self.words = frozenset(head["words"])
            self.sources: dict[str, str] = head["sources"]
            self._weights: npt.NDArray[np.int8] = data["weights"]
            self._scales: npt.NDArray[np.float32] = data["scales"]
            self._bias: npt.NDArray[np.float32] = data["bias"]

    def rank(self, mentions: Iterable[EntityMention]) -> list[tuple[str, float]]:
        """Return the actions with their probabilities, most likely first."""
        found = features(mask_words(mentions, self.words))
        sums = self._weights[found].sum(axis=0, dtype=np.int32)
        logits = sums * self._scales / np.sqrt(len(found)) + self._bias
        odds = np.exp(logits - logits.max())
        odds /= odds.sum()
        order = np.argsort(-odds, kind="stable")
        return [(self.labels[position], float(odds[position])) for position in order]


@cache
def intent_model() -> IntentModel:
    """Return the model that ships with the app."""
    return IntentModel(resources_folder() / "language" / MODEL_FILE)
