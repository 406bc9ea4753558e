"""The app's handle to an embedding worker process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.embeddings import EmbedderUnavailableError, protocol
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.onnx_model import Vectors
from app.errors import ScriptoriumError
from app.launch import embedding_worker
from app.processes.frames import Frame
from app.processes.worker import Worker, WorkerLostError

START_TIMEOUT_S = 60.0
# Includes the download of a model.
DOWNLOAD_TIMEOUT_S = 3600.0
ANSWER_TIMEOUT_S = 120.0


class WorkerProcess(Worker):
    """A running worker with a loaded model; create it with `await WorkerProcess.start(…)`."""

    dimension = 0
    labels: tuple[str, ...] = ()
    _number = 0

    @classmethod
    async def start(cls, model: SentenceModelConfig, threads: int) -> WorkerProcess:
        """Start a worker and load `model`; `dimension` and `labels` describe its rows.

        Raises:
            EmbedderUnavailableError: the worker can't be started, ends or hangs, or it can't load the model.
        """
        command = embedding_worker("" if model.is_own else model.python)
        variables = {"OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
        command = replace(command, variables={**command.variables, **variables})
        try:
            worker = await cls.spawn(command, *model.arguments, "--threads", str(threads))
        except ScriptoriumError as error:
            raise EmbedderUnavailableError(
                f"The embedding process can't be started: {error.message}"
            ) from error
        try:
            frame = await worker.receive(START_TIMEOUT_S if model.is_own else DOWNLOAD_TIMEOUT_S)
            if frame.kind != protocol.READY:
                raise EmbedderUnavailableError(_text(frame))
            ready = json.loads(bytes(frame.body))
            worker.dimension = int(ready["dimension"])
            worker.labels = tuple(ready.get("labels", ()))
        except WorkerLostError as error:
            await worker.kill()
            raise EmbedderUnavailableError(
                "The embedding process ended or hung before it was ready."
            ) from error
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return the rows for `texts` (queries if `query` is set), shape (n, dimension).

        A sentence model returns unit vectors; the language identifier returns the probabilities of `labels`.

        Raises:
            WorkerLostError: the worker crashed, hangs or is out of sync.
            EmbedderUnavailableError: the model failed on these texts.
        """
        return await self._request_rows(protocol.EMBED_QUERIES if query else protocol.EMBED, texts)

    async def classify(self, pairs: Sequence[Sequence[str]]) -> Vectors:
        """Return one row of probabilities per pair of premise and hypothesis, shape (n, dimension).

        The columns are those of `cross_encoder.LABELS`.

        Raises:
            WorkerLostError: the worker crashed, hangs or is out of sync.
            EmbedderUnavailableError: the model failed on these pairs.
        """
        return await self._request_rows(protocol.CLASSIFY, pairs)

    async def _request_rows(self, kind: bytes, inputs: Sequence[object]) -> Vectors:
        self._number += 1
        await self.send(Frame(kind, self._number, json.dumps(list(inputs)).encode()))
        frame = await self.receive(ANSWER_TIMEOUT_S)
        if frame.number != self._number:
            raise WorkerLostError("a response to another request")
        if frame.kind != protocol.VECTORS:
            raise EmbedderUnavailableError(_text(frame))
        vectors = np.frombuffer(frame.body, dtype="<f4")
        if vectors.size != len(inputs) * self.dimension:
            raise WorkerLostError("vectors of the wrong size")
        return vectors.astype(np.float32).reshape(len(inputs), self.dimension)


def _text(frame: Frame) -> str:
    return bytes(frame.body).decode("utf-8", "replace")
