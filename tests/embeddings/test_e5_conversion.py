"""The conversion of the multilingual model keeps the package's values and is reproducible."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from app.embeddings import e5_conversion
from app.embeddings.e5_conversion import ConversionError, Source
from app.embeddings.onnx_model import OnnxModel
from tests.embeddings.tiny_e5 import HEADS, HIDDEN, INNER, LAYERS, PIECES, tiny_weights

pytest.importorskip("onnx")

TEXTS = ["a cat", "Katze cats & dogs", "x", "", "no such character: 知"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    (made / "weights.bin").write_bytes(tiny_weights())
    e5_conversion.convert(made / "weights.bin", made)
    return made


def test_two_conversions_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    steps: list[float] = []
    e5_conversion.convert(folder / "weights.bin", tmp_path, steps.append)
    for name in ("model.onnx", "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert steps == sorted(steps)
    assert steps[-1] == 1.0


def test_the_graph_computes_what_the_weights_say(folder: Path) -> None:
    """The reference uses the unpacked numbers in 32 bits, so only rounding of the activations differs."""
    source = e5_conversion.parse(tiny_weights())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    codes = tokenizer.encode_batch(TEXTS)
    feed = {
        "input_ids": np.array([code.ids for code in codes]),
        "attention_mask": np.array([code.attention_mask for code in codes]),
    }
    (made,) = session.run(None, feed)
    for vector, text in zip(made, TEXTS, strict=True):
        tokenizer.no_padding()
        wanted = reference(source, tokenizer.encode(text).ids)
        assert float(vector @ wanted) > 0.995, text
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)


def test_the_tokenizer_takes_the_best_pieces(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    # Full-width letters, runs of spaces and line endings make no difference.
    assert tokenizer.encode("cat  Katze").tokens == ["<s>", "▁cat", "▁Katze", "</s>"]
    assert tokenizer.encode("\uff43\uff41\uff54\n\u200bKatze").ids == tokenizer.encode("cat Katze").ids
    assert len(tokenizer.encode("cat " * 400).ids) == e5_conversion.MAX_TOKENS


def test_a_model_of_the_manifest_tells_questions_from_passages(folder: Path) -> None:
    files = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("model.onnx", "tokenizer.json")
    }
    manifest = {"name": "tiny", "dimension": HIDDEN, "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    plain = OnnxModel(folder)
    center = plain.encode(["query: s"])[0] / 2
    manifest |= {
        "prefixes": {"query": "query: ", "passage": "passage: "},
        "centers": {"query": center.tolist()},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    model = OnnxModel(folder)
    assert np.allclose(model.encode(["cat"]), plain.encode(["passage: cat"]), atol=1e-6)
    moved = plain.encode(["query: cat"])[0] - center
    assert np.allclose(model.encode(["cat"], query=True)[0], moved / np.linalg.norm(moved), atol=1e-6)


@pytest.mark.parametrize("content", [b"", b"E5S1", b"PK\x03\x04" * 20, tiny_weights()[:-40]])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(content)
    with pytest.raises(ConversionError):
        e5_conversion.convert(tmp_path / "weights.bin", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def reference(source: Source, ids: list[int]) -> np.ndarray:
    """The encoder in numpy."""

    def weights(name: str, width: int) -> np.ndarray:
        blocks = np.frombuffer(source.tensors[name].data, np.uint8).reshape(-1, 18)
        scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
        low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
        values = (np.concatenate([low, high], axis=1).astype(np.float32) - 8) * scales
        return values.reshape(-1, width)

    def numbers(name: str) -> np.ndarray:
        return np.frombuffer(source.tensors[name].data, "<f4")

    def normed(x: np.ndarray) -> np.ndarray:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)

    def through(x: np.ndarray, name: str, width: int) -> np.ndarray:
        return x @ weights(f"{name}.w", width).T + numbers(f"{name}.b")

    def gelu(x: np.ndarray) -> np.ndarray:
        from scipy.special import erf

        return x * 0.5 * (1 + erf(x / np.sqrt(2)))

    assert len(source.pieces) == len(PIECES)
    positions = numbers("emb.pos").reshape(-1, HIDDEN)[: len(ids)]
    x = normed(weights("emb.word", HIDDEN)[ids] + positions + numbers("emb.type")[:HIDDEN])
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        q, k, v = (
            through(x, f"l{layer}.{one}", HIDDEN).reshape(-1, HEADS, size).swapaxes(0, 1) for one in "qkv"
        )
        scores = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(size))
        context = (scores / scores.sum(-1, keepdims=True)) @ v
        x = normed(x + through(context.swapaxes(0, 1).reshape(-1, HIDDEN), f"l{layer}.ao", HIDDEN))
        wide = gelu(through(x, f"l{layer}.fi", HIDDEN))
        x = normed(x + through(wide, f"l{layer}.fo", INNER))
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)
