"""The client of a cross-encoder that judges entailment between texts in a separate process.

The process starts with the first request and ends after a period without requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.embeddings import EmbedderUnavailable
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.onnx_model import Vectors
from app.embeddings.worker_process import WorkerLost, WorkerProcess
from app.vault.path import NotePath

log = logging.getLogger(__name__)

IDLE_TIMEOUT_S = 90.0
# The caller continues without it while a model takes longer to download or load.
LOAD_TIMEOUT_S = 15.0
_MAX_TRIES = 2


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """The probabilities that a premise contradicts or entails a hypothesis."""

    contradiction: float
    entailment: float


class EntailmentClassifier:
    """Runs the cross-encoder chosen in the settings. Belongs to one event loop.

    A model that can't be loaded, or that crashes twice on the same texts, is disabled until another one is
    chosen: `classify` raises the reason once, then `available` is False.

    Args:
        hidden: Returns whether a rule hides a note from models.
        threads: Processor threads that the worker may use.
    """

    def __init__(self, hidden: Callable[[NotePath], bool], *, threads: int = 1) -> None:
        self._hidden = hidden
        self._threads = threads
        self._choice: SentenceModelConfig | None = None
        self._lock = asyncio.Lock()
        self._loading: asyncio.Task[WorkerProcess] | None = None
        self._loading_config: SentenceModelConfig | None = None
        self._request: asyncio.Task[Vectors] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._problem = ""
        self._closed = False

    @property
    def available(self) -> bool:
        """True if a model is chosen and no problem is known."""
        return self._choice is not None and not self._problem and not self._closed

    @property
    def name(self) -> str:
        """The name of the chosen model, or ""."""
        return "" if self._choice is None else self._choice.name

    @property
    def worker_id(self) -> int | None:
        """The id of the worker process with a loaded model, or None."""
        loading = self._loading
        if loading is None or not loading.done() or loading.cancelled() or loading.exception():
            return None
        return loading.result().pid

    def may_read(self, path: NotePath) -> bool:
        """Return whether the model may read the note at `path`."""
        return not self._hidden(path)

    def choose(self, choice: SentenceModelConfig | None) -> None:
        """Use this model from now on, or none, and end the process of another one."""
        if choice == self._choice:
            return
        self._choice, self._problem = choice, ""
        if self._loading is not None:
            self._end_soon()

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> tuple[EntailmentScores, ...]:
        """Judge pairs of premise and hypothesis, in order.

        Raises:
            EmbedderUnavailable: no model is chosen or available, or it is still loading.
        """
        # A lone surrogate (from a broken file name) has no UTF-8 and so no word pieces.
        clean = [tuple(text.encode("utf-8", "replace").decode() for text in pair) for pair in pairs]
        async with self._lock:
            if not self.available:
                raise EmbedderUnavailable(self._problem or "No cross-encoder is chosen.")
            if self._idle is not None:
                self._idle.cancel()
            try:
                rows = await self._answer(clean)
            finally:
                if not self._closed:
                    self._idle = asyncio.get_running_loop().call_later(IDLE_TIMEOUT_S, self._on_idle)
        return tuple(EntailmentScores(float(row[0]), float(row[1])) for row in rows)

    async def close(self) -> None:
        """End the process and fail pending requests; safe to call twice."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await self._end()
        if self._ending:
            await asyncio.wait(self._ending)

    async def _answer(self, pairs: Sequence[tuple[str, ...]]) -> Vectors:
        for _ in range(_MAX_TRIES):
            worker = await self._loaded()
            self._request = asyncio.create_task(worker.classify(pairs), name="ask the cross-encoder")
            try:
                return await self._request
            except WorkerLost as error:
                log.warning("lost the cross-encoder process (%s)", error)
                await self._end()
            except asyncio.CancelledError:
                if self._closed:
                    raise EmbedderUnavailable("The vault is being closed.") from None
                # Its answer would be mistaken for that to the next request.
                await self._end()
                raise
        self._problem = "The cross-encoder process crashed on these texts."
        raise EmbedderUnavailable(self._problem)

    async def _loaded(self) -> WorkerProcess:
        choice = self._choice
        assert choice is not None
        if self._loading_config != choice:
            await self._end()
        if self._loading is None:
            self._loading_config = choice
            start = WorkerProcess.start(choice, self._threads)
            self._loading = asyncio.create_task(start, name="load the cross-encoder")
        loading = self._loading
        await asyncio.wait([loading], timeout=LOAD_TIMEOUT_S)
        if not loading.done():
            raise EmbedderUnavailable("The cross-encoder is still being loaded.")
        try:
            return loading.result()
        except asyncio.CancelledError as error:
            raise EmbedderUnavailable("The cross-encoder was ended.") from error
        except EmbedderUnavailable as error:
            self._loading = None
            if choice == self._choice:
                self._problem = error.message
            raise

    def _on_idle(self) -> None:
        """End an idle process, unless its model is still being downloaded or loaded."""
        if self._loading is not None and not self._loading.done():
            self._idle = asyncio.get_running_loop().call_later(IDLE_TIMEOUT_S, self._on_idle)
        else:
            self._end_soon()

    def _end_soon(self) -> None:
        ending = self._end_in_turn(self._loading)
        task = asyncio.get_running_loop().create_task(ending, name="end the cross-encoder")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_in_turn(self, process: asyncio.Task[WorkerProcess] | None) -> None:
        async with self._lock:
            if process is self._loading:
                await self._end()

    async def _end(self) -> None:
        if self._request is not None:
            self._request.cancel()
            await asyncio.wait([self._request])
        loading, self._loading = self._loading, None
        if loading is None:
            return
        loading.cancel()
        (outcome,) = await asyncio.gather(loading, return_exceptions=True)
        if isinstance(outcome, WorkerProcess):
            await outcome.kill()
