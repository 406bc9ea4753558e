"""The embedder with its real worker process."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import warnings
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.embeddings import EmbedderUnavailableError
from app.embeddings.client import Embedder
from app.embeddings.model_config import SentenceModelConfig


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    made = Embedder()
    yield made
    await made.close()


def _pid(embedder: Embedder) -> int:
    assert embedder.worker_id is not None
    return embedder.worker_id


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["cats and dogs " * 40, "a kitten", "tax law", "", "\ud800 broken"]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        (alone,) = await embedder.embed([text], priority=True)
        # Activations are scaled per batch, so the batch changes a vector slightly.
        assert float(alone @ vector) > 0.95
    assert float(vectors[0] @ vectors[1]) > float(vectors[0] @ vectors[2])


async def test_no_texts_need_no_worker(embedder: Embedder) -> None:
    assert (await embedder.embed([])).shape == (0, 384)


async def test_priority_goes_before_bulk(embedder: Embedder) -> None:
    await embedder.start()
    finished: list[str] = []

    async def run(name: str, texts: list[str], priority: bool) -> None:
        await embedder.embed(texts, priority=priority)
        finished.append(name)

    bulk = asyncio.create_task(run("bulk", ["long text " * 100] * 40, False))
    await asyncio.sleep(0)
    urgent = asyncio.create_task(run("urgent", ["a question"], True))
    await asyncio.gather(bulk, urgent)
    assert finished == ["urgent", "bulk"]


async def test_canceling_removes_waiting_batches(embedder: Embedder) -> None:
    await embedder.start()
    bulk = asyncio.create_task(embedder.embed(["long text " * 100] * 200))
    await embedder.embed(["a question"], priority=True)
    bulk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await bulk
    assert (await embedder.embed(["next"])).shape == (1, 384)
    assert not embedder._bulk


async def test_a_killed_worker_is_replaced(embedder: Embedder) -> None:
    await embedder.embed(["one"])
    first = _pid(embedder)
    os.kill(first, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    assert (await embedder.embed(["two"])).shape == (1, 384)
    assert _pid(embedder) != first


async def test_a_worker_killed_at_work_loses_nothing(embedder: Embedder) -> None:
    await embedder.start()
    first = _pid(embedder)
    work = asyncio.create_task(embedder.embed(["long text " * 100] * 30))
    await embedder.embed(["sent after the first batch"], priority=True)
    os.kill(first, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    assert (await work).shape == (30, 384)


async def test_a_missing_model_is_reported_and_can_be_retried(tmp_path: Path) -> None:
    embedder = Embedder(SentenceModelConfig(folder=tmp_path))
    with pytest.raises(EmbedderUnavailableError, match="can't be read"):
        await embedder.embed(["text"])
    assert not embedder.is_available
    assert "can't be read" in embedder.problem
    with pytest.raises(EmbedderUnavailableError, match="can't be read"):
        await embedder.embed(["text"])
    with pytest.raises(EmbedderUnavailableError, match="can't be read"):
        await embedder.start()
    await embedder.close()


async def test_closing_ends_the_process_and_fails_pending_requests() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        embedder = Embedder()
        await embedder.start()
        pid = _pid(embedder)
        work = asyncio.create_task(embedder.embed(["long text " * 100] * 60))
        await embedder.embed(["sent"], priority=True)
        await embedder.close()
        await embedder.close()
        assert not _alive(pid)
        with pytest.raises(EmbedderUnavailableError):
            await work
        with pytest.raises(EmbedderUnavailableError, match="closed"):
            await embedder.embed(["late"])
        del embedder, work
        gc.collect()


@pytest.mark.skipif(sys.platform == "win32", reason="reads /proc or waits for a child")
async def test_the_worker_ends_when_the_app_dies() -> None:
    """A killed app closes the pipe, which ends the worker's input."""
    script = (
        "import asyncio, os\n"
        "from app.embeddings.client import Embedder\n"
        "async def main():\n"
        "    e = Embedder(); await e.start(); print(e.worker_id, flush=True); os._exit(1)\n"
        "asyncio.run(main())\n"
    )
    home = Path(__file__).resolve().parents[2]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, cwd=home
    )
    out, _ = await child.communicate()
    pid = int(out)
    async with asyncio.timeout(20):
        while _running(pid):
            await asyncio.sleep(0.02)


def _running(pid: int) -> bool:
    """Return whether the process runs; a zombie does not count."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return _alive(pid) if not Path("/proc/self/stat").exists() else False
    return status.rpartition(")")[2].split()[0] != "Z"


async def test_the_app_itself_never_loads_the_runtime() -> None:
    script = (
        "import sys, app.embeddings.client, app.embeddings.vectors\n"
        "print([m for m in ('onnxruntime', 'tokenizers', 'torch') if m in sys.modules])"
    )
    home = Path(__file__).resolve().parents[2]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, cwd=home
    )
    out, _ = await child.communicate()
    assert out.strip() == b"[]"
