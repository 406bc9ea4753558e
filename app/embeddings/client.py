"""The client of the embedding worker, which converts texts to unit vectors without blocking the app.

Batches wait in two queues: those that the user is waiting for (`priority=True`) precede bulk work.
A crashed worker is restarted and retries the batch once; if it crashes again, only that batch fails.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.embeddings import EmbedderUnavailableError
from app.embeddings.batches import group_batches
from app.embeddings.model_config import OWN_DIMENSION, SentenceModelConfig
from app.embeddings.onnx_model import Vectors
from app.embeddings.worker_process import WorkerProcess
from app.encoding import encodable
from app.processes.on_demand import OnDemandWorker, WorkerClosedError
from app.processes.worker import WorkerLostError

_MAX_TRIES = 2


@dataclass(slots=True, eq=False)
class _TextBatch:
    """Texts of similar length, and the future for their vectors."""

    texts: list[str]
    result: asyncio.Future[Vectors] = field(repr=False)
    is_query: bool = False


class Embedder:
    """Converts texts to unit vectors in another process. Belongs to one event loop.

    Args:
        model: The model; the shipped one by default.
        threads: Processor threads that the worker may use.
    """

    def __init__(self, model: SentenceModelConfig | None = None, *, threads: int = 1) -> None:
        self.model = model or SentenceModelConfig()
        self._threads = threads
        self._urgent: deque[_TextBatch] = deque()
        self._bulk: deque[_TextBatch] = deque()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._worker = OnDemandWorker("the embedding worker", self._load, idle_timeout=None, tries=_MAX_TRIES)
        self._dimension = OWN_DIMENSION if self.model.is_own else 0
        self._problem = ""
        self._closed = False

    @property
    def is_available(self) -> bool:
        """True unless the embedder is closed or its worker's last start failed."""
        return not self._closed and not self._problem

    @property
    def problem(self) -> str:
        """The reason why vectors are not available, or ""."""
        return "The embedder is closed." if self._closed else self._problem

    @property
    def dimension(self) -> int:
        """The dimension of the vectors; 0 until a sentence-transformers model has started."""
        return self._dimension

    @property
    def worker_id(self) -> int | None:
        """The process id of the running worker, or None."""
        worker = self._worker.running
        return None if worker is None else worker.pid

    async def start(self) -> None:
        """Start the worker and load the model, as `embed` does; try again even if the last start failed.

        Raises:
            EmbedderUnavailableError: The model is missing or damaged, the process can't run, or `close` was
                called.
        """
        if self._closed:
            raise EmbedderUnavailableError("The embedder is closed.")
        self._problem = ""
        try:
            await self._worker.get_worker()
        except WorkerClosedError:
            raise EmbedderUnavailableError("The embedder is closed.") from None

    async def embed(self, texts: Sequence[str], *, priority: bool = False, query: bool = False) -> Vectors:
        """Return the unit vectors of `texts` in order, float32, shape (n, dimension).

        With `query`, the texts are queries, which some models encode differently from passages. With
        `priority`, they precede bulk work. Cancellation drops the batches that have not been sent to the
        worker yet.

        Raises:
            EmbedderUnavailableError: The worker can't start or crashes repeatedly on these texts, or `close`
                was called.
        """
        if not self.is_available:
            raise EmbedderUnavailableError(self.problem)
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        clean = [encodable(text) for text in texts]
        groups = group_batches(clean)
        future = asyncio.get_running_loop().create_future
        batches = [_TextBatch([clean[i] for i in group], future(), query) for group in groups]
        (self._urgent if priority else self._bulk).extend(batches)
        self._ensure_dispatcher()
        self._wake.set()
        try:
            results = [await batch.result for batch in batches]
        finally:
            for batch in batches:
                if not batch.result.done():
                    batch.result.cancel()
                elif not batch.result.cancelled():
                    batch.result.exception()
        vectors = np.empty((len(texts), results[0].shape[1]), dtype=np.float32)
        for group, part in zip(groups, results, strict=True):
            vectors[group] = part
        return vectors

    async def close(self) -> None:
        """Stop the worker and fail pending requests; safe to call twice."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._fail_waiting(EmbedderUnavailableError("The embedder is closed."))
        await self._worker.close()

    def _ensure_dispatcher(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._dispatch(), name="embedder")

    async def _dispatch(self) -> None:
        """Send batches to the worker one at a time until the embedder is closed."""
        while True:
            batch = self._next_batch()
            if batch is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            try:
                await self._run_batch(batch)
            except BaseException:
                error = EmbedderUnavailableError("The embedder was stopped.")
                self._fail_batch(batch, error)
                self._fail_waiting(error)
                raise

    def _next_batch(self) -> _TextBatch | None:
        """Return the next batch, dropping those that are no longer needed."""
        for queue in (self._urgent, self._bulk):
            while queue:
                batch = queue.popleft()
                if not batch.result.done():
                    return batch
        return None

    async def _run_batch(self, batch: _TextBatch) -> None:
        try:
            vectors = await self._worker.run(lambda worker: worker.encode(batch.texts, query=batch.is_query))
        except (WorkerLostError, WorkerClosedError):
            self._fail_batch(batch, EmbedderUnavailableError("The embedding process crashed on these texts."))
        except EmbedderUnavailableError as error:
            self._fail_batch(batch, error)
            if self._problem:
                self._fail_waiting(error)
        else:
            if not batch.result.done():
                batch.result.set_result(vectors)

    async def _load(self) -> WorkerProcess:
        try:
            worker = await WorkerProcess.start(self.model, self._threads)
        except EmbedderUnavailableError as error:
            self._problem = error.message
            raise
        self._dimension = worker.dimension
        return worker

    def _fail_waiting(self, error: EmbedderUnavailableError) -> None:
        for queue in (self._urgent, self._bulk):
            while queue:
                self._fail_batch(queue.popleft(), error)

    @staticmethod
    def _fail_batch(batch: _TextBatch, error: EmbedderUnavailableError) -> None:
        if not batch.result.done():
            batch.result.set_exception(error)
