"""A cross-encoder for natural language inference that runs on sentence-transformers.

Only the worker imports this module, and only with the extra installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.embeddings import EmbedderUnavailableError
from app.embeddings.onnx_model import Vectors
from app.embeddings.sentence_transformer import MISSING_LIBRARY

LABELS = ("contradiction", "entailment", "neutral")
_MAX_TOKENS = 256
_BATCH_SIZE = 16


class CrossEncoderModel:
    """Classifies pairs of texts with the model `name` on the CPU with `threads` threads.

    Unless `name` is a folder, the model is downloaded from the Hugging Face Hub on first use.

    Raises:
        EmbedderUnavailableError: The extra is not installed, or the model can't be loaded or has other
            labels.
    """

    dimension = len(LABELS)

    def __init__(self, name: str, threads: int = 1) -> None:
        try:
            import torch
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise EmbedderUnavailableError(MISSING_LIBRARY) from error
        torch.set_num_threads(threads)
        try:
            self._model: Any = CrossEncoder(name, device="cpu")
            config = self._model.config
        except Exception as error:
            # The hub, the file system or a custom configuration can raise anything.
            raise EmbedderUnavailableError(f"The cross-encoder “{name}” can't be loaded: {error}") from error
        columns = {str(label).casefold(): int(index) for index, label in config.id2label.items()}
        if not set(LABELS) <= set(columns):
            raise EmbedderUnavailableError(
                f"“{name}” is not a cross-encoder for relations: its labels are {', '.join(columns)}, not "
                f"{', '.join(LABELS)}. Choose one for natural language inference."
            )
        self._columns = [columns[label] for label in LABELS]
        positions = getattr(config, "max_position_embeddings", 0)
        tokenizer = self._model.tokenizer
        # Some models number positions from two.
        tokenizer.model_max_length = min(
            _MAX_TOKENS, tokenizer.model_max_length, positions - 2 if positions > 2 else _MAX_TOKENS
        )
        self._identity = torch.nn.Identity()

    def classify(self, pairs: Sequence[Sequence[str]]) -> Vectors:
        """Return the probabilities of `LABELS`, float32 (n, 3), for pairs of premise and hypothesis."""
        scores = self._model.predict(
            [tuple(pair) for pair in pairs],
            batch_size=_BATCH_SIZE,
            show_progress_bar=False,
            activation_fn=self._identity,
            apply_softmax=True,
        )
        return np.ascontiguousarray(np.asarray(scores)[:, self._columns], dtype=np.float32)
