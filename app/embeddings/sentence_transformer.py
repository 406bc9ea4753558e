"""Sentence models that run in sentence-transformers, an extra. Only the worker imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.embeddings import EmbedderUnavailableError
from app.embeddings.onnx_model import Vectors

# Chunks fit into this number of word pieces; a longer window would only use more memory.
_MAX_TOKENS = 256
_BATCH_SIZE = 32
MISSING_LIBRARY = (
    "This model needs the Python package sentence-transformers, which was not found. Install it with “pip "
    "install sentence-transformers”, and choose that Python in the settings under Semantic search."
)


class SentenceTransformerModel:
    """Converts texts to unit vectors with the model `name` on the CPU.

    Unless `name` is a folder, the model is downloaded from the Hugging Face Hub on first use.

    Args:
        name: The model's name or folder.
        threads: Processor threads for one batch.

    Raises:
        EmbedderUnavailableError: the extra is not installed, or the model can't be loaded.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderUnavailableError(MISSING_LIBRARY) from error
        torch.set_num_threads(threads)
        try:
            self._model: Any = SentenceTransformer(name, device="cpu")
        except Exception as error:
            # The hub, the file system or a custom configuration can raise anything.
            raise EmbedderUnavailableError(f"The model “{name}” can't be loaded: {error}") from error
        limit = self._model.get_max_seq_length() or _MAX_TOKENS
        transformer = getattr(self._model[0], "auto_model", None)
        positions = getattr(getattr(transformer, "config", None), "max_position_embeddings", limit)
        # Some models could read more than their limit says, and some number positions from two.
        self._model.max_seq_length = min(_MAX_TOKENS, max(limit, positions - 2))
        self.name = name
        self.dimension = int(self.encode(["size"]).shape[1])

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one unit vector per text, shape (n, dimension); text beyond the model's limit is ignored.

        Some models encode a `query` differently.
        """
        encode = self._model.encode_query if query else self._model.encode_document
        vectors = encode(
            list(texts), batch_size=_BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False
        )
        return np.ascontiguousarray(vectors, dtype=np.float32)
