"""The memory store is atomic, journaled, undone, merged, backed up, and restored."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import ConflictError, InvalidParametersError, NotFoundError, StorageError
from app.memory import edits
from app.memory.block import Block, BlockType, BlockView, Permission
from app.memory.changes import (
    MEMORY_PLACE,
    block_change,
    create_block,
    delete_block,
    edit_block,
    insert_entry,
)
from app.memory.entry import ArchiveEntry
from app.memory.serialization import serialize_block
from app.memory.store import MemoryStore
from app.vault.changes import ChangeSet, Create, Move, Update
from app.vault.path import NotePath
from tests.memory.blocks import blocks
from tests.memory.conftest import MemoryBench

ME = "scriptorium"
PLAN = Block.new(ME, "plan", text="one\ntwo\nthree\n")


def current(kept: MemoryBench, path: NotePath) -> bytes | None:
    try:
        return kept.store.read(path)
    except NotFoundError:
        return None


def undo(kept: MemoryBench, *commits: int) -> None:
    plan = kept.journal.plan_undo(commits, lambda path: current(kept, path))
    assert not plan.conflicts
    kept.store.commit(plan.change_set, author="undo")


def test_commits_survive_a_restart(kept: MemoryBench) -> None:
    commit = kept.store.commit(create_block(PLAN), author="Model", turn="t", entry="e")
    assert (commit.place, commit.turn, commit.entry) == (MEMORY_PLACE, "t", "e")
    kept.store.commit(edit_block(PLAN, edits.append(PLAN, "four")), author="Model")
    kept.reopen()
    assert kept.store.block("PLAN", ME).text == "one\ntwo\nthree\nfour"
    assert [version.author for version in kept.journal.history(PLAN.path, place=MEMORY_PLACE)] == [
        "Model"
    ] * 2


def test_several_blocks_are_written_together_or_not_at_all(kept: MemoryBench) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    other = Block.new(ME, "other")
    stale = block_change(PLAN.with_text("something else"), PLAN.with_text("x"))
    with pytest.raises(ConflictError):
        kept.store.commit(
            ChangeSet.of(Create(other.path, serialize_block(other)), stale, place=MEMORY_PLACE), author="A"
        )
    assert kept.store.find("other", ME) is None and len(kept.journal.commits()) == 1


@pytest.mark.parametrize(
    "change",
    [
        Create(PLAN.path, b"nonsense"),
        Create(NotePath("scriptorium/other"), serialize_block(PLAN)),
        Move(PLAN.path, NotePath("scriptorium/b"), serialize_block(PLAN), serialize_block(PLAN)),
        Create(ArchiveEntry.new(ME, "x").path, ArchiveEntry.new(ME, "y").data),
    ],
)
def test_content_that_violates_the_schema_is_refused(kept: MemoryBench, change: Create | Move) -> None:
    with pytest.raises(InvalidParametersError):
        kept.store.commit(ChangeSet((change,), place=MEMORY_PLACE), author="A")
    with pytest.raises(InvalidParametersError):
        kept.store.commit(ChangeSet((change,)), author="A")
    assert not kept.journal.commits() and not kept.store.all_blocks()


def test_bytes_in_another_form_are_kept_in_the_one_form_and_can_be_undone(kept: MemoryBench) -> None:
    loose = serialize_block(PLAN).replace(b'type: "working"', b'type:  "working"')
    commit = kept.store.commit(ChangeSet.of(Create(PLAN.path, loose), place=MEMORY_PLACE), author="A")
    assert kept.store.read(PLAN.path) == serialize_block(PLAN)
    undo(kept, commit.id)
    assert not kept.store.all_blocks()


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(blocks(label="any"), min_size=1, max_size=4))
def test_undo_restores_every_state(kept: MemoryBench, states: list[Block]) -> None:
    owner = f"agent {time.time_ns()}"
    made = [Block(owner, "any", s.type, s.schema, s.permission, content=s.content) for s in states]
    commits = [kept.store.commit(create_block(made[0]), author="A").id]
    for before, after in pairwise(made):
        if before != after:
            commits.append(kept.store.commit(edit_block(before, after), author="A").id)
    for number in reversed(commits[1:]):
        change = kept.journal.commit(number).changes[0]
        undo(kept, number)
        assert change.before is not None
        assert kept.store.read(made[0].path) == kept.journal.content(change.before)
    undo(kept, commits[0])
    assert current(kept, made[0].path) is None
    first = kept.journal.commit(commits[0]).changes[0].after or ""
    change = Create(made[0].path, kept.journal.content(first))
    kept.store.commit(ChangeSet.of(change, place=MEMORY_PLACE), author="A")
    assert kept.store.read(made[0].path) == serialize_block(made[0])


def test_undo_keeps_later_edits(kept: MemoryBench) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    upper = PLAN.with_text("ONE\ntwo\nthree\n")
    commit = kept.store.commit(edit_block(PLAN, upper), author="A")
    kept.store.commit(edit_block(upper, edits.append(upper, "four")), author="A")
    undo(kept, commit.id)
    assert kept.store.block("plan", ME).text == "one\ntwo\nthree\nfour"


def test_an_edit_made_on_an_earlier_version_is_merged_without_loss(kept: MemoryBench) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    base = kept.store.read(PLAN.path)
    kept.store.commit(edit_block(PLAN, PLAN.with_text("zero\none\ntwo\nthree\n")), author="A")
    mine = serialize_block(PLAN.with_text("one\nTWO words\nthree\n"))
    assert kept.store.merge_edit(PLAN.path, base, mine).endswith(b"zero\none\nTWO words\nthree\n")
    assert kept.store.merge_edit(PLAN.path, kept.store.read(PLAN.path), mine) == mine


def test_without_the_version_lines_are_merged_and_conflicts_are_errors(kept: MemoryBench) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    kept.store.commit(edit_block(PLAN, PLAN.with_text("ONE\ntwo\nthree\n")), author="A")
    with kept.store.database.transaction(write=True) as db:
        db.execute("DELETE FROM versions")
    base = serialize_block(PLAN)
    merged = kept.store.merge_edit(PLAN.path, base, serialize_block(PLAN.with_text("one\ntwo\nTHREE\n")))
    assert merged.endswith(b"ONE\ntwo\nTHREE\n")
    with pytest.raises(ConflictError):
        kept.store.merge_edit(PLAN.path, base, serialize_block(PLAN.with_text("eins\ntwo\nthree\n")))


def test_every_agent_starts_with_two_blocks_that_are_kept_from_the_first_edit_on(kept: MemoryBench) -> None:
    assert {one.label for one in kept.store.blocks("editor")} == {"human", "persona"}
    assert not kept.store.all_blocks()
    persona = kept.store.block("persona", "editor")
    kept.store.commit(edit_block(persona, persona.with_text("Brief.")), author="A")
    assert [one.label for one in kept.store.all_blocks()] == ["persona"]
    shown = {one.label: one for one in kept.store.pinned("editor")}
    assert shown["persona"].text == "Brief." and shown["human"].size == 0


def test_an_agent_finds_its_own_blocks_and_those_shared_with_it(kept: MemoryBench) -> None:
    shared = Block("editor", "style", shares={ME: Permission.APPEND}, content="short")
    for block in (PLAN, shared, Block("editor", "secret")):
        kept.store.commit(create_block(block), author="A")
    assert kept.store.block("Style", ME).owner == "editor"
    with pytest.raises(NotFoundError) as error:
        kept.store.block("plans", ME)
    assert error.value.data["suggestions"] == ["plan"]
    with pytest.raises(NotFoundError):
        kept.store.block("secret", ME)
    kept.store.commit(create_block(Block(ME, "style", content="own")), author="A")
    assert kept.store.block("style", ME).text == "own"


def test_the_shown_part_of_a_pinned_block(kept: MemoryBench) -> None:
    block = PLAN.with_view(ME, BlockView(True, 2, 1))
    log = Block.new(ME, "diary", block_type=BlockType.LOG).with_view(ME, BlockView(True))
    for number in range(25):
        log = edits.append(log, f"day {number}")
    kept.store.commit(create_block(block), author="A")
    kept.store.commit(create_block(log), author="A")
    shown = {one.label: one for one in kept.store.pinned(ME)}
    assert shown["plan"].text == "two\n" and shown["plan"].size == len(PLAN.text)
    assert shown["diary"].text.count("\n") == 20 and "day 24" in shown["diary"].text


def test_a_block_is_deleted_and_comes_back_by_undo(kept: MemoryBench) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    commit = kept.store.commit(delete_block(PLAN), author="A")
    assert kept.store.find("plan", ME) is None
    undo(kept, commit.id)
    assert kept.store.block("plan", ME) == PLAN


def test_a_journal_failure_rolls_the_memory_back(kept: MemoryBench, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.store.commit(create_block(PLAN), author="A")

    def refuse(draft: object) -> None:
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(kept.journal, "record", refuse)
        with pytest.raises(StorageError):
            kept.store.commit(edit_block(PLAN, PLAN.with_text("new")), author="A")
        with pytest.raises(StorageError):
            kept.store.commit(insert_entry(ArchiveEntry.new(ME, "gone")), author="A")
    assert kept.store.block("plan", ME) == PLAN
    kept.reopen()
    assert kept.store.block("plan", ME) == PLAN and len(kept.journal.commits()) == 1
    kept.store.commit(edit_block(PLAN, PLAN.with_text("new")), author="A")


def test_backups_are_made_once_a_day_and_a_few_are_kept(kept: MemoryBench) -> None:
    assert kept.store.database.back_up() is None
    kept.store.commit(create_block(PLAN), author="A")
    partial = kept.store.database.backups_folder / "memory-20200101-000000-000000000.part"
    partial.parent.mkdir()
    partial.write_bytes(b"cut off by a crash")
    first = kept.store.database.back_up()
    assert not partial.exists()
    assert first is not None and kept.store.database.back_up() is None
    for _ in range(6):
        kept.store.database.back_up(min_age=-1.0)
    names = kept.store.database.list_backups()
    assert len(names) == 5 and first not in names
    yesterday = time.time() - 90_000
    for name in names:
        os.utime(name, (yesterday, yesterday))
    kept.store.back_up()
    left = kept.store.database.list_backups()
    assert len(left) == 5 and names[0] not in left


def test_an_app_that_stays_open_backs_up_by_its_commits(
    kept: MemoryBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    assert not kept.store.database.list_backups()
    monkeypatch.setattr("app.memory.store._BACKUP_CHECK_INTERVAL_S", -1.0)
    kept.store.commit(edit_block(PLAN, PLAN.with_text("new")), author="A")
    kept.store.commit(create_block(Block.new(ME, "other")), author="A")
    assert len(kept.store.database.list_backups()) == 1


@pytest.mark.parametrize("backups", [0, 1, 2])
def test_a_damaged_memory_is_set_aside_and_restored_with_later_commits(
    kept: MemoryBench, backups: int
) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    for _ in range(backups):
        kept.store.database.back_up(min_age=-1.0)
    later = PLAN.with_text("later")
    kept.store.commit(edit_block(PLAN, later), author="A")
    kept.store.commit(insert_entry(ArchiveEntry.new(ME, "the archive, too")), author="A")
    kept.store.close()
    for part in ("-wal", "-shm"):
        (kept.folder / f"memory.sqlite{part}").unlink(missing_ok=True)
    (kept.folder / "memory.sqlite").write_bytes(b"not a database" * 100)
    if backups == 2:
        kept.store.database.list_backups()[-1].write_bytes(b"nor this" * 100)
    kept.store = MemoryStore(kept.folder, kept.journal)
    assert kept.store.problem is not None and "set aside" in kept.store.problem
    assert ("backup of" in kept.store.problem) is (backups > 0)
    assert kept.store.block("plan", ME) == later
    assert len(list(kept.folder.glob("memory.damaged-*.sqlite"))) == 1
    kept.store.commit(edit_block(later, PLAN), author="A")
    kept.reopen()
    assert kept.store.problem is None and kept.store.block("plan", ME) == PLAN


def test_a_second_app_reads_and_never_writes(kept: MemoryBench, tmp_path: Path) -> None:
    kept.store.commit(create_block(PLAN), author="A")
    reader = MemoryStore(kept.folder, kept.journal, writable=False)
    empty = MemoryStore(tmp_path / "none", kept.journal, writable=False)
    try:
        assert reader.block("plan", ME) == PLAN and not empty.all_blocks()
        with pytest.raises(StorageError):
            reader.commit(edit_block(PLAN, PLAN.with_text("x")), author="A")
        assert not (tmp_path / "none" / "memory.sqlite").exists()
    finally:
        reader.close()
        empty.close()


def test_an_entry_is_never_changed(kept: MemoryBench) -> None:
    entry = ArchiveEntry.new(ME, "tea", {"topic": "drinks"})
    kept.store.commit(insert_entry(entry), author="A")
    other = entry.data.replace(b"tea", b"coffee")
    with pytest.raises(InvalidParametersError):
        kept.store.commit(ChangeSet.of(Update(entry.path, entry.data, other), place=MEMORY_PLACE), author="A")
    with pytest.raises(InvalidParametersError):
        ArchiveEntry.new(ME, "  ")
