"""Availability of the multilingual model, and its conversion from an installed package."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest

from app.embeddings import EmbedderUnavailableError, multilingual
from app.embeddings.e5_conversion import ConversionError, convert
from app.embeddings.model_config import MULTILINGUAL, model_folder
from app.embeddings.onnx_model import OnnxModel
from app.launch import LaunchCommand
from tests.embeddings.tiny_e5 import HIDDEN, tiny_weights

FILES = ("model.onnx", "tokenizer.json")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / multilingual.WEIGHTS
    file.write_bytes(tiny_weights())
    return file


@pytest.fixture
def manifest(weights: Path, tmp_path: Path) -> dict[str, Any]:
    pytest.importorskip("onnx")
    convert(weights, tmp_path / "once")
    return {
        "name": "tiny",
        "dimension": HIDDEN,
        "files": {name: digest(tmp_path / "once" / name) for name in FILES},
        "made_from": {multilingual.WEIGHTS: digest(weights)},
    }


def test_a_package_becomes_a_model_that_can_be_loaded(
    weights: Path, manifest: dict[str, Any], tmp_path: Path
) -> None:
    target = tmp_path / "models" / "tiny"
    steps: list[float] = []
    multilingual.convert_model(weights, target, manifest, steps.append)
    assert steps[-1] == 1.0
    assert sorted(file.name for file in target.iterdir()) == sorted(
        [*FILES, "LICENSE", "NOTICE", "manifest.json"]
    )
    assert OnnxModel(target).encode(["a cat"]).shape == (1, HIDDEN)
    before = {name: digest(target / name) for name in FILES}
    multilingual.convert_model(weights, target, manifest, lambda share: None)
    assert {name: digest(target / name) for name in FILES} == before


@pytest.mark.parametrize("what", ["made_from", "files"])
def test_no_file_with_another_hash_is_installed(
    weights: Path, manifest: dict[str, Any], tmp_path: Path, what: str
) -> None:
    manifest[what] = dict.fromkeys(manifest[what], "0" * 64)
    target = tmp_path / "models" / "tiny"
    with pytest.raises(ConversionError, match="not match the manifest"):
        multilingual.convert_model(weights, target, manifest, lambda share: None)
    assert not target.parent.exists() or not list(target.parent.iterdir())


def test_the_shipped_papers_name_every_file() -> None:
    """The model itself is only in the installers."""
    from app import paths

    folder = paths.resources_folder() / "models" / MULTILINGUAL
    assert {file.name for file in folder.iterdir()} >= {"LICENSE", "NOTICE", "manifest.json"}


def test_the_states_of_the_model_are_detected(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "installed_weights", lambda: None)
    assert multilingual.state() == "missing"
    monkeypatch.setattr(multilingual, "installed_weights", lambda: weights)
    assert multilingual.state() == "convertible"
    model_folder(MULTILINGUAL).mkdir(parents=True)
    (model_folder(MULTILINGUAL) / "model.onnx").write_bytes(b"")
    assert multilingual.state() == "ready"


async def test_the_process_reports_and_fails_with_its_reason(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multilingual, "installed_weights", lambda: weights)
    script = "import sys; print(0.1); print(1.0); sys.exit('no room' if sys.argv[1:] else 0)"
    command = [sys.executable, "-c", script]
    monkeypatch.setattr(multilingual, "model_conversion", lambda: LaunchCommand(tuple(command)))
    told: list[float] = []
    await multilingual.prepare(told.append)
    assert told == [0.1, 1.0]
    command.append("fail")
    with pytest.raises(EmbedderUnavailableError, match="no room"):
        await multilingual.prepare(told.append)


async def test_a_canceled_conversion_ends_its_process(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multilingual, "installed_weights", lambda: weights)
    script = "import time; print(0.1, flush=True); time.sleep(600)"
    monkeypatch.setattr(
        multilingual, "model_conversion", lambda: LaunchCommand((sys.executable, "-c", script))
    )
    begun = asyncio.Event()
    task = asyncio.create_task(multilingual.prepare(lambda share: begun.set()))
    await begun.wait()
    task.cancel()
    # Returns only when the process has ended, long before it would have finished.
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
