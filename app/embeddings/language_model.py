"""Language identification with py3langid. Only the worker imports this module; the model takes 75 MB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.embeddings.onnx_model import Vectors


class LanguageIdModel:
    """Identifies the languages of texts; `labels` are the ISO 639 codes of the languages that it knows."""

    def __init__(self) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.labels: tuple[str, ...] = tuple(self._identifier.labels)
        self.dimension = len(self.labels)

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of probabilities per text, in the order of `labels`; `query` is ignored."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        columns = {label: index for index, label in enumerate(self.labels)}
        for row, text in zip(rows, texts, strict=True):
            for label, probability in self._identifier.rank(text):
                row[columns[label]] = probability
        return rows
