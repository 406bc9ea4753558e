"""A large scan completes the graph before the texts, and indexes all texts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from app.events import EventBus
from app.index import deferred_indexes
from app.index.records import ScanProgress
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath
from tests.index.conftest import MakeVault

Reopen = Callable[..., Awaitable[VaultIndex]]

NOTES = {
    f"f{n % 7}/note {n}.md": f"# Head {n}\n[[note {n // 2}]] #t{n % 5} word{n} 漢字\n- [ ] task {n}"
    for n in range(260)
}
NOTES["titled.md"] = "---\ntitle: A longtitle\naliases: [Nickname, Zweitname]\ntags: [inbox/Sub]\n---\ntext\n"


async def test_every_link_is_known_before_the_first_word(make_vault: MakeVault) -> None:
    vault = await make_vault(NOTES, scan=False)
    seen: list[tuple[int, int]] = []

    def observe(progress: ScanProgress) -> None:
        if progress.phase == "words" and not seen:
            stats = vault.index.stats()
            seen.append((stats.notes, stats.links))

    await vault.index.scan(observe)
    assert seen == [(261, 260)]


async def test_words_written_last_are_the_words_written_at_once(make_vault: MakeVault) -> None:
    vault = await make_vault(NOTES)
    few = VaultIndex(vault.root, vault.root.parent / "few", IndexSettings(), EventBus())
    await few.open()
    for path in NOTES:
        await few.refresh([NotePath(path)])
    try:
        asked = ("word77 ", "漢", "longtitle ", "zweitname ", "tag:t3 ", "file:titled ", '"head 12"')
        for query in (*asked, "task:77"):
            assert await found(vault.index, query) == await found(few, query) != [], query
        with (
            vault.index._open_database.read_connection() as last,
            few._open_database.read_connection() as once,
        ):
            for table, key, columns in (
                ("fulltext", "rowid", "t.*"),
                ("heads", "rowid", "t.*"),
                ("headings", "note", "line, level, text"),
                ("tasks", "note", "line, done, text"),
            ):
                found_in = f"{table} AS t JOIN files ON files.id = t.{key}"
                rows = f"SELECT path, {columns} FROM {found_in} ORDER BY path"
                assert last.execute(rows).fetchall() == once.execute(rows).fetchall() != []
            assert last.execute("SELECT count(*) FROM unworded").fetchone() == (0,)
    finally:
        await few.close()


async def test_a_first_scan_leaves_every_index_of_the_tables(make_vault: MakeVault, reopened: Reopen) -> None:
    vault = await make_vault(NOTES, scan=False)
    wanted, while_reading = indexes(vault.index), list[set[str]]()

    def observe(progress: ScanProgress) -> None:
        if progress.phase == "read":
            while_reading.append(indexes(vault.index))

    await vault.index.scan(observe)
    assert while_reading[-1] < wanted == indexes(vault.index)


async def test_indexes_that_a_scan_could_not_make_are_made_at_the_next_opening(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault(NOTES, scan=False)
    wanted = indexes(vault.index)
    with vault.index._open_database.transaction() as connection:
        deferred_indexes.defer_indexes(connection)  # The state of a process killed at that point.
    assert indexes(vault.index) < wanted
    index = await reopened(vault)
    assert indexes(index) == wanted
    await index.scan()
    assert indexes(index) == wanted


async def test_a_scan_interrupted_during_the_words_resumes_the_next_time(
    make_vault: MakeVault, reopened: Reopen
) -> None:
    vault = await make_vault(NOTES, scan=False)
    seen: list[ScanProgress] = []
    report = await vault.index.scan(seen.append, lambda: bool(seen) and seen[-1].phase == "words")
    assert report.cancelled
    assert await vault.found("word77 ") == []
    index = await reopened(vault)
    again = await index.scan()
    assert (again.cancelled, again.indexed, again.unchanged) == (False, 0, 261)
    assert await found(index, "word77 ") == ["f0/note 77.md"]


async def test_a_note_that_changes_before_its_words_come_has_its_new_words(make_vault: MakeVault) -> None:
    vault = await make_vault(NOTES, scan=False)

    def change(progress: ScanProgress) -> None:
        if progress.phase == "words" and progress.done == 0:
            vault.write("f0/note 0.md", "quite otherwise [[titled]]", at=time.time())
            (vault.root / "f1/note 1.md").unlink()

    await vault.index.scan(change)
    assert await vault.found("otherwise ") == ["f0/note 0"]
    assert await vault.found("word0 ") == []
    assert vault.sources("titled.md") == ["f0/note 0.md"]
    assert vault.index.note(NotePath("f1/note 1.md")) is None


async def test_a_note_refreshed_among_the_words_is_there_once(make_vault: MakeVault) -> None:
    vault = await make_vault(NOTES, scan=False)
    tasks: list[asyncio.Future[object]] = []

    def change(progress: ScanProgress) -> None:
        if progress.phase == "words" and not tasks:
            path = vault.write("f0/note 0.md", "quite otherwise", at=time.time())
            tasks.append(asyncio.ensure_future(vault.index.refresh([path])))

    await vault.index.scan(change)
    await tasks[0]
    assert await vault.found("otherwise ") == ["f0/note 0"]
    with vault.index._open_database.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM fulltext").fetchone() == (261,)


def indexes(index: VaultIndex) -> set[str]:
    """Return the indexes of the tables in the file."""
    with index._open_database.read_connection() as connection:
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index'")
        return {sql for (sql,) in rows if sql}


async def found(index: VaultIndex, query: str) -> list[str]:
    page = await index.search(query, limit=300)
    return sorted(hit.path.text for hit in page.hits)
