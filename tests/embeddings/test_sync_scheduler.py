"""The scheduler handles visible notes first, pauses, throttles, drops private notes, switches models."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed, EmbeddingScheduler
from app.embeddings.throttle import LoadSample, Throttle, ThrottleState
from app.embeddings.vectors import VectorStore
from app.errors import NotFoundError, ScriptoriumError, StorageError, VaultLostError
from app.events import Event, EventBus
from app.index.records import IndexUpdated
from app.task_supervisor import TaskFailed
from app.vault.path import NotePath
from app.vault.watcher import VaultFound
from tests.embeddings.test_vectors import CountingEmbedder, Notes


@dataclass
class ScheduledSync:
    """A scheduler over notes in memory, and the events that it published."""

    notes: Notes
    embedder: CountingEmbedder
    vectors: VectorStore
    upkeep: EmbeddingScheduler
    events: EventBus
    reading: list[LoadSample] = field(default_factory=lambda: [LoadSample()])
    told: list[Event] = field(default_factory=list)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the scheduler has reached a state."""
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0.005)

    async def finished(self) -> None:
        def at_the_end() -> bool:
            last = self.told[-1]
            return isinstance(last, EmbeddingProgressed) and last.done == last.total

        await self.until(at_the_end)

    def changed(self, *paths: NotePath) -> None:
        self.events.publish(IndexUpdated(tuple(paths), (), 40))

    def order(self) -> list[str]:
        """Return the notes' names in the order of their embedding."""
        return [text.split("\n")[0] for text in self.embedder.texts]


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[ScheduledSync]:
    notes = Notes(**{f"n{number:02}": f"text {number}" for number in range(40)})
    embedder, vectors, events = CountingEmbedder(), VectorStore(tmp_path), EventBus()
    reading = [LoadSample()]
    pacer = Throttle(lambda: reading[0])
    upkeep = EmbeddingScheduler(
        vectors,
        notes,
        notes,
        embedder,
        events,
        lambda path: False,
        pacer,  # type: ignore[arg-type]
    )
    made = ScheduledSync(notes, embedder, vectors, upkeep, events, reading)
    events.subscribe(EmbeddingProgressed, made.told.append)
    events.subscribe(EmbeddingFailed, made.told.append)
    yield made
    await upkeep.close()
    vectors.close()


async def test_every_note_gets_vectors_and_the_end_is_published(kept: ScheduledSync) -> None:
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    await kept.finished()
    assert kept.vectors.notes == 40
    progress = [(told.done, told.total) for told in kept.told if isinstance(told, EmbeddingProgressed)]
    assert progress == [(0, 40), (16, 40), (32, 40), (40, 40)]


async def test_displayed_notes_are_embedded_first(kept: ScheduledSync) -> None:
    kept.upkeep.pause()
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    kept.upkeep.prioritize([NotePath.parse("n39.md"), NotePath.parse("n20.md"), NotePath.parse("no such.md")])
    kept.upkeep.resume()
    await kept.finished()
    assert kept.order()[:2] == ["n39", "n20"]


async def test_a_pause_stops_the_embedding_and_is_published(kept: ScheduledSync) -> None:
    kept.upkeep.pause()
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    assert kept.told == [EmbeddingProgressed(0, 40, ThrottleState("paused", "user"))]
    assert not kept.embedder.texts
    kept.upkeep.resume()
    await kept.finished()
    assert kept.vectors.notes == 40


async def test_an_empty_battery_pauses_the_embedding_until_power_returns(
    kept: ScheduledSync, monkeypatch
) -> None:
    monkeypatch.setattr("app.embeddings.throttle.SAMPLE_INTERVAL_S", 0.01)
    kept.reading[0] = LoadSample(on_battery=True, charge=0.1)
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    assert kept.told == [EmbeddingProgressed(0, 40, ThrottleState("paused", "battery"))]
    kept.reading[0] = LoadSample()
    await kept.finished()
    assert kept.vectors.notes == 40


async def test_a_note_that_becomes_private_loses_its_vectors_while_paused(kept: ScheduledSync) -> None:
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    await kept.finished()
    kept.upkeep.pause()
    path = kept.notes.set("n05", "---\nai: private\n---\ntext 5")
    kept.changed(path)
    await kept.until(lambda: path not in kept.vectors.hashes)
    assert path not in kept.vectors.note_matrix().paths


async def test_a_changed_note_is_embedded_before_waiting_ones(kept: ScheduledSync) -> None:
    kept.upkeep.pause()
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    kept.changed(kept.notes.set("n33", "new words"))
    kept.upkeep.resume()
    await kept.finished()
    assert kept.embedder.texts[0] == "n33\nnew words"


async def test_the_end_of_the_first_round_is_known(kept: ScheduledSync) -> None:
    assert not kept.upkeep.is_complete
    kept.upkeep.start()
    await kept.until(lambda: kept.upkeep.is_complete)
    assert kept.vectors.notes == 40


async def test_the_removal_of_the_last_waiting_notes_completes_the_round(kept: ScheduledSync) -> None:
    kept.upkeep.pause()
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    removed = tuple(kept.notes.texts)
    kept.notes.texts.clear()
    kept.events.publish(IndexUpdated((), removed, 0))
    await kept.until(lambda: kept.upkeep.is_complete)


async def test_a_quiet_upkeep_works_and_publishes_nothing(kept: ScheduledSync) -> None:
    kept.upkeep.is_quiet = True
    kept.upkeep.start()
    await kept.until(lambda: kept.upkeep.is_complete)
    assert kept.vectors.notes == 40
    assert not kept.told


async def test_another_process_takes_over(kept: ScheduledSync) -> None:
    kept.upkeep.start()
    await kept.until(lambda: kept.upkeep.is_complete)
    other = CountingEmbedder()
    await kept.upkeep.replace_embedder(other)  # type: ignore[arg-type]
    kept.upkeep.start()
    kept.changed(kept.notes.set("n05", "other words"))
    await kept.until(lambda: other.texts == ["n05\nother words"])
    assert kept.vectors.notes == 40


async def test_a_failing_embedder_is_reported(kept: ScheduledSync) -> None:
    kept.embedder.is_available = False
    kept.embedder.poison = "text"
    kept.upkeep.start()
    await kept.until(lambda: any(isinstance(told, EmbeddingFailed) for told in kept.told))
    assert kept.vectors.notes == 0
    kept.embedder.poison = ""
    kept.told.clear()
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told))
    await kept.finished()
    assert kept.vectors.notes == 40


async def test_the_same_failure_after_a_recovery_is_reported_again(kept: ScheduledSync) -> None:
    def has_failed() -> bool:
        return bool(kept.told) and isinstance(kept.told[-1], EmbeddingFailed)

    kept.embedder.is_available = False
    kept.embedder.poison = "text"
    kept.upkeep.start()
    await kept.until(has_failed)
    kept.embedder.poison = ""
    kept.upkeep.start()
    await kept.until(lambda: not has_failed())
    await kept.finished()
    kept.embedder.is_available = False
    kept.embedder.poison = "words"
    kept.changed(kept.notes.set("n00", "other words"))
    await kept.until(has_failed)


class Outage:
    """The vault's folder, which disappears and returns."""

    def __init__(self, kept: ScheduledSync, error: ScriptoriumError, after: int) -> None:
        self._read = kept.notes.read
        self._error = error
        self._after = after
        self.is_there = False
        kept.notes.read = self.read  # type: ignore[method-assign]

    def read(self, path: NotePath) -> bytes:
        self._after -= 1
        if self._after < 0 and not self.is_there:
            raise self._error
        return self._read(path)


@pytest.mark.parametrize("error", [VaultLostError("gone"), NotFoundError("gone"), StorageError("no disk")])
async def test_notes_that_could_not_be_read_are_never_counted_as_embedded(
    kept: ScheduledSync, monkeypatch: pytest.MonkeyPatch, error: ScriptoriumError
) -> None:
    """The reported number of notes have vectors; unreadable notes are retried."""
    monkeypatch.setattr("app.embeddings.sync_scheduler._MIN_RECHECK_S", 0.01)
    embedded: list[tuple[EmbeddingProgressed, int]] = []
    kept.events.subscribe(EmbeddingProgressed, lambda event: embedded.append((event, kept.vectors.notes)))
    outage = Outage(kept, error, after=20)
    kept.upkeep.start()
    await kept.until(lambda: len(embedded) > 1)
    for _ in range(50):
        await asyncio.sleep(0)
    assert kept.vectors.notes < 40
    outage.is_there = True
    kept.events.publish(VaultFound())
    await kept.until(lambda: kept.vectors.notes == 40)
    await kept.finished()
    assert all(told.done <= notes for told, notes in embedded)
    assert embedded[-1][0].done == 40


async def test_a_note_that_the_model_rejects_is_reported_as_failed(kept: ScheduledSync) -> None:
    kept.embedder.poison = "text 7"
    kept.upkeep.start()
    await kept.until(lambda: bool(kept.told) and kept.told[-1].is_over)  # type: ignore[attr-defined]
    last = kept.told[-1]
    assert isinstance(last, EmbeddingProgressed)
    assert (last.done, last.failed, last.total, kept.vectors.notes) == (39, 1, 40, 39)


async def test_an_unexpected_error_is_reported_and_the_embedding_restarts(
    kept: ScheduledSync, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    errors.append("could not prepare notes for semantic search")
    monkeypatch.setattr("app.task_supervisor.MIN_RESTART_DELAY_S", 0.01)
    failures: list[TaskFailed] = []
    kept.events.subscribe(TaskFailed, failures.append)
    put, calls = kept.vectors.put, []

    async def refuse_once(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise sqlite3.OperationalError("database or disk is full")
        await put(*arguments)  # type: ignore[arg-type]

    kept.vectors.put = refuse_once  # type: ignore[method-assign,assignment]
    kept.upkeep.start()
    await kept.until(lambda: kept.vectors.notes == 40)
    await kept.finished()
    assert [failure.reason for failure in failures] == ["database or disk is full"]
