"""The app's handle on one embedding worker process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Sequence

import numpy as np

from app.embeddings import EmbedderUnavailable, protocol
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.onnx_model import Vectors
from app.errors import ScriptoriumError
from app.launch import embedding_worker
from app.processes.child import ChildProcess

log = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
# Includes the download of a model.
DOWNLOAD_TIMEOUT_S = 3600.0
ANSWER_TIMEOUT_S = 120.0
CLOSE_TIMEOUT_S = 5.0


class WorkerLost(Exception):
    """The worker crashed or is out of sync; a new one may work."""


class WorkerProcess:
    """A running worker with a loaded model, for one request at a time.

    Create it with `await WorkerProcess.start(…)` and end it with `await close()`.
    """

    dimension = 0
    labels: tuple[str, ...] = ()

    def __init__(self, process: ChildProcess) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._number = 0

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @classmethod
    async def start(cls, model: SentenceModelConfig, threads: int) -> WorkerProcess:
        """Start a worker and load `model`; `dimension` and `labels` describe its vectors.

        Raises:
            EmbedderUnavailable: it can't be started, or it can't load the model.
        """
        try:
            worker = cls(await _spawn(model, threads))
        except ScriptoriumError as error:
            raise EmbedderUnavailable(f"The embedding process can't be started: {error.message}") from error
        try:
            patience = START_TIMEOUT_S if model.is_own else DOWNLOAD_TIMEOUT_S
            frame = await asyncio.wait_for(worker._read(), patience)
        except (WorkerLost, TimeoutError) as error:
            await worker.close()
            raise EmbedderUnavailable("The embedding process ended before it was ready.") from error
        except BaseException:
            await worker.kill()
            raise
        if frame.kind != protocol.READY:
            await worker.close()
            raise EmbedderUnavailable(frame.body.decode("utf-8", "replace"))
        ready = json.loads(frame.body)
        worker.dimension = int(ready["dimension"])
        worker.labels = tuple(ready.get("labels", ()))
        return worker

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return the unit vectors of `texts` (queries with `query`), shape (n, dimension).

        Raises:
            WorkerLost: the worker crashed, hangs or is out of sync.
            EmbedderUnavailable: the model failed on these texts.
        """
        return await self._rows(protocol.ASK if query else protocol.EMBED, texts)

    async def classify(self, pairs: Sequence[Sequence[str]]) -> Vectors:
        """Judge pairs of premise and hypothesis with a cross-encoder, shape (n, dimension).

        Raises:
            WorkerLost: the worker crashed, hangs or is out of sync.
            EmbedderUnavailable: the model failed on these texts.
        """
        return await self._rows(protocol.JUDGE, pairs)

    async def _rows(self, kind: bytes, asked: Sequence[object]) -> Vectors:
        self._number += 1
        question = protocol.Frame(kind, self._number, json.dumps(list(asked)).encode())
        try:
            self._stdin.write(question.pack())
            await self._stdin.drain()
            frame = await asyncio.wait_for(self._read(), ANSWER_TIMEOUT_S)
        except (OSError, TimeoutError) as error:
            raise WorkerLost(str(error) or "no answer") from error
        if frame.number != self._number:
            raise WorkerLost("an answer to another question")
        if frame.kind != protocol.VECTORS:
            raise EmbedderUnavailable(frame.body.decode("utf-8", "replace"))
        vectors = np.frombuffer(frame.body, dtype="<f4")
        if vectors.size != len(asked) * self.dimension:
            raise WorkerLost("vectors of another size")
        return vectors.astype(np.float32).reshape(len(asked), self.dimension)

    async def close(self) -> None:
        """End the worker by closing its input; kill it after 5 seconds."""
        self._stdin.close()
        try:
            await asyncio.wait_for(self._drain(), CLOSE_TIMEOUT_S)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """End the worker at once."""
        self._stdin.close()
        self._process.kill()
        await self._drain()

    async def _drain(self) -> None:
        """Read to the end and reap the process, so that asyncio closes its pipes."""
        while await self._stdout.read(1 << 16):
            pass
        await self._process.wait()
        try:
            await self._stdin.wait_closed()
        except OSError:
            log.debug("the embedding worker closed its input first")

    async def _read(self) -> protocol.Frame:
        try:
            (length,) = protocol.LENGTH.unpack(await self._stdout.readexactly(protocol.LENGTH.size))
            if length > protocol.MAX_FRAME_BYTES:
                raise WorkerLost("a frame that is too long")
            return protocol.unpack(await self._stdout.readexactly(length))
        except (asyncio.IncompleteReadError, ValueError) as error:
            raise WorkerLost("the embedding process ended") from error


async def _spawn(model: SentenceModelConfig, threads: int) -> ChildProcess:
    command = embedding_worker("" if model.is_own else model.python)
    return await ChildProcess.start(
        (*command.words, *model.arguments, "--threads", str(threads)),
        cwd=command.folder,
        environment={**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"},
        has_errors=False,
        low_priority=True,
    )
