"""The watcher on a real folder reports changes by others, but not the app's own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from app.vault import watcher
from app.vault.changes import ChangeSet, Create, Delete, Move, Update
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from app.vault.watch_state import WatchState
from app.vault.watcher import FileBatch, WatchRounds, watch

P = NotePath.parse
TIMEOUT_S = 20.0


class WatchedVault:
    """A watched vault; `until` waits for a batch that makes a condition true."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        self.journal = Journal(folder / "data")
        self.store = NoteStore(self.root, self.journal)
        self.batches: list[FileBatch] = []
        self._news = asyncio.Condition()
        self.stop = asyncio.Event()

    async def on_batch(self, batch: FileBatch) -> None:
        async with self._news:
            self.batches.append(batch)
            self._news.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT_S), self._news:
            await self._news.wait_for(condition)

    async def wait_until_reported(self) -> None:
        """Wait until all earlier changes have been reported: a file created here has arrived."""
        mark = self.root / f"mark {len(self.batches)}.md"
        mark.write_bytes(b"mark")
        await self.until(lambda: mark.name in self.changed)

    @property
    def changed(self) -> set[str]:
        return {str(path) for batch in self.batches for path in batch.changed}

    @property
    def removed(self) -> set[str]:
        return {str(path) for batch in self.batches for path in batch.removed}


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[WatchedVault]:
    watched = WatchedVault(tmp_path)
    (watched.root / "old.md").write_bytes(b"old\n")
    (watched.root / "sub").mkdir()
    (watched.root / "sub" / "deep.md").write_bytes(b"deep\n")
    ready = asyncio.Event()
    task = asyncio.create_task(
        watch(watched.root, watched.on_batch, watched.stop, watched.store.is_own_write, ready=ready)
    )
    await asyncio.wait_for(ready.wait(), TIMEOUT_S)
    yield watched
    watched.stop.set()
    await asyncio.wait_for(task, TIMEOUT_S)
    watched.journal.close()


async def test_an_outside_edit_a_new_file_and_a_removal_arrive(watched: WatchedVault):
    (watched.root / "old.md").write_bytes(b"edited\n")
    (watched.root / "new.md").write_bytes(b"new\n")
    (watched.root / "sub" / "deep.md").unlink()
    await watched.until(lambda: watched.changed == {"old.md", "new.md"} and bool(watched.removed))
    assert watched.removed == {"sub/deep.md"}


async def test_an_editor_that_saves_atomically_is_one_change(watched: WatchedVault):
    for number in range(3):
        temp = watched.root / f"old.md.tmp{number}"
        temp.write_bytes(b"saved %d\n" % number)
        temp.replace(watched.root / "old.md")
    await watched.wait_until_reported()
    assert "old.md" in watched.changed
    assert watched.removed <= {f"old.md.tmp{number}" for number in range(3)}
    assert "old.md" not in watched.removed


async def test_a_rename_is_a_removal_and_a_creation(watched: WatchedVault):
    (watched.root / "old.md").rename(watched.root / "renamed.md")
    await watched.until(lambda: "renamed.md" in watched.changed and "old.md" in watched.removed)


async def test_a_rename_of_the_case_alone_is_seen(watched: WatchedVault):
    (watched.root / "old.md").rename(watched.root / "Old.md")
    await watched.until(lambda: "Old.md" in watched.changed and "old.md" in watched.removed)


async def test_a_folder_that_is_renamed_takes_its_files_along(watched: WatchedVault):
    (watched.root / "sub").rename(watched.root / "other")
    await watched.until(lambda: "other/deep.md" in watched.changed and "sub/deep.md" in watched.removed)


async def test_a_new_or_removed_folder_reports_its_files(watched: WatchedVault, tmp_path: Path):
    coming = tmp_path / "coming"
    (coming / "x").mkdir(parents=True)
    (coming / "x" / "y.md").write_bytes(b"y")
    coming.rename(watched.root / "coming")
    (watched.root / "sub").rename(tmp_path / "away")
    await watched.until(lambda: "coming/x/y.md" in watched.changed and "sub/deep.md" in watched.removed)


async def test_own_commits_are_not_reported(watched: WatchedVault):
    watched.store.commit(
        ChangeSet.of(
            Create(P("made/by us.md"), b"1"),
            Update(P("old.md"), b"old\n", b"ours\n"),
            Move(P("sub/deep.md"), P("sub/moved.md"), b"deep\n", b"deep\n"),
        ),
        author="agent",
    )
    watched.store.commit(ChangeSet.of(Delete(P("made/by us.md"), b"1")), author="agent")
    await watched.wait_until_reported()
    assert {name for name in watched.changed if not name.startswith("mark")} == set()
    assert watched.removed == set()
    (watched.root / "old.md").write_bytes(b"theirs\n")
    await watched.until(lambda: "old.md" in watched.changed)


async def test_a_return_to_own_bytes_is_reported(watched: WatchedVault):
    watched.store.commit(ChangeSet.of(Update(P("old.md"), b"old\n", b"ours\n")), author="agent")
    (watched.root / "old.md").write_bytes(b"theirs\n")
    await watched.until(lambda: "old.md" in watched.changed)
    watched.batches.clear()
    (watched.root / "old.md").write_bytes(b"ours\n")
    await watched.until(lambda: "old.md" in watched.changed)


async def test_hidden_and_temporary_files_are_not_reported(watched: WatchedVault):
    for folder in (".git", ".obsidian", "node_modules"):
        (watched.root / folder).mkdir()
        (watched.root / folder / "x.md").write_bytes(b"x")
    for name in (".~scriptorium-1-0", ".hidden.md", "~$old.md", "#old.md#", "old.md~", "x.swp"):
        (watched.root / name).write_bytes(b"x")
    await watched.wait_until_reported()
    assert {name for name in watched.changed if not name.startswith("mark")} == set()


async def test_a_thousand_files_at_once_all_arrive(watched: WatchedVault):
    names = {f"many/{number}.md" for number in range(1000)}
    (watched.root / "many").mkdir()
    for name in names:
        (watched.root / name).write_bytes(name.encode())
    await watched.until(lambda: names <= watched.changed)
    for name in names:
        (watched.root / name).unlink()
    await watched.until(lambda: names <= watched.removed)


async def test_loss_and_return_of_the_vault_are_reported(watched: WatchedVault, tmp_path: Path):
    watched.root.rename(tmp_path / "aside")
    await watched.until(lambda: any(batch.lost for batch in watched.batches))
    (tmp_path / "aside").rename(watched.root)
    await watched.until(lambda: any(batch.found for batch in watched.batches))
    assert [batch.lost for batch in watched.batches] == [True, False]
    (watched.root / "old.md").write_bytes(b"after\n")
    await watched.until(lambda: "old.md" in watched.changed)


async def test_a_replaced_folder_is_scanned_again(watched: WatchedVault, tmp_path: Path):
    replacement = tmp_path / "replacement"
    replacement.mkdir()
    watched.root.rename(tmp_path / "aside")
    replacement.rename(watched.root)
    await watched.until(lambda: any(batch.found for batch in watched.batches))


async def test_a_vault_missing_at_the_start_is_reported(tmp_path: Path):
    seen: asyncio.Queue[FileBatch] = asyncio.Queue()
    stop = asyncio.Event()
    task = asyncio.create_task(watch(tmp_path / "none", seen.put, stop, lambda path, digest: False))
    assert (await asyncio.wait_for(seen.get(), TIMEOUT_S)).lost
    (tmp_path / "none").mkdir()
    assert (await asyncio.wait_for(seen.get(), TIMEOUT_S)).found
    stop.set()
    await asyncio.wait_for(task, TIMEOUT_S)


async def test_it_can_be_canceled(tmp_path: Path):
    ready = asyncio.Event()

    async def ignore(batch: FileBatch) -> None:
        return

    task = asyncio.create_task(watch(tmp_path, ignore, asyncio.Event(), lambda p, d: False, ready=ready))
    await asyncio.wait_for(ready.wait(), TIMEOUT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_flood_of_events_causes_a_full_comparison(tmp_path: Path):
    from watchfiles import Change

    for name in ("kept.md", "edited.md", "gone.md"):
        (tmp_path / name).write_bytes(b"old")
        os.utime(tmp_path / name, (1_000, 1_000))
    snapshot = WatchState(tmp_path)
    snapshot.capture()
    (tmp_path / "edited.md").write_bytes(b"new")
    (tmp_path / "new.md").write_bytes(b"new")
    (tmp_path / "gone.md").unlink()
    flood = [(Change.added, str(tmp_path / f"lost in the queue {n}.md")) for n in range(5_000)]
    found = snapshot.process_events(flood)
    assert {P("edited.md"), P("new.md")} <= {path for path, _ in found.present}
    assert found.removed == (P("gone.md"),)


async def test_files_of_other_kinds_and_large_ones_are_reported_too(watched: WatchedVault):
    with (watched.root / "film.mp4").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    (watched.root / "image.png").write_bytes(b"png")
    await watched.until(lambda: {"film.mp4", "image.png"} <= watched.changed)


async def test_a_wait_ends_with_the_first_whole_round() -> None:
    rounds = WatchRounds()
    assert not await rounds.wait_next()
    async with rounds.watching():
        waiting = asyncio.ensure_future(rounds.wait_next())
        await asyncio.sleep(0)
        rounds.end(had_events=False)
        await asyncio.sleep(0)
        assert not waiting.done()
        rounds.end(had_events=True)
        assert await waiting


async def test_a_wait_ends_with_the_watch() -> None:
    rounds = WatchRounds()
    async with rounds.watching():
        waiting = asyncio.ensure_future(rounds.wait_next())
        await asyncio.sleep(0)
    assert await waiting
    assert not await rounds.wait_next()


async def test_a_wait_lasts_through_a_restart_of_the_watch(tmp_path: Path, monkeypatch) -> None:
    awatch, failing, failed = watcher.awatch, asyncio.Event(), asyncio.Event()

    async def awatch_failing_once(*args, **options):
        if not failed.is_set():
            await failing.wait()
            failed.set()
            raise WatchfilesRustInternalError("a name that is not UTF-8")
        async for events in awatch(*args, **options):
            yield events

    monkeypatch.setattr(watcher, "awatch", awatch_failing_once)
    watched, rounds, ready = WatchedVault(tmp_path), WatchRounds(), asyncio.Event()
    note = watched.root / "note.md"
    note.write_bytes(b"note")
    task = asyncio.create_task(
        watch(
            watched.root,
            watched.on_batch,
            watched.stop,
            watched.store.is_own_write,
            ready=ready,
            rounds=rounds,
        )
    )
    async with asyncio.timeout(TIMEOUT_S):
        await ready.wait()
        before = asyncio.ensure_future(rounds.wait_next())
        await asyncio.sleep(0)
        note.unlink()
        failing.set()
        await failed.wait()
        await asyncio.sleep(watcher._RETRY_DELAY_S / 5)
        during = asyncio.ensure_future(rounds.wait_next())
        for waiting in (before, during):
            await waiting
            assert watched.removed == {"note.md"}
        watched.stop.set()
        await task
    watched.journal.close()
