"""The index file may be deleted, damaged, locked or from a newer version; notes are never lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import StorageError
from app.index import database as database_module
from app.index.database import FILE_NAME, DamagedIndexError, open_database
from app.index.migrations import MIGRATIONS
from app.index.vault_index import VaultIndex
from app.vault.path import NotePath
from tests.index.conftest import IndexedVault, MakeVault

Reopen = Callable[..., Awaitable[VaultIndex]]


def file_of(vault: IndexedVault) -> Path:
    return vault.index._folder / FILE_NAME


def start_of(path: Path, table: str) -> int:
    """Return the offset of the first page of a table."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (page,) = connection.execute(query, (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return (page - 1) * size


def spoil(path: Path, start: int = 0, length: int = 1 << 30) -> None:
    """Overwrite a part of the file with garbage after merging its log."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    end = min(len(content), start + length)
    content[start:end] = b"\xa5" * (end - start)
    path.write_bytes(content)


async def test_a_file_that_is_no_index_is_replaced_and_reported(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault({"a.md": "[[b]]", "b.md": "x"})
    await vault.index.close()
    spoil(file_of(vault))
    index = await reopened(vault)
    assert index.notice is not None
    assert "replaced" in index.notice
    assert len(vault.rebuilds) == 1
    assert (await index.scan()).indexed == 2
    assert [link.source.text for link in index.backlinks(NotePath("b.md"))] == ["a.md"]


@pytest.mark.parametrize("kept", [0.9, 0.5, 0.0])
async def test_a_truncated_file_is_rebuilt_and_reported(
    make_vault: MakeVault, reopened: Reopen, kept: float
) -> None:
    notes = {f"n{number}.md": f"[[n{number // 2}]] word{number}\n" * 20 for number in range(60)}
    vault = await make_vault(notes)
    await vault.index.close()
    path = file_of(vault)
    spoil(path, 0, 0)
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * kept) if kept else 3)
    index = await reopened(vault)
    await index.scan()
    assert index.notice is not None and "being rebuilt" in index.notice
    assert len(index.notes()) == 60
    page = await index.search("word59 ")
    assert [hit.path.text for hit in page.hits] == ["n59.md"]
    assert {link.source.text for link in index.backlinks(NotePath("n1.md"))} == {"n2.md", "n3.md"}
    assert {path.name: path.read_text("utf-8") for path in vault.root.glob("*.md")} == notes


async def test_a_file_of_a_newer_version_is_replaced_and_reported(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault({"a.md": "x"})
    await vault.index.close()
    with closing(sqlite3.connect(file_of(vault))) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    index = await reopened(vault)
    assert "newer version" in (index.notice or "")
    assert (await index.scan()).indexed == 1


async def test_damage_found_while_scanning_is_rebuilt(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": f"word{number} " * 200 for number in range(80)})
    spoil(file_of(vault), 4096 * 3)
    for number in range(80):
        vault.write(f"{number}.md", f"changed [[{number + 1}]]")
    report = await vault.index.scan()
    assert vault.rebuilds
    assert report.indexed == 80
    assert vault.sources("5.md") == ["4.md"]


async def test_damage_found_while_reading_is_rebuilt(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": f"[[{number + 1}]] " * 50 for number in range(80)})
    # A page cache would hide the damage, so read with new connections.
    path = file_of(vault)
    await asyncio.to_thread(vault.index._database.close)
    spoil(path, start_of(path, "links"), 4096)
    vault.index._database = database_module.IndexDatabase(path)
    rebuilt = asyncio.Event()
    from app.index.records import IndexUpdated

    vault.events.subscribe(IndexUpdated, lambda event: event.total == 80 and rebuilt.set())
    with pytest.raises(DamagedIndexError):
        vault.index.graph()
    await rebuilt.wait()
    await vault.index._rebuild_task
    assert len(vault.index.graph().edges) == 80 * 50
    assert vault.rebuilds


async def test_the_file_can_be_deleted_between_two_starts(make_vault: MakeVault, reopened: Reopen) -> None:
    vault = await make_vault({"a.md": "x"})
    await vault.index.close()
    file_of(vault).unlink()
    index = await reopened(vault)
    assert index.notice is None
    assert (await index.scan()).indexed == 1


async def test_a_locked_file_is_a_clear_error_and_nothing_is_lost(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.sqlite.BUSY_TIMEOUT_S", 0.05)
    vault = await make_vault({"a.md": "x"})
    with closing(sqlite3.connect(file_of(vault), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError) as caught:
            await vault.index.refresh([vault.write("b.md", "y")])
        assert "locked" in caught.value.message
        assert not isinstance(caught.value, DamagedIndexError)
        assert vault.index.resolver.resolve("b", None).path is None
        assert len(vault.index.notes()) == 1
        other.execute("ROLLBACK")
    await vault.index.refresh([NotePath("b.md")])
    assert vault.index.resolver.resolve("b", None).path == NotePath("b.md")


async def test_a_file_locked_at_the_start_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.sqlite.BUSY_TIMEOUT_S", 0.05)
    database, _ = open_database(tmp_path)
    database.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError) as caught:
            open_database(tmp_path)
        assert not isinstance(caught.value, DamagedIndexError)
        other.execute("ROLLBACK")
    database, reason = open_database(tmp_path)
    assert reason is None
    database.close()


def test_a_failed_migration_keeps_the_previous_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise sqlite3.OperationalError("no such thing")

    monkeypatch.setattr(database_module, "MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(StorageError):
        open_database(tmp_path)
    monkeypatch.setattr(database_module, "MIGRATIONS", MIGRATIONS)
    database, reason = open_database(tmp_path)
    assert reason is None
    with database.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    database.close()


async def test_words_that_waited_in_a_file_of_the_fourth_shape_come_with_their_headings(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault({"a.md": "# Head\n- [ ] task\nword"})
    await vault.index.close()
    with closing(sqlite3.connect(file_of(vault))) as connection:
        connection.executescript(
            "DROP TABLE unworded;"
            "CREATE TABLE unworded (note INTEGER PRIMARY KEY, name TEXT NOT NULL, aliases TEXT NOT NULL,"
            " headings TEXT NOT NULL, tags TEXT NOT NULL) STRICT;"
            "INSERT INTO unworded SELECT rowid, name, aliases, headings, tags FROM heads;"
            "DELETE FROM heads; DELETE FROM fulltext; PRAGMA user_version = 4;"
        )
    index = await reopened(vault)
    assert (await index.search("section:(head word)")).total == 0
    await index.scan()
    for query in ("section:(head word)", "task:task", "word"):
        assert [hit.path.text for hit in (await index.search(query)).hits] == ["a.md"], query


async def test_notes_that_were_judged_by_an_earlier_version_are_hidden_until_they_are_judged_again(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault({"open.md": "word", "own.md": "---\nai:\n  - private\n---\nword"})
    await vault.index.close()
    with closing(sqlite3.connect(file_of(vault))) as connection:
        connection.executescript("UPDATE notes SET private = 0; PRAGMA user_version = 5;")
    index = await reopened(vault)
    assert index.private_notes() == {NotePath("open.md"), NotePath("own.md")}
    assert (await index.search("word", private=False)).total == 0
    await index.scan()
    assert index.private_notes() == {NotePath("own.md")} and index.is_private(NotePath("own.md"))
    assert [hit.path.text for hit in (await index.search("word", private=False)).hits] == ["open.md"]


@pytest.mark.parametrize("connect", ["read_connection", "search_connection", "transaction"])
def test_an_error_that_ended_the_transaction_is_reported(tmp_path: Path, connect: str) -> None:
    database, _ = open_database(tmp_path)
    with pytest.raises(StorageError, match="disk I/O error"), getattr(database, connect)() as connection:
        connection.execute("ROLLBACK")  # As SQLite does on such an error.
        raise sqlite3.OperationalError("disk I/O error")
    database.close()


async def test_a_closed_index_raises_an_error(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "x"})
    await vault.index.close()
    with pytest.raises(StorageError):
        vault.index.notes()
    with pytest.raises(StorageError):
        await vault.index.search("x")
    with pytest.raises(StorageError):
        await vault.index.scan()
