"""A cross-encoder of natural language inference, by sentence-transformers: does one text bear out another?

Loaded by the worker only, where the extra is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.embeddings import EmbedderUnavailable
from app.embeddings.onnx_model import Vectors
from app.embeddings.sentence_transformer import MISSING_LIBRARY

LABELS = ("contradiction", "entailment", "neutral")
_MAX_TOKENS = 256
_BATCH_SIZE = 16


class CrossEncoderModel:
    """Judges pairs of texts by the model `name`, on the processor, on `threads` threads.

    A name that is not a folder is fetched from the Hugging Face hub the first time.

    Raises:
        EmbedderUnavailable: the extra is not installed, there is no such model, or it has other labels.
    """

    dimension = len(LABELS)

    def __init__(self, name: str, threads: int = 1) -> None:
        try:
            import torch
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise EmbedderUnavailable(MISSING_LIBRARY) from error
        torch.set_num_threads(threads)
        try:
            self._model: Any = CrossEncoder(name, device="cpu")
            config = self._model.config
        except Exception as error:
            # Whatever the hub, the file system or a foreign configuration can raise.
            raise EmbedderUnavailable(f"The cross-encoder “{name}” can't be loaded: {error}") from error
        places = {str(label).casefold(): int(place) for place, label in config.id2label.items()}
        if not set(LABELS) <= set(places):
            raise EmbedderUnavailable(
                f"“{name}” is no cross-encoder for relations: it tells {', '.join(places)}, not "
                f"{', '.join(LABELS)}. Choose one of natural language inference."
            )
        self._columns = [places[label] for label in LABELS]
        positions = getattr(config, "max_position_embeddings", 0)
        tokenizer = self._model.tokenizer
        # Some models start counting positions at two.
        tokenizer.model_max_length = min(
            _MAX_TOKENS, tokenizer.model_max_length, positions - 2 if positions > 2 else _MAX_TOKENS
        )
        self._raw = torch.nn.Identity()

    def judge(self, pairs: Sequence[Sequence[str]]) -> Vectors:
        """The probabilities of `LABELS` in this order, float32 (n, 3), of premises with their hypotheses."""
        scores = self._model.predict(
            [tuple(pair) for pair in pairs],
            batch_size=_BATCH_SIZE,
            show_progress_bar=False,
            activation_fn=self._raw,
            apply_softmax=True,
        )
        return np.ascontiguousarray(np.asarray(scores)[:, self._columns], dtype=np.float32)
