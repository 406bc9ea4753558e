"""Whether texts bear each other out, asked of a cross-encoder in a process of its own.

Nothing is started before the first question, and the process ends when nobody has asked for a while.
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
# Who asks goes on without it while a model is fetched or loaded for longer.
LOAD_TIMEOUT_S = 15.0
_MAX_TRIES = 2


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """How likely a premise speaks against a hypothesis, and how likely it bears it out; each 0 to 1."""

    contradiction: float
    entailment: float


class EntailmentClassifier:
    """Asks the cross-encoder that the settings name. Belongs to one event loop.

    A model that can't be loaded, or that dies twice over the same texts, is not asked again until another
    is chosen: `judge` says why once, then `available` is False.

    Args:
        hidden: Whether a rule keeps a note from models.
        threads: Processor threads that the worker may use.
    """

    def __init__(self, hidden: Callable[[NotePath], bool], *, threads: int = 1) -> None:
        self._hidden = hidden
        self._threads = threads
        self._choice: SentenceModelConfig | None = None
        self._turn = asyncio.Lock()
        self._loading: asyncio.Task[WorkerProcess] | None = None
        self._loads: SentenceModelConfig | None = None
        self._asking: asyncio.Task[Vectors] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._problem = ""
        self._closed = False

    @property
    def available(self) -> bool:
        """Whether it is worth asking: a model is chosen, and nothing is known against it."""
        return self._choice is not None and not self._problem and not self._closed

    @property
    def name(self) -> str:
        """What the chosen model is called; empty without one."""
        return "" if self._choice is None else self._choice.name

    @property
    def worker_id(self) -> int | None:
        """The id of the worker process; None while there is none that has its model loaded."""
        loading = self._loading
        if loading is None or not loading.done() or loading.cancelled() or loading.exception():
            return None
        return loading.result().pid

    def may_read(self, path: NotePath) -> bool:
        """Whether the model may be shown the note at `path`."""
        return not self._hidden(path)

    def choose(self, choice: SentenceModelConfig | None) -> None:
        """Ask this model from now on, or none; the process of another is ended."""
        if choice == self._choice:
            return
        self._choice, self._problem = choice, ""
        if self._loading is not None:
            self._end_soon()

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> tuple[EntailmentScores, ...]:
        """What the model says of each premise with its hypothesis, in their order.

        Raises:
            EmbedderUnavailable: no model is chosen or can be had, or it is still being loaded.
        """
        # A lone surrogate (from a broken file name) has no UTF-8 and so no word pieces.
        clean = [tuple(text.encode("utf-8", "replace").decode() for text in pair) for pair in pairs]
        async with self._turn:
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
        """End the process; who waits for an answer gets none. Safe to call twice."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await self._end()
        if self._ending:
            await asyncio.wait(self._ending)

    async def _answer(self, pairs: Sequence[tuple[str, ...]]) -> Vectors:
        for _ in range(_MAX_TRIES):
            worker = await self._loaded()
            self._asking = asyncio.create_task(worker.judge(pairs), name="ask the cross-encoder")
            try:
                return await self._asking
            except WorkerLost as error:
                log.warning("the process of the cross-encoder was lost (%s)", error)
                await self._end()
            except asyncio.CancelledError:
                if self._closed:
                    raise EmbedderUnavailable("The vault is being closed.") from None
                # Its answer would be taken for that to the next question.
                await self._end()
                raise
        self._problem = "The process of the cross-encoder died over these texts."
        raise EmbedderUnavailable(self._problem)

    async def _loaded(self) -> WorkerProcess:
        choice = self._choice
        assert choice is not None
        if self._loads != choice:
            await self._end()
        if self._loading is None:
            self._loads = choice
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
        """Nobody has asked for a while; what is being fetched is fetched to the end."""
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
        async with self._turn:
            if process is self._loading:
                await self._end()

    async def _end(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
        loading, self._loading = self._loading, None
        if loading is None:
            return
        loading.cancel()
        (outcome,) = await asyncio.gather(loading, return_exceptions=True)
        if isinstance(outcome, WorkerProcess):
            await outcome.kill()
