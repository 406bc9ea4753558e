"""After any damage to a file of the app, the vault opens and works, and the user is informed."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app import paths
from app.agent.conversations import SCHEMA as CONVERSATIONS
from app.agent.transcript import UserText
from app.errors import StorageError
from app.permissions.caller import Caller
from app.settings import Settings
from app.toolkit.call import Call
from app.toolkit.memory_service import ConversationQuery
from app.vault.journal_database import SCHEMA
from app.workspace.opening import open_workspace
from app.workspace.vault_storage import StoreReplaced
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover

DATA = ("journal.sqlite", "audit.sqlite3", "conversations.sqlite", "memory.sqlite", "pending.sqlite")
DERIVED = ("index.sqlite", "vectors.sqlite")


def newer(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


FAULTS: dict[str, Callable[[Path], object]] = {
    "emptied": lambda file: file.write_bytes(b""),
    "truncated": lambda file: os.truncate(file, file.stat().st_size // 2 + 100),
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "garbage": lambda file: file.write_bytes(b"not a database " * 1000),
    "newer": newer,
}


async def opened(root: Path, approver: ScriptedApprover) -> Workspace:
    settings = Settings()
    settings.embeddings.on_battery = settings.embeddings.when_busy = "paused"
    return await open_workspace(root, settings, approver, brief=True)


async def used(root: Path, approver: ScriptedApprover) -> int:
    """Open the vault, change a note with a tool, and close it; return the number of the audit entry."""
    workspace = await opened(root, approver)
    await workspace.start_scan(lambda progress: None)
    outcome = await workspace.runner.run(
        Call.of("edit_note", {"name": "Tea", "op": "append", "text": "Black."}, Caller.user())
    )
    assert outcome.success
    conversation = workspace._files.conversations.create("Tea")
    workspace._files.conversations.append(conversation.id, UserText(turn="t", text="Which tea?", at=1.0))
    await workspace.close()
    assert outcome.entry is not None
    return outcome.entry


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", DATA)
async def test_an_unusable_store_is_set_aside_and_reported(
    root: Path, approver: ScriptedApprover, name: str, fault: str
) -> None:
    await used(root, approver)
    file = paths.vault_data_folder(root) / name
    FAULTS[fault](file)
    spoilt = file.read_bytes()
    workspace = await opened(root, approver)
    try:
        told = [notice for notice in workspace.notices if f"{file.stem}.damaged-" in notice]
        assert len(told) == 1, workspace.notices
        asides = list(file.parent.glob(f"{file.stem}.damaged-*{file.suffix}"))
        assert [aside.read_bytes() for aside in asides] == [spoilt]
        entries = workspace.audit.entries()
        assert not any("before the call was logged" in entry.reason for entry in entries)
        await workspace.start_scan(lambda progress: None)
        arguments = {"name": "Tea", "op": "append", "text": "White."}
        assert (await workspace.runner.run(Call.of("edit_note", arguments, Caller.user()))).success
    finally:
        await workspace.close()
    workspace = await opened(root, approver)
    assert workspace.notices == []
    await workspace.close()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", DERIVED)
async def test_derived_data_is_built_again(
    root: Path, approver: ScriptedApprover, name: str, fault: str
) -> None:
    await used(root, approver)
    FAULTS[fault](paths.vault_cache_folder(root) / name)
    workspace = await opened(root, approver)
    await workspace.start_scan(lambda progress: None)
    assert [str(note.path) for note in workspace.index.notes()] == ["Tea.md"]
    assert workspace.notices == []
    await workspace.close()
    assert list(paths.vault_cache_folder(root).glob("*damaged*")) == []


async def test_a_file_that_is_read_only_is_written_again(root: Path, approver: ScriptedApprover) -> None:
    await used(root, approver)
    for name in DATA:
        (paths.vault_data_folder(root) / name).chmod(0o444)
    assert await used(root, approver)


@pytest.mark.parametrize("lost", ["emptied", "deleted", "put back"])
async def test_an_old_entry_is_not_undone_by_another_change_of_its_number(
    root: Path, approver: ScriptedApprover, lost: str
) -> None:
    journal = paths.vault_data_folder(root) / "journal.sqlite"
    workspace = await opened(root, approver)
    await workspace.close()
    empty = journal.read_bytes()
    entry = await used(root, approver)
    if lost == "emptied":
        journal.write_bytes(b"")
    elif lost == "deleted":
        journal.unlink()
    else:
        journal.write_bytes(empty)
    await used(root, approver)
    text = (root / "Tea.md").read_bytes()
    workspace = await opened(root, approver)
    outcome = await workspace.runner.run(Call.of("undo", {"entry": entry}, Caller.user()))
    assert not outcome.success
    assert (root / "Tea.md").read_bytes() == text
    await workspace.close()


async def test_a_journal_of_another_vault_undoes_nothing(
    root: Path, approver: ScriptedApprover, tmp_path: Path
) -> None:
    entry = await used(root, approver)
    other = tmp_path / "Other"
    other.mkdir()
    (other / "Tea.md").write_text("Green.\n", "utf-8")
    await used(other, approver)
    foreign = paths.vault_data_folder(other) / "journal.sqlite"
    (paths.vault_data_folder(root) / "journal.sqlite").write_bytes(foreign.read_bytes())
    workspace = await opened(root, approver)
    outcome = await workspace.runner.run(Call.of("undo", {"entry": entry}, Caller.user()))
    assert not outcome.success
    assert "no longer has the change" in (outcome.error or {})["message"]
    await workspace.close()


async def test_the_apps_data_is_private(root: Path, approver: ScriptedApprover) -> None:
    await used(root, approver)
    for folder in (paths.vault_data_folder(root), paths.vault_cache_folder(root)):
        open_to_others = [file.name for file in (folder, *folder.rglob("*")) if file.stat().st_mode & 0o077]
        assert open_to_others == []


async def test_damage_found_in_use_is_reported_and_the_next_change_works(
    root: Path, approver: ScriptedApprover, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The data that the check at the opening has read would be in memory.
    monkeypatch.setattr("app.vault.journal_database.SCHEMA", replace(SCHEMA, max_full_check_bytes=0))
    await used(root, approver)
    workspace = await opened(root, approver)
    told: list[str] = []
    workspace.events.subscribe(StoreReplaced, lambda event: told.append(event.message))
    try:
        await workspace.start_scan(lambda progress: None)
        file = paths.vault_data_folder(root) / "journal.sqlite"
        content = bytearray(file.read_bytes())
        content[4096:] = b"\xff" * (len(content) - 4096)
        file.write_bytes(content)
        arguments = {"name": "Tea", "op": "append", "text": "White."}
        assert not (await workspace.runner.run(Call.of("edit_note", arguments, Caller.user()))).success
        assert (root / "Tea.md").read_text("utf-8") == "Green.\nBlack.\n"
        assert (await workspace.runner.run(Call.of("edit_note", arguments, Caller.user()))).success
        async with asyncio.timeout(30):
            while not told:
                await asyncio.sleep(0.01)
        assert "The journal could not be read" in told[0]
    finally:
        await workspace.close()


async def test_a_file_that_cannot_be_opened_leaves_no_other_open(
    root: Path, approver: ScriptedApprover
) -> None:
    await used(root, approver)
    file = paths.vault_data_folder(root) / "memory.sqlite"
    kept = file.read_bytes()
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patched, pytest.raises(StorageError, match="locked"):
            patched.setattr("app.storage.sqlite.BUSY_TIMEOUT_S", 0.01)
            await opened(root, approver)
    other.close()
    assert file.read_bytes() == kept
    assert await used(root, approver), "the lock of the vault is free again"


async def test_conversations_damaged_in_use_are_set_aside_reported_and_started_again(
    root: Path, approver: ScriptedApprover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.agent.conversations.SCHEMA", replace(CONVERSATIONS, max_full_check_bytes=0))
    await used(root, approver)
    workspace = await opened(root, approver)
    told: list[str] = []
    workspace.events.subscribe(StoreReplaced, lambda event: told.append(event.message))
    store = workspace._files.conversations
    (conversation,) = store.list_conversations()
    try:
        file = paths.vault_data_folder(root) / "conversations.sqlite"
        content = bytearray(file.read_bytes())
        content[4096:] = b"\xff" * (len(content) - 4096)
        file.write_bytes(content)
        said = UserText(turn="u", text="Which cup?", at=2.0)
        with pytest.raises(StorageError, match=r"set aside as conversations\.damaged-"):
            store.append(conversation.id, said)
        position = store.append(conversation.id, said)
        assert store.items(conversation.id)[position] == said
        assert [one.text for one in store.search(ConversationQuery("cup", 5))] == ["Which cup?"]
        assert [one.title for one in store.list_conversations()] == ["Which cup?"]
        async with asyncio.timeout(30):
            while not told:
                await asyncio.sleep(0)
    finally:
        await workspace.close()
    (aside,) = paths.vault_data_folder(root).glob("conversations.damaged-*.sqlite")
    assert told == [store.problem] and aside.name in told[0]
    assert bytes(content) == aside.read_bytes()
