"""An index updated by the watcher equals a new one."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import ConflictError
from app.events import EventBus
from app.index.reconciler import Reconciler
from app.index.records import IndexUpdated
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.changes import ChangeSet, Create, Move, Update
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NotesChanged, NoteStore
from app.vault.watcher import FileBatch, watch
from tests.index.test_indexer import said

TIMEOUT_S = 60.0
NAMES = ("n.md", "m.md", "É.md", "x.y.md", "img.png")
FOLDERS = ("", "a", "b", "a/b", "c d")
LINES = ("[[n]]", "[[a/m|x]]", "[[M]]", "#tag", "- supports [[É]]", "![[img.png]]", "text 漢字", "[[gone]]")


def timeless(index: VaultIndex) -> dict[str, object]:
    """Return the content of the index without times, which rewriting the same bytes changes."""
    notes = [replace(note, modified=0.0, created=0.0) for note in index.notes()]
    files = [replace(file, modified=0.0) for file in index.files()]
    return {**said(index), "notes": notes, "files": files}


class Followed:
    """A vault, its store, its index, and the watcher between them."""

    def __init__(self, work: Path) -> None:
        self.root = work / "vault"
        self.root.mkdir()
        self.work = work
        self.events = EventBus()
        self.journal = Journal(work / "data")
        self.store = NoteStore(self.root, self.journal)
        self.index = VaultIndex(self.root, work / "cache", IndexSettings(), self.events)
        self.stop = asyncio.Event()
        self.taken = asyncio.Condition()
        self.marks = 0
        self.updates: list[IndexUpdated] = []
        self.events.subscribe(IndexUpdated, self.updates.append)

    async def begin(self) -> None:
        await self.index.open()
        ready = asyncio.Event()
        self.watching = asyncio.create_task(
            watch(self.root, self.take, self.stop, self.store.is_own_write, ready=ready)
        )
        await asyncio.wait_for(ready.wait(), TIMEOUT_S)
        await self.index.scan()

    async def take(self, batch: FileBatch) -> None:
        await self.index.refresh(batch.changed, batch.removed)
        async with self.taken:
            self.taken.notify_all()

    async def until_told(self) -> None:
        """Wait until the index knows all earlier changes: a file created now has arrived in it."""
        self.marks += 1
        mark = NotePath(f"mark {self.marks}.md")
        (self.root / mark.text).write_bytes(b"mark")
        async with asyncio.timeout(TIMEOUT_S), self.taken:
            await self.taken.wait_for(lambda: mark in self.index.resolver)

    async def close(self) -> None:
        self.stop.set()
        await asyncio.wait_for(self.watching, TIMEOUT_S)
        await self.index.close()
        self.journal.close()

    async def compare(self) -> None:
        rebuilt = VaultIndex(self.root, self.work / f"rebuilt {self.marks}", IndexSettings(), EventBus())
        await rebuilt.open()
        await rebuilt.scan()
        try:
            assert timeless(self.index) == timeless(rebuilt)
        finally:
            await rebuilt.close()


@pytest.fixture
async def followed(tmp_path: Path) -> AsyncIterator[Followed]:
    vault = Followed(tmp_path)
    await vault.begin()
    yield vault
    await vault.close()


class Others:
    """Programs that change the folder in random ways."""

    def __init__(self, vault: Followed, seed: int) -> None:
        self.vault, self.root = vault, vault.root
        self.dice = random.Random(seed)

    def place(self) -> Path:
        return self.root / self.dice.choice(FOLDERS) / self.dice.choice(NAMES)

    def text(self) -> bytes:
        return "\n".join(self.dice.choices(LINES, k=self.dice.randint(0, 4))).encode()

    def there(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file())

    def folders(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_dir())

    def put(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self) -> None:
        if not (path := self.put(self.place())).is_dir():
            path.write_bytes(self.text())

    def save_by_another_name(self) -> None:
        path = self.put(self.place())
        temporary = path.with_name(f"{path.name}{self.dice.choice(('.tmp', '~', '.part', '.sync-1'))}")
        temporary.write_bytes(self.text())
        temporary.replace(path)

    def keep_a_copy_and_write(self) -> None:
        path = self.put(self.place())
        if path.is_file():
            path.rename(path.with_name(path.name + "~"))
        path.write_bytes(self.text())
        path.with_name(path.name + "~").unlink(missing_ok=True)

    def delete(self) -> None:
        if there := self.there():
            self.dice.choice(there).unlink()

    def rename(self) -> None:
        if there := self.there():
            self.dice.choice(there).replace(self.put(self.place()))

    def change_the_case(self) -> None:
        if there := self.there():
            path = self.dice.choice(there)
            if not (new := path.with_name(path.name.swapcase())).exists():
                path.rename(new)

    def move_a_folder(self) -> None:
        if folders := self.folders():
            folder = self.dice.choice(folders)
            new = self.root / f"moved {self.dice.randint(0, 3)}"
            if not new.exists():
                folder.rename(new)

    def come_and_go(self) -> None:
        path = self.put(self.place())
        if not path.exists():
            path.write_bytes(self.text())
            path.unlink()

    async def commit(self) -> None:
        """Commit like the app, which refreshes the index itself."""
        path = self.place()
        note = NotePath(path.relative_to(self.root).as_posix())
        if path.is_file():
            change: Create | Update | Move = Update(note, path.read_bytes(), self.text())
        else:
            change = Create(note, self.text())
        with suppress(ConflictError):  # A name that differs from another only by case.
            self.vault.store.commit(ChangeSet.of(change), author="agent")
            await self.vault.index.refresh([note])

    async def act(self) -> None:
        acts = (
            self.write,
            self.write,
            self.save_by_another_name,
            self.keep_a_copy_and_write,
            self.delete,
            self.rename,
            self.change_the_case,
            self.move_a_folder,
            self.come_and_go,
        )
        if self.dice.random() < 0.12:
            await self.commit()
        else:
            self.dice.choice(acts)()
        if self.dice.random() < 0.3:
            await asyncio.sleep(self.dice.random() / 20)


@pytest.mark.parametrize("seed", range(4))
async def test_no_change_by_other_programs_is_missed(followed: Followed, seed: int) -> None:
    others = Others(followed, seed)
    for _ in range(2):
        for _ in range(30):
            await others.act()
        await followed.until_told()
        await followed.compare()


async def test_a_thousand_saved_at_once_are_each_read_once(followed: Followed) -> None:
    folder = followed.root / "many"
    folder.mkdir()
    for number in range(1000):
        temporary = followed.root / "many" / f".{number}"
        temporary.write_text(f"[[{number + 1}]] number {number}")
        temporary.rename(folder / f"{number}.md")
    await followed.until_told()
    told = Counter(path.text for event in followed.updates for path in event.changed)
    assert {told[f"many/{number}.md"] for number in range(1000)} == {1}
    folder.rename(followed.root / "Many")
    await followed.until_told()
    moved = {pair for event in followed.updates for pair in event.moved}
    assert moved == {(NotePath(f"many/{n}.md"), NotePath(f"Many/{n}.md")) for n in range(1000)}
    await followed.compare()


async def test_what_the_app_wrote_itself_is_not_read_again(followed: Followed) -> None:
    note = NotePath("own.md")
    followed.store.commit(ChangeSet.of(Create(note, b"[[n]]")), author="agent")
    await followed.index.refresh([note])
    await followed.until_told()
    assert [event.changed for event in followed.updates if note in event.changed] == [(note,)]


async def test_unreported_changes_are_found_by_a_check(tmp_path: Path) -> None:
    vault = Followed(tmp_path)
    others = Others(vault, 7)
    for _ in range(10):
        others.write()
    await vault.index.open()
    await vault.index.scan()
    try:
        assert not await vault.index.check()
        for _ in range(5):
            for act in (others.write, others.delete, others.move_a_folder, others.change_the_case):
                act()
            (vault.root / "new one.md").write_bytes(others.text())
            delta = await vault.index.check()
            assert delta
            await vault.compare()
            assert not await vault.index.check()
            (vault.root / "new one.md").unlink()
    finally:
        await vault.index.close()
        vault.journal.close()


async def test_a_missed_change_is_reported_as_external(tmp_path: Path) -> None:
    vault = Followed(tmp_path)
    told: list[NotesChanged] = []
    vault.events.subscribe(NotesChanged, told.append)
    (vault.root / "n.md").write_bytes(b"one")
    await vault.index.open()
    await vault.index.scan()
    missed = Reconciler(vault.index, vault.events, lambda: 10, "outside")
    try:
        await missed.check()
        assert told == []
        (vault.root / "n.md").rename(vault.root / "m.md")
        await missed.check()
        old, new = NotePath("n.md"), NotePath("m.md")
        assert told == [NotesChanged((new,), (old,), ((old, new),), "outside", None)]
        vault.root.rename(tmp_path / "away")
        await missed.check()
        assert len(told) == 1
    finally:
        await vault.index.close()
        vault.journal.close()
