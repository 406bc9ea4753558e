"""The migrations of the index file, an append-only list.

`PRAGMA user_version` is the number of completed migrations. A migration may also just reset hashes
(`UPDATE files SET hash = NULL`), so that the next scan reads everything again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_M001 = """
-- Every file that a link can refer to. hash is NULL until a note has been read; seen_ns is the modification
-- time at the last read, 0 if the file may have changed since within the clock's resolution.
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, key TEXT NOT NULL, is_note INTEGER NOT NULL,
    size INTEGER NOT NULL, seen_ns INTEGER NOT NULL, modified REAL NOT NULL, created REAL NOT NULL,
    hash TEXT, aliases TEXT NOT NULL DEFAULT '[]', note_id TEXT
) STRICT;
CREATE INDEX files_by_key ON files (key);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, name_key TEXT NOT NULL, title TEXT NOT NULL,
    type TEXT NOT NULL, confidence REAL, tags TEXT NOT NULL, properties TEXT NOT NULL, problem TEXT,
    problem_kind TEXT, private INTEGER NOT NULL, words INTEGER NOT NULL, body_line INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_by_type ON notes (type);

-- target_id is the link's current target: a file, or NULL. link_key finds the links that an added or removed
-- name can affect (see names.link_key).
CREATE TABLE links (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, target TEXT NOT NULL, target_key TEXT NOT NULL,
    link_key TEXT NOT NULL, target_id INTEGER, ambiguous INTEGER NOT NULL, type TEXT NOT NULL,
    confidence REAL, note TEXT, embed INTEGER NOT NULL, line INTEGER NOT NULL, context TEXT NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL
) STRICT;
CREATE INDEX links_by_source ON links (source);
CREATE INDEX links_by_target ON links (target_id);
CREATE INDEX links_by_key ON links (link_key);

-- One row for each tag of a note and, implied, for each of its ancestors.
CREATE TABLE tags (
    key TEXT NOT NULL, note INTEGER NOT NULL, name TEXT NOT NULL, implied INTEGER NOT NULL,
    PRIMARY KEY (key, note)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_note ON tags (note);

CREATE TABLE properties (
    key TEXT NOT NULL, note INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (key, note)
) STRICT, WITHOUT ROWID;
CREATE INDEX properties_by_note ON properties (note);

CREATE TABLE headings (
    note INTEGER NOT NULL, line INTEGER NOT NULL, level INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (note, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    note INTEGER NOT NULL, line INTEGER NOT NULL, done INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (note, line)
) STRICT, WITHOUT ROWID;

-- Files and folders that are not in `files` or could not be read, with the reason.
CREATE TABLE problems (path TEXT PRIMARY KEY, reason TEXT NOT NULL, kind TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- The words. Letters of scripts without spaces are separated (see normalization.segment), so that any part of
-- a CJK text is found. `text` is the whole note, line by line.
CREATE VIRTUAL TABLE fulltext USING fts5 (
    name, aliases, headings, tags, text, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
INSERT INTO fulltext (fulltext, rank) VALUES ('rank', 'bm25(10.0, 8.0, 4.0, 4.0, 1.0)');
"""


def m001_create_schema(connection: sqlite3.Connection) -> None:
    """Create the first schema."""
    _run(connection, _M001)


_M002 = """
-- Indexes for the sort orders of hits, which a search walks until a page is full, and for private notes.
CREATE INDEX files_by_change ON files (modified DESC, id) WHERE is_note = 1;
CREATE INDEX files_by_birth ON files (created DESC, id) WHERE is_note = 1;
CREATE INDEX notes_by_name ON notes (name_key, id);
CREATE INDEX private_notes ON notes (id) WHERE private = 1;

-- A second index of names, aliases, headings and tags without the texts: a word in half of all texts is in
-- few names, so that the most relevant notes are found without reading all matches.
CREATE VIRTUAL TABLE heads USING fts5 (
    name, aliases, headings, tags, tokenize = "unicode61 remove_diacritics 2", prefix = '1 2 3'
);
INSERT INTO heads (heads, rank) VALUES ('rank', 'bm25(10.0, 8.0, 4.0, 4.0)');
INSERT INTO heads (rowid, name, aliases, headings, tags)
    SELECT rowid, name, aliases, headings, tags FROM fulltext;
"""


def m002_index_orders(connection: sqlite3.Connection) -> None:
    """Add the indexes that a search uses to list the first hits when there are very many."""
    _run(connection, _M002)


_M003 = """
-- Notes that were read, but are not in `fulltext` yet: a scan of many notes writes their words last.
CREATE TABLE unworded (note INTEGER PRIMARY KEY) STRICT;
-- The words of a batch are collected in memory (bytes) and written at its end.
INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 33554432);
INSERT INTO heads (heads, rank) VALUES ('hashsize', 33554432);
"""


def m003_defer_texts(connection: sqlite3.Connection) -> None:
    """Add the list of notes whose texts a scan indexes last."""
    _run(connection, _M003)


_M004 = """
-- The heads of such a note wait here, too: the graph is complete before any word is indexed.
ALTER TABLE unworded ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE unworded ADD COLUMN aliases TEXT NOT NULL DEFAULT '';
ALTER TABLE unworded ADD COLUMN headings TEXT NOT NULL DEFAULT '';
ALTER TABLE unworded ADD COLUMN tags TEXT NOT NULL DEFAULT '';
UPDATE unworded SET (name, aliases, headings, tags) =
    (SELECT name, aliases, headings, tags FROM heads WHERE heads.rowid = note);
DELETE FROM heads WHERE rowid IN (SELECT note FROM unworded);
"""


def m004_defer_heads(connection: sqlite3.Connection) -> None:
    """Defer a note's heads with its text, so that both full-text indexes are written together."""
    _run(connection, _M004)


_M005 = """
-- The headings and tasks of such a note wait, too, because only searches use them.
CREATE TABLE still_unworded (
    note INTEGER PRIMARY KEY, name TEXT NOT NULL, aliases TEXT NOT NULL, tags TEXT NOT NULL
) STRICT;
INSERT INTO still_unworded SELECT note, name, aliases, tags FROM unworded;
DROP TABLE unworded;
ALTER TABLE still_unworded RENAME TO unworded;
DELETE FROM headings WHERE note IN (SELECT note FROM unworded);
DELETE FROM tasks WHERE note IN (SELECT note FROM unworded);
"""


def m005_defer_headings_and_tasks(connection: sqlite3.Connection) -> None:
    """Defer headings and tasks, which only searches use."""
    _run(connection, _M005)


_M006 = """
-- Earlier versions applied laxer privacy rules: every note is read again, and until then it is hidden from
-- models, like any note that was only listed.
UPDATE files SET hash = NULL WHERE is_note;
CREATE INDEX IF NOT EXISTS unread_notes ON files (id) WHERE is_note AND hash IS NULL;
"""


def m006_judge_privacy_again(connection: sqlite3.Connection) -> None:
    """Recheck every note against the current privacy rules."""
    _run(connection, _M006)


_M007 = """
-- Earlier versions read creation times only from the property `created`.
UPDATE files SET hash = NULL WHERE is_note;
"""


def m007_read_creation_times_again(connection: sqlite3.Connection) -> None:
    """Read every note again, since its creation time may be in a property such as `date created`."""
    _run(connection, _M007)


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Execute each statement of a script; `executescript` would end the migration's transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_create_schema,
    m002_index_orders,
    m003_defer_texts,
    m004_defer_heads,
    m005_defer_headings_and_tasks,
    m006_judge_privacy_again,
    m007_read_creation_times_again,
)
