"""The app's own sentence models (English, multilingual) in onnxruntime. Only the worker loads them.

onnxruntime was chosen over sentence-transformers: the same vectors, 0.2 s to load instead of 13 s, and no
torch in the bundle. The graph includes pooling and normalization, so its outputs are unit vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.embeddings import EmbedderUnavailableError

Vectors = npt.NDArray[np.float32]


class OnnxModel:
    """Converts texts to unit vectors.

    Args:
        folder: Contains `model.onnx`, `tokenizer.json` and `manifest.json` with the model's name and
            dimension, the SHA-256 of both files and, if the model needs them, the `prefixes` and `centers` of
            queries and passages.
        threads: Processor threads for one batch.

    Raises:
        EmbedderUnavailableError: a file is missing, unreadable, or does not match the manifest.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        manifest = check_files(folder)
        # Heavy imports, needed only in the worker.
        import onnxruntime
        from tokenizers import Tokenizer

        self.name = str(manifest["name"])
        self.dimension = int(manifest["dimension"])
        self._prefixes: dict[str, str] = manifest.get("prefixes", {})
        self._centers = {
            kind: np.array(center, dtype=np.float32) for kind, center in manifest.get("centers", {}).items()
        }
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one unit vector per text, shape (n, dimension); text beyond 256 word pieces is ignored.

        With `query`, the texts are encoded as queries if the manifest distinguishes them from passages. The
        manifest's centers, if any, are subtracted: unrelated texts then have a cosine near 0, as the app's
        thresholds expect, even if all vectors of the model point in nearly the same direction.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        kind = "query" if query else "passage"
        prefix = self._prefixes.get(kind, "")
        codes = self._tokenizer.encode_batch([f"{prefix}{text}" for text in texts])
        feed = {
            "input_ids": np.array([code.ids for code in codes], dtype=np.int64),
            "attention_mask": np.array([code.attention_mask for code in codes], dtype=np.int64),
        }
        (vectors,) = self._session.run(None, feed)
        if (center := self._centers.get(kind)) is not None:
            vectors = vectors - center
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.ascontiguousarray(vectors, dtype=np.float32)


def check_files(folder: Path) -> dict[str, Any]:
    """Check the hashes of a model's files and return its manifest.

    Raises:
        EmbedderUnavailableError: a file is missing, unreadable, or does not match the manifest.
    """
    try:
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name, expected in manifest["files"].items():
            if sha256_of(folder / name) != expected:
                raise EmbedderUnavailableError(f"The sentence model's {name} is damaged.", folder=str(folder))
    except (OSError, ValueError, KeyError) as error:
        raise EmbedderUnavailableError(
            f"The sentence model can't be read: {error}", folder=str(folder)
        ) from error
    return manifest


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
