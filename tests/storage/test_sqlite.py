"""Opening an SQLite file succeeds with any content, and deletes only derived data."""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import StorageError
from app.storage import sqlite as storage
from app.storage.sqlite import Database, Schema, open_database


def m001_words(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS words (word TEXT NOT NULL)")


def m002_counts(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE words ADD COLUMN count INTEGER NOT NULL DEFAULT 0")


SCHEMA = Schema("The list of words", (m001_words, m002_counts), ("SELECT word, count FROM words LIMIT 1",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "data" / "words.sqlite"
    db, damage = open_database(made, SCHEMA)
    assert damage is None
    with db:
        db.executemany("INSERT INTO words VALUES (?, 1)", [("word" * 50,)] * 500)
    db.close()
    return made


def words(file: Path, schema: Schema = SCHEMA) -> tuple[int, storage.Damage | None]:
    db, damage = open_database(file, schema)
    (count,) = db.execute("SELECT count(*) FROM words").fetchone()
    db.execute("INSERT INTO words VALUES ('new', 1)")
    db.close()
    return count, damage


def asides(file: Path) -> list[Path]:
    return sorted(file.parent.glob("words.damaged-*.sqlite"))


def drop_table(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("DROP TABLE words")
    db.close()


def newer(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


FAULTS = {
    "emptied": lambda file: file.write_bytes(b""),
    "truncated": lambda file: os.truncate(file, file.stat().st_size // 2 + 100),
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "garbage": lambda file: file.write_bytes(b"not a database " * 1000),
    "spoilt pages": lambda file: file.write_bytes(file.read_bytes()[:4096] + b"\xa5" * 40_000),
    "no table": drop_table,
    "newer": newer,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_cannot_be_used_is_set_aside_whole_and_reported(file: Path, fault: str) -> None:
    FAULTS[fault](file)
    content = file.read_bytes()
    count, damage = words(file)
    assert count == 0
    assert damage is not None
    assert damage.moved_to in asides(file)
    assert damage.moved_to.name in damage.message
    assert damage.moved_to.read_bytes() == content
    assert words(file) == (1, None), "the next opening has nothing to tell"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_derived_file_is_deleted(file: Path, fault: str) -> None:
    FAULTS[fault](file)
    count, _ = words(file, replace(SCHEMA, derived=True))
    assert (count, asides(file)) == (0, [])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=6000), st.integers(0, 50_000))
def test_any_bytes_anywhere_in_the_file_leave_it_usable(file: Path, content: bytes, at: int) -> None:
    old = file.read_bytes()
    spoilt = old[:at] + content + old[at + len(content) :]
    file.write_bytes(spoilt)
    _, damage = words(file)
    assert damage is None or (damage.moved_to is not None and damage.moved_to.read_bytes() == spoilt)
    file.write_bytes(old)


def test_two_damaged_files_of_one_second_are_both_kept(file: Path) -> None:
    for content in (b"one" * 100, b"two" * 100):
        file.write_bytes(content)
        words(file)
    assert {one.read_bytes() for one in asides(file)} == {b"one" * 100, b"two" * 100}


def test_a_log_of_the_damaged_file_never_enters_the_new_one(file: Path) -> None:
    db, _ = open_database(file, SCHEMA)
    db.execute("INSERT INTO words VALUES ('in the log', 1)")
    log = file.with_name(file.name + "-wal").read_bytes()
    db.close()
    file.write_bytes(b"garbage" * 1000)
    file.with_name(file.name + "-wal").write_bytes(log)
    count, damage = words(file)
    assert count == 0
    assert damage is not None
    assert damage.moved_to is not None
    assert damage.moved_to.with_name(damage.moved_to.name + "-wal").read_bytes() == log


def test_files_and_folders_are_private_also_those_that_were_not(file: Path) -> None:
    file.chmod(0o444)
    db, _ = open_database(file, SCHEMA)
    db.execute("INSERT INTO words VALUES ('written', 1)")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()}
    assert modes == dict.fromkeys(("words.sqlite", "words.sqlite-wal", "words.sqlite-shm"), 0o600)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    db.close()


def test_a_locked_file_is_an_error_and_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "BUSY_TIMEOUT_S", 0.01)
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            open_database(file, SCHEMA)
    other.close()
    assert asides(file) == []


def test_a_disk_that_refuses_is_an_error_and_nothing_is_set_aside(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> sqlite3.Connection:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(storage, "_open_connection", refuse)
        with pytest.raises(StorageError, match="disk I/O"):
            open_database(file, SCHEMA)
    assert words(file) == (500, None)


def test_a_file_without_a_version_is_migrated(tmp_path: Path) -> None:
    file = tmp_path / "words.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE words (word TEXT NOT NULL)")
        db.execute("INSERT INTO words VALUES ('old')")
    db.close()
    assert words(file) == (1, None)


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (x)")
        raise sqlite3.OperationalError("the disk said no")

    file = tmp_path / "words.sqlite"
    with pytest.raises(StorageError):
        open_database(file, replace(SCHEMA, migrations=(m001_words, m002_counts, broken)))
    db, damage = open_database(file, SCHEMA)
    assert damage is None
    assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    db.close()


def test_a_read_only_process_writes_nothing(file: Path) -> None:
    db, _ = open_database(file, SCHEMA, writable=False)
    with pytest.raises(sqlite3.OperationalError):
        db.execute("INSERT INTO words VALUES ('x', 1)")
    db.close()
    file.write_bytes(b"garbage" * 1000)
    db, damage = open_database(file, SCHEMA, writable=False)
    assert db.execute("SELECT count(*) FROM words").fetchone() == (0,)
    db.close()
    assert damage is not None
    assert damage.moved_to == file
    assert file.read_bytes() == b"garbage" * 1000


def test_damage_found_in_use_is_set_aside_and_the_next_use_works(file: Path) -> None:
    # The data that the check has read would be in memory.
    db = Database(file, replace(SCHEMA, max_full_check_bytes=0))
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    with pytest.raises(StorageError, match="set aside"), db.transaction() as connection:
        connection.execute("SELECT count(word) FROM words WHERE word LIKE '%x'").fetchall()
    with db.transaction(write=True) as connection:
        connection.execute("INSERT INTO words VALUES ('new', 1)")
    assert db.damage is not None
    db.close()
    assert words(file) == (1, None)
