"""What notes mean, as the settings have it: the sentence models, the vectors they made, and their upkeep."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from app.embeddings.client import Embedder
from app.embeddings.model_choice import ModelChoice
from app.embeddings.pace import Machine, Pacer
from app.embeddings.pair_judge import PairJudge
from app.embeddings.upkeep import VectorUpkeep
from app.embeddings.vectors import VectorStore
from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import Settings
from app.toolkit.meaning import Meaning
from app.vault.path import NotePath
from app.vault.store import NoteStore


class NoteVectors:
    """The vectors of a vault's notes, and the models.

    `embedder` is always the shipped model: the built-in agent's thresholds are those of it, whichever makes
    the notes' vectors.

    Args:
        cache: Where the vectors are kept.
        settings: What is in force at the moment.
        hidden: Whether a rule keeps a note from models.
    """

    def __init__(
        self,
        cache: Path,
        index: VaultIndex,
        store: NoteStore,
        events: EventBus,
        settings: Callable[[], Settings],
        hidden: Callable[[NotePath], bool],
    ) -> None:
        self._settings = settings
        self.embedder = Embedder(threads=settings().embeddings.threads)
        self._notes = self._made()
        self.vectors = VectorStore(cache, self._notes.model.key)
        self.meaning = Meaning(self._notes, self.vectors)
        self._pacer = Pacer(Machine(lambda: self._notes.worker_id))
        self._set_pace()
        self.upkeep = VectorUpkeep(self.vectors, index, store, self._notes, events, hidden, self._pacer)
        self.judge = PairJudge(hidden, threads=settings().embeddings.threads)
        self.judge.choose(_cross_encoder(settings()))
        self._change: asyncio.Task[None] | None = None

    @property
    def on(self) -> bool:
        """Whether the user wants the meaning of notes known."""
        return self._settings().embeddings.enabled

    def known(self) -> VectorStore | None:
        """The vectors, as far as the user wants them known."""
        return self.vectors if self.on else None

    async def similar(self, text: str, limit: int) -> list[tuple[NotePath, float]]:
        """The notes closest in meaning to `text`, best first."""
        return [(hit.path, hit.score) for hit in await self.meaning.like_text(text, limit, 0.0)]

    def start(self) -> None:
        """Bring the vectors up to date in the background, where they are wanted."""
        if self.on:
            self.upkeep.start()

    def apply_settings(self) -> None:
        """Let other settings take effect."""
        self._set_pace()
        self.judge.choose(_cross_encoder(self._settings()))
        if not self.on:
            self.upkeep.stop()
        elif _chosen(self._settings()) != self._notes.model:
            self._change = asyncio.create_task(self._change_model(self._change))
        else:
            self.upkeep.start()

    async def settle(self) -> None:
        """Wait for a change of the model that is under way."""
        if self._change is not None:
            await asyncio.gather(self._change, return_exceptions=True)

    async def close(self) -> None:
        """End the upkeep and the workers, and close the vectors."""
        await self.upkeep.close()
        await self._notes.close()
        await self.judge.close()
        await self.embedder.close()
        self.vectors.close()

    def _made(self) -> Embedder:
        chosen = _chosen(self._settings())
        threads = self._settings().embeddings.threads
        return self.embedder if chosen.is_shipped else Embedder(chosen, threads=threads)

    def _set_pace(self) -> None:
        chosen = self._settings().embeddings
        self._pacer.on_battery = chosen.on_battery
        self._pacer.when_busy = chosen.when_busy

    async def _change_model(self, earlier: asyncio.Task[None] | None) -> None:
        """Have the notes' vectors made by the model of the settings; the last of several changes holds."""
        if earlier is not None:
            await asyncio.gather(earlier, return_exceptions=True)
        old = self._notes
        if _chosen(self._settings()) == old.model:
            return
        self._notes = self._made()
        self.meaning.change_model(self._notes)
        await self.upkeep.change_model(self._notes)
        if old is not self.embedder:
            await old.close()
        self.start()


def _chosen(settings: Settings) -> ModelChoice:
    """The model that makes the notes' vectors."""
    chosen = settings.embeddings
    made = ModelChoice(chosen.model.strip(), chosen.python.strip())
    return ModelChoice(made.name) if made.is_own else made


def _cross_encoder(settings: Settings) -> ModelChoice | None:
    """The model that judges pairs of passages, if the user named one."""
    chosen = settings.embeddings
    name = chosen.cross_encoder.strip()
    return ModelChoice(name, chosen.python.strip(), judges_pairs=True) if name else None
