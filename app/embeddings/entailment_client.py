"""The client of a cross-encoder that judges entailment between texts in a separate process.

The process starts with the first request and ends after a period without requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.embeddings import EmbedderUnavailableError
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.worker_process import WorkerProcess
from app.encoding import encodable
from app.processes.on_demand import OnDemandWorker, WorkerClosedError
from app.processes.worker import WorkerLostError
from app.vault.path import NotePath

IDLE_TIMEOUT_S = 90.0
# Callers continue without a judgment if the model takes longer than this to download or load.
LOAD_TIMEOUT_S = 15.0
_MAX_TRIES = 2


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """The probabilities that a premise contradicts or entails a hypothesis."""

    contradiction: float
    entailment: float


class EntailmentClassifier:
    """Runs the cross-encoder chosen in the settings. Belongs to one event loop.

    A model that can't be loaded, or whose process crashes or hangs twice on the same texts, stays disabled
    until another one is chosen: `is_available` is False, and `classify` raises the reason.

    Args:
        is_hidden: Returns whether a rule hides a note from models.
        threads: Processor threads that the worker may use.
    """

    def __init__(self, is_hidden: Callable[[NotePath], bool], *, threads: int = 1) -> None:
        self._is_hidden = is_hidden
        self._threads = threads
        self._config: SentenceModelConfig | None = None
        self._worker = self._worker_for(None)
        self._ending: set[asyncio.Task[None]] = set()
        self._problem = ""
        self._closed = False

    @property
    def is_available(self) -> bool:
        """True if a model is chosen and not disabled, and the client is not closed."""
        return self._config is not None and not self._problem and not self._closed

    @property
    def name(self) -> str:
        """The name of the chosen model, or ""."""
        return "" if self._config is None else self._config.name

    @property
    def worker_id(self) -> int | None:
        """The process id of the worker with a loaded model, or None."""
        worker = self._worker.running
        return None if worker is None else worker.pid

    def may_read(self, path: NotePath) -> bool:
        """Return whether the model may read the note at `path`."""
        return not self._is_hidden(path)

    def choose(self, config: SentenceModelConfig | None) -> None:
        """Switch to another model, or to none, and end the previous model's process in the background.

        Nothing happens if this model is already chosen.
        """
        if config == self._config:
            return
        previous, self._worker = self._worker, self._worker_for(config)
        self._config, self._problem = config, ""
        task = asyncio.get_running_loop().create_task(previous.close(), name="end the cross-encoder")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> tuple[EntailmentScores, ...]:
        """Return the scores of pairs of premise and hypothesis, in order.

        Raises:
            EmbedderUnavailableError: no model is chosen, it is disabled or still loading, it failed on these
                pairs, or the client is closed.
        """
        clean = [tuple(map(encodable, pair)) for pair in pairs]
        while True:
            if self._closed:
                raise EmbedderUnavailableError("The vault is being closed.")
            if not self.is_available:
                raise EmbedderUnavailableError(self._problem or "No cross-encoder is chosen.")
            try:
                rows = await self._worker.run(lambda worker: worker.classify(clean), timeout=LOAD_TIMEOUT_S)
            except WorkerClosedError:
                # Another model was chosen, or the vault is being closed.
                continue
            except TimeoutError:
                raise EmbedderUnavailableError("The cross-encoder is still being loaded.") from None
            except WorkerLostError as error:
                self._problem = "The cross-encoder process crashed on these texts."
                raise EmbedderUnavailableError(self._problem) from error
            return tuple(EntailmentScores(float(row[0]), float(row[1])) for row in rows)

    async def close(self) -> None:
        """End the process and fail pending requests; safe to call twice."""
        self._closed = True
        await self._worker.close()
        if self._ending:
            await asyncio.wait(self._ending)

    def _worker_for(self, config: SentenceModelConfig | None) -> OnDemandWorker[WorkerProcess]:
        async def start() -> WorkerProcess:
            assert config is not None
            try:
                return await WorkerProcess.start(config, self._threads)
            except EmbedderUnavailableError as error:
                if config == self._config:
                    self._problem = error.message
                raise

        return OnDemandWorker("the cross-encoder", start, idle_timeout=IDLE_TIMEOUT_S, tries=_MAX_TRIES)
