import os
import sqlite3
from pathlib import Path

import pytest

from app.errors import InvalidParametersError, NotFoundError, StorageError
from app.vault.changes import ChangeSet, Create, Delete, Move, Update, content_hash
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore

P = NotePath.parse


@pytest.fixture
def journal(tmp_path: Path):
    journal = Journal(tmp_path / "data")
    yield journal
    journal.close()


@pytest.fixture
def store(tmp_path: Path, journal: Journal) -> NoteStore:
    (tmp_path / "vault").mkdir()
    return NoteStore(tmp_path / "vault", journal)


def test_history_follows_moves_and_shows_external_edits(store: NoteStore, journal: Journal):
    root = store.root
    (root / "a.md").write_bytes(b"before us\n")
    store.commit(ChangeSet.of(Update(P("a.md"), b"before us\n", b"1\n"), summary="one"), author="agent")
    store.commit(ChangeSet.of(Move(P("a.md"), P("b.md"), b"1\n", b"1\n"), summary="two"), author="user")
    (root / "b.md").write_bytes(b"outside\n")
    store.commit(ChangeSet.of(Update(P("b.md"), b"outside\n", b"3\n"), summary="three"), author="agent")
    versions = journal.history(P("b.md"))
    assert [(v.author, v.summary, str(v.path)) for v in versions] == [
        ("agent", "three", "b.md"),
        ("outside", "", "b.md"),
        ("user", "two", "b.md"),
        ("agent", "one", "a.md"),
        ("outside", "", "a.md"),
    ]
    assert [journal.content(v.hash or "") for v in versions] == [
        b"3\n",
        b"outside\n",
        b"1\n",
        b"1\n",
        b"before us\n",
    ]
    assert versions[0].size == 2


def test_history_keeps_the_versions_of_a_deleted_note(store: NoteStore, journal: Journal):
    store.commit(ChangeSet.of(Create(P("a.md"), b"1\n")), author="agent")
    store.commit(ChangeSet.of(Delete(P("a.md"), b"1\n")), author="agent")
    assert [v.hash for v in journal.history(P("a.md"))] == [None, content_hash(b"1\n")]


def test_a_damaged_version_is_an_error(store: NoteStore, journal: Journal):
    store.commit(ChangeSet.of(Create(P("a.md"), b"1\n")), author="agent")
    with sqlite3.connect(journal.folder / "journal.sqlite") as db:
        db.execute("UPDATE contents SET data = x'00'")
    db.close()
    with pytest.raises(NotFoundError, match="damaged"):
        journal.content(content_hash(b"1\n"))


def test_a_case_rename_is_no_excuse_to_change_a_path_twice():
    rename = Move(P("a.md"), P("A.md"), b"1", b"1")
    assert ChangeSet.of(rename).changes == (rename,)
    for changes in ((Update(P("a.md"), b"1", b"2"), rename), (rename, Update(P("a.md"), b"1", b"2"))):
        with pytest.raises(InvalidParametersError):
            ChangeSet.of(*changes)


def test_a_case_rename_keeps_the_time_of_the_first_commit(store: NoteStore, journal: Journal):
    store.commit(ChangeSet.of(Create(P("a.md"), b"1\n")), author="agent")
    store.commit(ChangeSet.of(Move(P("a.md"), P("A.md"), b"1\n", b"1\n")), author="user")
    first = journal.commits()[-1].time
    many = [P("A.md"), *(P(f"{number}.md") for number in range(40))]
    assert journal.first_seen([P("A.md")]) == journal.first_seen(many) == {P("A.md"): first}


def test_restore_of_a_version_is_a_change_set(store: NoteStore, journal: Journal):
    store.commit(ChangeSet.of(Create(P("a.md"), b"1\n")), author="agent")
    store.commit(ChangeSet.of(Update(P("a.md"), b"1\n", b"2\n")), author="agent")
    store.commit(journal.restore(P("a.md"), content_hash(b"1\n"), b"2\n"), author="user")
    assert store.read(P("a.md")) == b"1\n"
    assert journal.restore(P("x.md"), content_hash(b"2\n"), None).changes == (Create(P("x.md"), b"2\n"),)


def test_commits_are_found_by_number_and_path(store: NoteStore, journal: Journal):
    one = store.commit(ChangeSet.of(Create(P("a.md"), b"1")), author="agent", turn="t1", entry="7")
    two = store.commit(ChangeSet.of(Create(P("b.md"), b"2")), author="user", turn="t2", note="why")
    assert journal.commit(one.id) == one
    assert journal.commits() == (two, one)
    assert journal.commits(1) == (two,)
    assert journal.commits(path=P("B.md")) == (two,)
    assert [(found.author, found.turn, found.entry, found.note) for found in (one, two)] == [
        ("agent", "t1", "7", ""),
        ("user", "t2", "", "why"),
    ]
    with pytest.raises(NotFoundError):
        journal.commit(99)


def test_the_oldest_contents_are_removed_first_and_commits_stay_listed(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    journal = Journal(tmp_path / "data", max_bytes=25_000)
    store = NoteStore(tmp_path / "vault", journal)
    contents = [os.urandom(10_000) for _ in range(5)]
    for number, content in enumerate(contents):
        store.commit(ChangeSet.of(Create(P(f"{number}.md"), content)), author="agent")
    assert journal.content(content_hash(contents[4])) == contents[4]
    assert journal.content(content_hash(contents[3])) == contents[3]
    with pytest.raises(NotFoundError):
        journal.content(content_hash(contents[0]))
    assert len(journal.commits()) == 5
    with pytest.raises(NotFoundError):
        journal.plan_undo([1], lambda path: b"changed since")
    assert journal.history(P("0.md"))[0].size == 10_000
    journal.close()


def test_a_commit_larger_than_the_limit_can_still_be_undone(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    journal = Journal(tmp_path / "data", max_bytes=10)
    store = NoteStore(tmp_path / "vault", journal)
    content = os.urandom(1_000)
    store.commit(ChangeSet.of(Create(P("a.md"), content)), author="agent")
    assert journal.content(content_hash(content)) == content
    journal.close()


def damage_header(file: Path) -> None:
    file.write_bytes(b"not a database at all" * 200)


def damage_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)


def damage_tables(file: Path) -> None:
    db = sqlite3.connect(file)
    db.execute("DROP TABLE changes")
    db.close()


@pytest.mark.parametrize("damage", [damage_header, damage_pages, damage_tables])
def test_a_damaged_file_is_set_aside_and_reported(tmp_path: Path, damage):
    (tmp_path / "vault").mkdir()
    journal = Journal(tmp_path / "data")
    NoteStore(tmp_path / "vault", journal).commit(ChangeSet.of(Create(P("a.md"), b"1")), author="agent")
    journal.close()
    damage(tmp_path / "data" / "journal.sqlite")
    damaged = (tmp_path / "data" / "journal.sqlite").read_bytes()
    journal = Journal(tmp_path / "data")
    assert journal.problem is not None
    aside = list((tmp_path / "data").glob("journal.damaged-*.sqlite"))
    assert [file.read_bytes()[-100:] for file in aside] == [damaged[-100:]]
    assert journal.commits() == ()
    store = NoteStore(tmp_path / "vault", journal)
    commit = store.commit(ChangeSet.of(Create(P("b.md"), b"2")), author="agent")
    assert commit.id > 1_000_000, "numbers of the lost journal are never used again"
    journal.close()
    assert Journal(tmp_path / "data").problem is None


def test_a_file_damaged_while_open_is_reported_and_the_next_commit_works(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    journal = Journal(tmp_path / "data")
    store = NoteStore(tmp_path / "vault", journal)
    contents = [os.urandom(500_000) for _ in range(12)]
    for number, content in enumerate(contents):
        store.commit(ChangeSet.of(Create(P(f"{number}.md"), content)), author="agent")
    journal.close()
    journal = Journal(tmp_path / "data")
    store = NoteStore(tmp_path / "vault", journal)
    damage_pages(tmp_path / "data" / "journal.sqlite")
    with pytest.raises(StorageError):
        for content in contents:
            journal.content(content_hash(content))
    assert journal.problem is not None
    store.commit(ChangeSet.of(Create(P("new.md"), b"n")), author="agent")
    journal.close()


def test_numbers_that_others_know_are_never_used_again(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    journal = Journal(tmp_path / "data")
    journal.reserve(41)
    store = NoteStore(tmp_path / "vault", journal)
    assert store.commit(ChangeSet.of(Create(P("a.md"), b"1")), author="agent").id == 42
    journal.reserve(5)
    assert store.commit(ChangeSet.of(Create(P("b.md"), b"1")), author="agent").id == 43
    journal.close()


def test_a_read_only_process_treats_a_damaged_journal_as_empty(tmp_path: Path):
    (tmp_path / "journal.sqlite").write_bytes(b"no database" * 100)
    journal = Journal(tmp_path, writable=False)
    assert journal.problem is not None
    assert journal.commits() == ()
    journal.close()
    assert [file.name for file in tmp_path.iterdir()] == ["journal.sqlite"]


def test_the_database_uses_durable_settings(journal: Journal):
    with journal._database.transaction() as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
