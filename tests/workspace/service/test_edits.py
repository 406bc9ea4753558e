"""The user's own edits never overwrite what they have not seen, with or without a window."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from app.errors import NotFoundError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.path import NotePath
from app.workspace import VaultService
from app.workspace.service.edits import Created, Failed, NameTaken, SaveConflict, Saved, merge_texts

A = NotePath("A.md")


@pytest.fixture
async def vault(open_notes: Callable, tmp_path: Path) -> VaultService:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "A.md").write_text("one\n")
    (root / "Longitude.md").write_text("one\n")
    (root / "Mentions.md").write_text("First line\nHere longitude stands alone.\n")
    return await open_notes(root)


async def test_a_note_is_saved_only_on_the_text_that_was_loaded(vault: VaultService) -> None:
    page = await vault.notes.load(A)
    saved = await vault.edits.save(page, "two\n")
    assert isinstance(saved, Saved) and saved.page.text == "two\n" and saved.page.hash != page.hash
    (vault.root / "A.md").write_text("by another program\n")
    conflict = await vault.edits.save(saved.page, "three\n")
    assert isinstance(conflict, SaveConflict) and conflict.theirs is not None and not conflict.by_app
    assert conflict.theirs.text == "by another program\n" == (vault.root / "A.md").read_text()


async def test_a_save_follows_a_note_that_the_app_has_moved(vault: VaultService) -> None:
    page = await vault.notes.load(A)
    moved = await vault.call(Call.of("move_note", {"name": "A", "new_name": "B"}, Caller.user()))
    assert moved.success
    result = await vault.edits.save(page, "two\n")
    assert isinstance(result, SaveConflict) and result.by_app
    assert result.theirs is not None and result.theirs.path == NotePath("B.md")


async def test_saving_a_deleted_note_says_that_it_is_gone(vault: VaultService) -> None:
    page = await vault.notes.load(A)
    (vault.root / "A.md").unlink()
    assert await vault.edits.save(page, "two\n") == SaveConflict(None)
    again = await vault.edits.create(A, "two\n")
    assert isinstance(again, Saved) and (vault.root / "A.md").read_text() == "two\n"
    assert isinstance(await vault.edits.create(A, "three\n"), SaveConflict)


@contextmanager
def paused_commits(vault: VaultService, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Pause each commit after its work on the disk; yield the event that resumes them."""
    journal, resumed = vault._workspace.journal, threading.Event()
    record = journal.record

    def record_later(draft):
        resumed.wait()
        return record(draft)

    with monkeypatch.context() as patch:
        patch.setattr(journal, "record", record_later)
        try:
            yield resumed
        finally:
            resumed.set()


async def let_others_read(vault: VaultService) -> None:
    """Let the tasks that read files continue as far as they can."""
    for _ in range(20):
        with suppress(NotFoundError):
            await vault.notes.load(NotePath("Missing.md"))


async def test_a_note_is_not_deleted_while_the_app_renames_it(vault: VaultService, monkeypatch) -> None:
    call = Call.of("move_note", {"name": "A", "new_name": "B"}, Caller.user())
    with paused_commits(vault, monkeypatch) as resumed:
        moving = asyncio.ensure_future(vault.call(call))
        while not vault.notes.exists(NotePath("B.md")):
            await asyncio.sleep(0)
        reading = asyncio.ensure_future(vault.edits.read_conflict(A))
        await let_others_read(vault)
        resumed.set()
        found = await reading
    assert (await moving).success
    assert found.theirs is not None and found.theirs.path == NotePath("B.md") and found.by_app


async def test_a_change_being_written_by_the_app_is_not_an_outside_change(
    vault: VaultService, monkeypatch
) -> None:
    page = await vault.notes.load(A)
    with paused_commits(vault, monkeypatch) as resumed:
        saving = asyncio.ensure_future(vault.edits.save(page, "two\n"))
        while vault.notes.read(A) == page.content:
            await asyncio.sleep(0)
        reading = asyncio.ensure_future(vault.edits.read_conflict(A))
        await let_others_read(vault)
        resumed.set()
        found = await reading
    assert isinstance(await saving, Saved)
    assert found.theirs is not None and found.theirs.text == "two\n" and found.by_app


async def test_a_note_that_another_program_moves_is_followed(vault: VaultService) -> None:
    page = await vault.notes.load(A)
    (vault.root / "A.md").rename(vault.root / "B.md")
    result = await vault.edits.save(page, "two\n")
    assert isinstance(result, SaveConflict) and not result.by_app
    assert result.theirs is not None and result.theirs.path == NotePath("B.md")
    (vault.root / "B.md").rename(vault.root / "C.md")
    found = await vault.edits.read_conflict(A)
    assert found.theirs is not None and found.theirs.path == NotePath("C.md")


async def test_a_note_is_not_deleted_while_another_program_replaces_it(
    vault: VaultService, monkeypatch
) -> None:
    file, load, missed = vault.root / "A.md", vault.notes.load, []

    async def load_while_it_is_replaced(path):
        try:
            return await load(path)
        except NotFoundError:
            missed.append(path)
            file.write_text("replaced\n")
            raise

    monkeypatch.setattr(vault.notes, "load", load_while_it_is_replaced)
    file.unlink()
    found = await vault.edits.read_conflict(A)
    assert missed == [A]
    assert found.theirs is not None and found.theirs.text == "replaced\n"


async def test_a_removed_note_is_deleted_until_it_is_back(vault: VaultService) -> None:
    (vault.root / "A.md").unlink()
    assert await vault.edits.read_conflict(A) == SaveConflict(None)
    (vault.root / "A.md").write_text("back\n")
    found = await vault.edits.read_conflict(A)
    assert found.theirs is not None and found.theirs.text == "back\n"


async def test_a_note_is_created_by_name_once(vault: VaultService) -> None:
    made = await vault.edits.create_named("Ideas/Tides")
    assert made == Created(NotePath("Ideas/Tides.md"))
    assert (vault.root / "Ideas/Tides.md").read_text() == "# Tides\n"
    assert await vault.edits.create_named("tides", "Ideas") == NameTaken(NotePath("Ideas/Tides.md"))
    assert isinstance(await vault.edits.create_named("a:b/../c"), Failed)


async def test_a_mention_becomes_a_link_that_can_be_undone(vault: VaultService) -> None:
    longitude = NotePath("Longitude.md")
    (mention,) = vault.notes.unlinked_mentions(longitude)
    assert (await vault.edits.link_mention(mention, longitude)).success
    text = (vault.root / "Mentions.md").read_text()
    assert text == "First line\nHere [[Longitude|longitude]] stands alone.\n"


async def test_a_mention_in_a_table_is_linked_without_a_new_cell(vault: VaultService) -> None:
    (vault.root / "Mentions.md").write_text("Name | Note\n--- | ---\nthe longitude | good\n")
    await vault.start_scan(lambda progress: None)
    longitude = NotePath("Longitude.md")
    (mention,) = vault.notes.unlinked_mentions(longitude)
    assert (await vault.edits.link_mention(mention, longitude)).success
    text = (vault.root / "Mentions.md").read_text()
    assert text == "Name | Note\n--- | ---\nthe [[Longitude\\|longitude]] | good\n"


def test_texts_are_merged_unless_they_collide() -> None:
    base = b"a\nb\nc\nd\n"
    assert merge_texts(base, b"A\nb\nc\nd\n", b"a\nb\nc\nD\n") == "A\nb\nc\nD\n"
    assert merge_texts(base, b"x\nb\nc\nd\n", b"y\nb\nc\nd\n") is None


async def test_a_note_with_a_very_long_line_is_read_as_an_excerpt(vault: VaultService) -> None:
    (vault.root / "Long.md").write_text("x" * 300_000)
    page = await vault.notes.load(NotePath("Long.md"))
    assert not page.is_complete and "300,000 bytes" in page.problem and len(page.text) < 3000
