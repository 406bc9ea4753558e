"""The shipped sentence model, all-MiniLM-L6-v2 in 8-bit integers, by onnxruntime. Loaded by the worker only.

onnxruntime was chosen over sentence-transformers: the same vectors, 0.2 s to load instead of 13 s, and no
torch in the bundle. The graph itself pools and normalises, so what comes out are unit vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.embeddings import EmbedderUnavailable

Vectors = npt.NDArray[np.float32]


class OnnxModel:
    """Turns texts into unit vectors, on `threads` threads.

    Args:
        folder: Holds `model.onnx`, `tokenizer.json` and `manifest.json` with the SHA-256 of both.
        threads: Processor threads for one batch.

    Raises:
        EmbedderUnavailable: a file is missing, or is not the one that the manifest names.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        manifest = check_files(folder)
        # Heavy, and needed by this process only.
        import onnxruntime
        from tokenizers import Tokenizer

        self.name = str(manifest["name"])
        self.dimension = int(manifest["dimension"])
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """One unit vector per text, shape (n, dimension); what is beyond 256 word pieces is not seen.

        A question and a note are the same to this model, so `query` makes no difference.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        codes = self._tokenizer.encode_batch(list(texts))
        feed = {
            "input_ids": np.array([code.ids for code in codes], dtype=np.int64),
            "attention_mask": np.array([code.attention_mask for code in codes], dtype=np.int64),
        }
        (vectors,) = self._session.run(None, feed)
        return np.ascontiguousarray(vectors, dtype=np.float32)


def check_files(folder: Path) -> dict[str, Any]:
    """The manifest of the model at `folder`, after checking the hash of every file it names.

    Raises:
        EmbedderUnavailable: a file is missing, unreadable, or another than the manifest names.
    """
    try:
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name, expected in manifest["files"].items():
            if _sha256(folder / name) != expected:
                raise EmbedderUnavailable(f"The sentence model's {name} is damaged.", folder=str(folder))
    except (OSError, ValueError, KeyError) as error:
        raise EmbedderUnavailable(f"The sentence model is not there: {error}", folder=str(folder)) from error
    return manifest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
