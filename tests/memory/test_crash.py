"""A process killed at any step of a commit, and again during the recovery."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.memory.block import Block
from app.memory.changes import MEMORY_PLACE, block_change, create_block, insert_entry
from app.memory.entry import ArchiveEntry
from app.memory.serialization import serialize_block
from app.memory.store import MemoryStore
from app.vault.changes import ChangeSet, Create, Delete, content_hash
from app.vault.journal import Journal

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")

ME = "scriptorium"
PLAN = Block.new(ME, "plan", text="one\n")
GONE = Block.new(ME, "gone", text="delete me\n")
ENTRY = ArchiveEntry.new(ME, "remember me")
CHANGES = ChangeSet.of(
    block_change(PLAN, PLAN.with_text("one\ntwo\n")),
    Delete(GONE.path, serialize_block(GONE)),
    Create(Block.new(ME, "new").path, serialize_block(Block.new(ME, "new"))),
    *insert_entry(ENTRY).changes,
    place=MEMORY_PLACE,
)
STEPS = ["keep", "begin", "row", "row", "row", "row", "outbox", "written", "recorded", "sent"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


def killed_at(at: int) -> Callable[[str], None]:
    seen = iter(range(1000))

    def step(name: str) -> None:
        if next(seen) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def in_child(work: Callable[[], object]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def seed(folder: Path) -> None:
    journal = Journal(folder)
    store = MemoryStore(folder, journal)
    store.commit(create_block(PLAN), author="A")
    store.commit(create_block(GONE), author="A")
    store.close()
    journal.close()


def commit(folder: Path, step: Callable[[str], None]) -> None:
    MemoryStore(folder, Journal(folder), step=step).commit(CHANGES, author="B")


def state(store: MemoryStore) -> dict[str, bytes]:
    return {str(block.path): serialize_block(block) for block in store.all_blocks()}


def check(folder: Path) -> bool:
    """Check that memory and journal agree and are either old or new; return whether they are new."""
    journal = Journal(folder)
    store = MemoryStore(folder, journal)
    try:
        assert journal.problem is None and store.problem is None
        found = state(store)
        new = len(journal.commits()) == 3
        if new:
            assert set(found) == {"scriptorium/plan", "scriptorium/new"}
            assert found["scriptorium/plan"].endswith(b"one\ntwo\n") and store.read(ENTRY.path) == ENTRY.data
            for change in journal.commits(1)[0].changes:
                now = found.get(str(change.path))
                now = ENTRY.data if change.path == ENTRY.path else now
                assert (None if now is None else content_hash(now)) == change.after
        else:
            assert len(journal.commits()) == 2
            assert found == {str(one.path): serialize_block(one) for one in (PLAN, GONE)}
        with store.database.transaction() as db:
            assert not db.execute("SELECT * FROM outbox").fetchall()
            words = db.execute("SELECT count(*) FROM entry_words").fetchone()[0]
            assert words == db.execute("SELECT count(*) FROM entries").fetchone()[0] == int(new)
        return new
    finally:
        store.close()
        journal.close()


def test_the_disk_steps_are_complete(folder: Path) -> None:
    seed(folder)
    seen: list[str] = []
    commit(folder, seen.append)
    assert seen == STEPS


@pytest.mark.parametrize("at", range(len(STEPS)))
def test_killed_at_any_step(folder: Path, at: int) -> None:
    seed(folder)
    assert in_child(lambda: commit(folder, killed_at(at)))
    assert check(folder) is (at > STEPS.index("outbox"))
    if at <= STEPS.index("outbox"):
        assert not in_child(lambda: commit(folder, lambda name: None))
        assert check(folder)


def test_killed_again_during_the_recovery(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(folder)
    assert in_child(lambda: commit(folder, killed_at(STEPS.index("written"))))

    def die(self: object, uid: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStore, "_remove_from_outbox", die)
        assert in_child(lambda: MemoryStore(folder, Journal(folder)))
    assert check(folder)
