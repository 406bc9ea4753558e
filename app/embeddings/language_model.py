"""Which languages texts are in, by py3langid. Loaded by the worker only: it takes 75 MB while it is there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.embeddings.onnx_model import Vectors


class LanguageIdModel:
    """Rates texts: a row has the likelihood of each of `labels`, ISO 639 codes of languages."""

    def __init__(self) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.labels: tuple[str, ...] = tuple(self._identifier.labels)
        self.dimension = len(self.labels)

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """One row per text, shape (n, dimension); `query` makes no difference."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        column = {label: at for at, label in enumerate(self.labels)}
        for row, text in zip(rows, texts, strict=True):
            for label, likelihood in self._identifier.rank(text):
                row[column[label]] = likelihood
        return rows
