"""The workspace in its own process, killed while another model computes the vectors.

python -m tests.flows.killed_switch VAULT MOMENT
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from app.embeddings import sync_scheduler
from app.embeddings.model_config import MULTILINGUAL
from app.embeddings.onnx_model import Vectors
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.embeddings.vector_file import NoteChunks, VectorFile
from app.settings import Settings
from app.workspace import embedding_service
from app.workspace.opening import open_workspace
from tests.support.approver import ScriptedApprover

MOMENTS = ("between two notes", "inside a transaction", "before the earlier vectors are removed")
NOTES_BEFORE = 3


def full_speed() -> Settings:
    """Return settings for which notes are embedded as fast on a busy machine."""
    settings = Settings()
    settings.embeddings.on_battery = settings.embeddings.when_busy = "full"
    return settings


def arm(moment: str) -> None:
    """Let the process die at `moment` of the next model change."""
    put = VectorFile.put
    stored = 0

    def store_and_count(file: VectorFile, notes: Iterable[NoteChunks], vectors: dict[str, Vectors]) -> None:
        nonlocal stored
        if stored == NOTES_BEFORE and moment == MOMENTS[1]:
            # The rows are written, the transaction is not committed.
            file._db.set_trace_callback(lambda sql: die() if sql.startswith("COMMIT") else None)
        put(file, notes, vectors)
        stored += 1
        if stored == NOTES_BEFORE and moment == MOMENTS[0]:
            die()

    VectorFile.put = store_and_count  # type: ignore[method-assign]
    if moment == MOMENTS[2]:
        embedding_service.remove_vectors = lambda folder, model: die()


def die() -> None:
    """End without any cleanup."""
    os.kill(os.getpid(), signal.SIGKILL)


async def main(vault: Path, moment: str) -> None:
    """Embed the notes of `vault`, choose the multilingual model, and die at `moment`."""
    sync_scheduler.BATCH_NOTES = 1
    workspace = await open_workspace(vault, full_speed(), ScriptedApprover())
    ready = asyncio.Event()

    def listen(event: EmbeddingProgressed) -> None:
        if event.done == event.total > 0:
            ready.set()

    workspace.events.subscribe(EmbeddingProgressed, listen)
    await workspace.start_scan(lambda progress: None)
    await ready.wait()
    arm(moment)
    workspace.change_settings("embeddings", model=MULTILINGUAL)
    await asyncio.sleep(30)
    print("not killed")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
