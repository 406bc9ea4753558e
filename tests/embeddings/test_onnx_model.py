"""The shipped model gives the published model's vectors, and loads only files with the right hashes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from app import paths
from app.embeddings import EmbedderUnavailableError
from app.embeddings.onnx_model import OnnxModel

FOLDER = paths.resources_folder() / "models" / "all-MiniLM-L6-v2-int8"
REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model() -> OnnxModel:
    return OnnxModel(FOLDER)


def test_vectors_are_those_of_the_unquantized_model(model: OnnxModel) -> None:
    wanted = np.array([sample["vector"] for sample in REFERENCE])
    alone = np.concatenate([model.encode([sample["text"]]) for sample in REFERENCE])
    together = model.encode([sample["text"] for sample in REFERENCE])
    assert ((alone * wanted).sum(axis=1)).min() > 0.98
    assert ((together * wanted).sum(axis=1)).min() > 0.97


def test_near_texts_stay_nearest(model: OnnxModel) -> None:
    """Quantization must not change which text is most similar to another."""
    wanted = np.array([sample["vector"] for sample in REFERENCE])
    vectors = model.encode([sample["text"] for sample in REFERENCE])
    for scores, true in zip(vectors @ wanted.T, wanted @ wanted.T, strict=True):
        assert scores.argmax() == true.argmax()


def test_vectors_have_unit_length(model: OnnxModel) -> None:
    vectors = model.encode(["", "word", "many words " * 500])
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_no_vectors(model: OnnxModel) -> None:
    assert model.encode([]).shape == (0, 384)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(FOLDER, tmp_path / "model")
    with (tmp_path / "model" / name).open("r+b") as file:
        file.seek(1000)
        old = file.read(1)
        file.seek(1000)
        file.write(bytes([old[0] ^ 1]))
    with pytest.raises(EmbedderUnavailableError, match=name):
        OnnxModel(tmp_path / "model")


def test_a_missing_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailableError, match="can't be read"):
        OnnxModel(tmp_path)
