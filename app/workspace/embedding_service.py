"""The embeddings of a vault's notes: the sentence models, their vectors, and the background updates.

Each model has its own file of vectors. When the user chooses another model, its vectors are computed in the
background while those of the previous one stay in use; the previous ones are deleted when the new ones are
complete. Two files at startup mean that the app closed before that, so the work is resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.embeddings import EmbedderUnavailableError, multilingual
from app.embeddings.client import Embedder
from app.embeddings.entailment_client import EntailmentClassifier
from app.embeddings.languages import LanguagesMeasured, VaultLanguages, measure_languages
from app.embeddings.model_config import MULTILINGUAL, SentenceModelConfig
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingScheduler
from app.embeddings.throttle import SystemLoad, Throttle
from app.embeddings.vector_file import models_with_vectors, remove_vectors
from app.embeddings.vectors import VectorStore
from app.events import Event, EventBus
from app.index.vault_index import VaultIndex
from app.settings import Settings
from app.toolkit.semantic_search import SemanticSearch
from app.vault.path import NotePath
from app.vault.store import NoteStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelPreparing(Event):
    """The progress of converting the multilingual model; `share` is from 0 to 1."""

    share: float


@dataclass(frozen=True, slots=True)
class ModelSwitched(Event):
    """Published when the notes' vectors have been switched to another model; `model` is its key."""

    model: str


@dataclass(frozen=True, slots=True)
class _EmbeddingSet:
    """A model, its vectors, and their scheduler."""

    embedder: Embedder
    vectors: VectorStore
    scheduler: EmbeddingScheduler

    @property
    def model(self) -> SentenceModelConfig:
        return self.embedder.model


class EmbeddingService:
    """Manages the vectors of a vault's notes, and the models that compute them.

    `embedder` is always the English model, whichever model embeds the notes, because the built-in agent's
    thresholds are set for it.

    Args:
        cache: The folder of the vectors.
        settings: Returns the current settings.
        is_hidden: Returns whether a rule hides a note from models.
    """

    def __init__(
        self,
        cache: Path,
        index: VaultIndex,
        store: NoteStore,
        events: EventBus,
        settings: Callable[[], Settings],
        is_hidden: Callable[[NotePath], bool],
    ) -> None:
        self._cache = cache
        self._index = index
        self._store = store
        self._events = events
        self._settings = settings
        self._is_hidden = is_hidden
        self.embedder = Embedder(threads=settings().embeddings.threads)
        self._throttle = Throttle(SystemLoad(self._worker_id))
        self._configure_throttle()
        self.languages: VaultLanguages | None = None
        selected = _selected_model(settings())
        earlier_key, *unused_keys = [key for key in models_with_vectors(cache) if key != selected.key] or [""]
        for key in unused_keys:
            remove_vectors(cache, key)
        self._next: _EmbeddingSet | None = None
        if earlier_key:
            self._current = self._create_set(SentenceModelConfig.of_key(earlier_key, selected.python))
            self._prepare_switch(selected)
        else:
            self._current = self._create_set(selected)
        self.semantic_search = SemanticSearch(self._current.embedder, self._current.vectors)
        self.entailment = EntailmentClassifier(is_hidden, threads=settings().embeddings.threads)
        self.entailment.choose(_cross_encoder(settings()))
        self._change_task: asyncio.Task[None] | None = None
        self._preparation_task: asyncio.Task[None] | None = None
        self._measurement_task: asyncio.Task[None] | None = None
        self._is_scanned = False

    @property
    def is_enabled(self) -> bool:
        """True if semantic search is on."""
        return self._settings().embeddings.enabled

    @property
    def vectors(self) -> VectorStore:
        """The vectors in use."""
        return self._current.vectors

    @property
    def scheduler(self) -> EmbeddingScheduler:
        """The scheduler to show: that of a new model's vectors while they are computed."""
        return (self._next or self._current).scheduler

    @property
    def switching_to(self) -> str:
        """The key of the model whose vectors are being computed; empty if no switch is in progress."""
        return self._next.model.key if self._next is not None else ""

    def enabled_vectors(self) -> VectorStore | None:
        """Return the vectors in use; None if semantic search is off."""
        return self.vectors if self.is_enabled else None

    async def similar(self, text: str, limit: int) -> list[tuple[NotePath, float]]:
        """Return the notes most similar to `text`, best first.

        Raises:
            EmbedderUnavailableError: The text can't be embedded.
        """
        return [(hit.path, hit.score) for hit in await self.semantic_search.like_text(text, limit, 0.0)]

    def start(self) -> None:
        """Update the vectors in the background, if semantic search is on."""
        self._is_scanned = True
        if not self.is_enabled:
            return
        for embedding_set in self._sets():
            self._start_updates(embedding_set)

    def apply_settings(self) -> None:
        """Apply changed settings; the switch to another model runs in the background."""
        self._configure_throttle()
        self.entailment.choose(_cross_encoder(self._settings()))
        if not self.is_enabled:
            for embedding_set in self._sets():
                embedding_set.scheduler.stop()
        elif _selected_model(self._settings()) != (self._next or self._current).model:
            self._change_task = asyncio.create_task(self._change_model(self._change_task))
        elif self._is_scanned:
            self.start()

    async def wait_model_change(self) -> None:
        """Wait until a model change in progress has finished."""
        if self._change_task is not None:
            await asyncio.gather(self._change_task, return_exceptions=True)

    async def close(self) -> None:
        """Stop the updates and the workers, and close the vectors."""
        await _cancel(self._measurement_task)
        await _cancel(self._preparation_task)
        await self.wait_model_change()
        for embedding_set in self._sets():
            await self._close_set(embedding_set)
        await self.entailment.close()
        await self.embedder.close()

    # Models

    def _sets(self) -> tuple[_EmbeddingSet, ...]:
        return (self._current,) if self._next is None else (self._current, self._next)

    def _worker_id(self) -> int | None:
        """Return the id of the worker process that computes vectors."""
        return (self._next or self._current).embedder.worker_id

    def _create_set(self, model: SentenceModelConfig, *, switching: bool = False) -> _EmbeddingSet:
        embedder = self._embedder_of(model)
        vectors = VectorStore(self._cache, model.key)
        scheduler = EmbeddingScheduler(
            vectors,
            self._index,
            self._store,
            embedder,
            self._events,
            self._is_hidden,
            self._throttle,
            self._on_complete,
            switching=switching,
        )
        return _EmbeddingSet(embedder, vectors, scheduler)

    def _embedder_of(self, model: SentenceModelConfig) -> Embedder:
        return (
            self.embedder
            if model.is_shipped
            else Embedder(model, threads=self._settings().embeddings.threads)
        )

    async def _close_set(self, embedding_set: _EmbeddingSet) -> None:
        await embedding_set.scheduler.close()
        if embedding_set.embedder is not self.embedder:
            await embedding_set.embedder.close()
        embedding_set.vectors.close()

    def _start_updates(self, embedding_set: _EmbeddingSet) -> None:
        """Start the updates of a model's vectors, after converting the model if necessary."""
        if embedding_set.model.name != MULTILINGUAL or multilingual.state() == "ready":
            embedding_set.scheduler.start()
        elif self._preparation_task is None or self._preparation_task.done():
            self._preparation_task = asyncio.create_task(
                self._prepare(embedding_set), name="convert the multilingual model"
            )

    async def _prepare(self, embedding_set: _EmbeddingSet) -> None:
        try:
            await multilingual.prepare(lambda share: self._events.publish(ModelPreparing(share)))
        except EmbedderUnavailableError as error:
            log.warning("no multilingual model: %s", error.message)
            self._events.publish(EmbeddingFailed(error.message, embedding_set is self._next))
            return
        if embedding_set in self._sets() and self.is_enabled:
            embedding_set.scheduler.start()

    # Model switch

    def _prepare_switch(self, model: SentenceModelConfig) -> None:
        """Compute the vectors of `model` in addition to those in use."""
        self._next = self._create_set(model, switching=True)
        self._current.scheduler.is_quiet = True

    async def _change_model(self, previous_change: asyncio.Task[None] | None) -> None:
        """Switch to the model in the settings; the last of several changes applies."""
        if previous_change is not None:
            await asyncio.gather(previous_change, return_exceptions=True)
        selected = _selected_model(self._settings())
        if self._next is not None and selected != self._next.model:
            await _cancel(self._preparation_task)
            abandoned_set, self._next = self._next, None
            self._current.scheduler.is_quiet = False
            await self._close_set(abandoned_set)
            await asyncio.to_thread(remove_vectors, self._cache, abandoned_set.model.key)
            self._current.scheduler.report()
        if self._next is None and selected.key == self._current.model.key:
            await self._change_python(selected)
        elif self._next is None:
            self._prepare_switch(selected)
        if self._is_scanned:
            self.start()

    async def _change_python(self, model: SentenceModelConfig) -> None:
        """Run the same model with another Python interpreter if the settings specify one."""
        previous = self._current
        if model == previous.model:
            return
        embedder = self._embedder_of(model)
        await previous.scheduler.replace_embedder(embedder)
        self._current = _EmbeddingSet(embedder, previous.vectors, previous.scheduler)
        self.semantic_search.change_model(embedder, previous.vectors)
        if previous.embedder is not self.embedder:
            await previous.embedder.close()

    def _on_complete(self) -> None:
        """Finish a switch whose vectors are complete; with the English model, detect the languages once."""
        if (
            self.languages is None
            and self._measurement_task is None
            and _selected_model(self._settings()).is_shipped
        ):
            self._measurement_task = asyncio.create_task(
                self._measure_languages(), name="measure the vault's languages"
            )
        if self._next is not None and self._next.scheduler.is_complete and self._is_scanned:
            self._change_task = asyncio.create_task(self._finish_switch(self._next, self._change_task))

    async def _finish_switch(
        self, embedding_set: _EmbeddingSet, previous_change: asyncio.Task[None] | None
    ) -> None:
        """Put the new model's vectors into use, and delete those of the previous one."""
        if previous_change is not None:
            await asyncio.gather(previous_change, return_exceptions=True)
        if embedding_set is not self._next:
            return
        previous, self._current, self._next = self._current, embedding_set, None
        embedding_set.scheduler.switching = False
        self.semantic_search.change_model(embedding_set.embedder, embedding_set.vectors)
        self._events.publish(ModelSwitched(embedding_set.model.key))
        await self._close_set(previous)
        await asyncio.to_thread(remove_vectors, self._cache, previous.model.key)

    # Languages

    async def _measure_languages(self) -> None:
        languages = await measure_languages(
            self._index, self._store, self._is_hidden, threads=self._settings().embeddings.threads
        )
        if languages is not None:
            self.languages = languages
            self._events.publish(LanguagesMeasured(languages))

    def _configure_throttle(self) -> None:
        embedding_settings = self._settings().embeddings
        self._throttle.on_battery = embedding_settings.on_battery
        self._throttle.when_busy = embedding_settings.when_busy


async def _cancel(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait for it to end."""
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(task, return_exceptions=True)


def _selected_model(settings: Settings) -> SentenceModelConfig:
    """Return the model that embeds the notes."""
    options = settings.embeddings
    model = SentenceModelConfig(options.model.strip(), options.python.strip())
    return SentenceModelConfig(model.name) if model.is_own else model


def _cross_encoder(settings: Settings) -> SentenceModelConfig | None:
    """Return the model that judges pairs of passages, if the user chose one."""
    options = settings.embeddings
    name = options.cross_encoder.strip()
    return SentenceModelConfig(name, options.python.strip(), is_cross_encoder=True) if name else None
