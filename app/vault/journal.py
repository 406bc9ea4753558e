"""The journal of commits: the bytes before and after each one, the history of notes, and undo.

The journal is an SQLite file outside the vault (WAL, `synchronous=FULL`) that stores contents compressed,
once per hash. When the contents exceed their limit, the oldest are removed; the commits stay listed.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

from app.errors import InvalidParametersError, NotFoundError
from app.vault.changes import VAULT, ChangeSet, Create, Update, content_hash
from app.vault.commits import Commit, CommitDraft, CommittedFile, Version
from app.vault.history import first_commits, read_history
from app.vault.journal_database import JournalDatabase
from app.vault.journal_rows import from_text, read_changes, read_commits, to_text
from app.vault.path import NotePath
from app.vault.undo import LaterChange, UndoPlan, plan_undo

_FAST_COMPRESSION_BYTES = 1024 * 1024
_MAX_CACHED_PLANS = 64


class Journal:
    """The record of all commits to one vault's stores. Thread-safe.

    Methods that read or write raise StorageError if the disk failed, or if the file turned out to be damaged
    and was replaced.

    Args:
        folder: The folder of `journal.sqlite`, created if missing.
        max_bytes: The maximum size of the compressed contents.
        writable: Whether this process owns the file.

    Raises:
        StorageError: The folder or the file can't be used.
    """

    def __init__(self, folder: Path, max_bytes: int = 500 * 1024 * 1024, *, writable: bool = True) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._database = JournalDatabase(folder, writable=writable)
        self._plans: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    @property
    def problem(self) -> str | None:
        """A message for the user about a damaged journal file, or None."""
        return self._database.problem

    def on_damage(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with a message for the user, in any thread, if damage is found during use."""
        self._database.on_damage = notify

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def reserve(self, number: int) -> None:
        """Give later commits numbers above `number`, which the audit log assigns to another commit."""
        self._database.reserve(number)

    def store_contents(self, contents: Mapping[str, bytes]) -> None:
        """Store contents durably under their hashes."""
        with self._database.transaction(write=True) as db:
            newest = int(db.execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence").fetchone()[0])
            query = "SELECT hash FROM contents WHERE data IS NOT NULL AND hash IN "
            keys = json.dumps(list(contents))
            stored_keys = {key for (key,) in db.execute(f"{query}(SELECT value FROM json_each(?))", (keys,))}
            db.executemany(
                "UPDATE contents SET newest = ? WHERE hash = ?", [(newest, key) for key in stored_keys]
            )
            rows = (_content_row(key, contents[key], newest) for key in contents.keys() - stored_keys)
            db.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?, ?)", rows)

    def record(self, draft: CommitDraft) -> Commit:
        """Durably record a commit whose contents are stored; then remove old contents beyond the limit."""
        texts = (draft.author, draft.turn, draft.note, draft.entry, draft.summary)
        with self._database.transaction(write=True) as db:
            cursor = db.execute(
                "INSERT INTO commits (uid, time, author, turn, note, entry, summary, digest, place) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (draft.uid, draft.time, *map(to_text, texts), draft.digest, draft.place),
            )
            number = int(cursor.lastrowid or 0)
            _insert_changes(db, number, draft)
            db.executemany("INSERT INTO folders VALUES (?, ?)", [(number, to_text(f)) for f in draft.folders])
            undoes = [(number, undone) for undone in set(draft.undoes)]
            db.executemany("INSERT INTO undoes VALUES (?, ?)", undoes)
            commit = read_commits(db, "id = ?", (number,), 1)[0]
        self._prune(number)
        return commit

    def _prune(self, newest: int) -> None:
        """Remove the oldest contents until the rest fits; keep those of the newest commit."""
        with self._database.transaction(write=True) as db:
            total = int(db.execute("SELECT coalesce(sum(stored), 0) FROM contents").fetchone()[0])
            if total <= self.max_bytes:
                return
            rows = db.execute(
                "SELECT hash, stored FROM contents WHERE newest < ? AND stored > 0 ORDER BY newest",
                (newest,),
            )
            pruned = []
            for key, stored in rows:
                if total <= self.max_bytes:
                    break
                pruned.append((key,))
                total -= int(stored)
            db.executemany("UPDATE contents SET data = NULL, stored = 0 WHERE hash = ?", pruned)
        self._database.shrink()

    def find(self, uid: str) -> int | None:
        """Return the number of the commit with this uid, if it was recorded."""
        with self._database.transaction() as db:
            row = db.execute("SELECT id FROM commits WHERE uid = ?", (uid,)).fetchone()
        return None if row is None else int(row[0])

    def commits(
        self,
        limit: int = 100,
        *,
        path: NotePath | None = None,
        place: str | None = None,
    ) -> tuple[Commit, ...]:
        """Return commits, newest first.

        Args:
            limit: The maximum number.
            path: Only commits that changed a file with this name, without following moves.
            place: Only commits to this store.
        """
        conditions: list[str] = ["1"]
        values: list[object] = []
        if place is not None:
            conditions.append("place = ?")
            values.append(place)
        if path is not None:
            conditions.append("id IN (SELECT commit_id FROM changes WHERE path_key = ? OR target_key = ?)")
            values += [to_text(path.key)] * 2
        with self._database.transaction() as db:
            return tuple(read_commits(db, " AND ".join(conditions), values, limit))

    def commit(self, number: int) -> Commit:
        """Return the commit with this number.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.transaction() as db:
            commits = read_commits(db, "id = ?", (number,), 1)
        if not commits:
            raise NotFoundError(f"The journal has no change number {number}.", commit=number)
        return commits[0]

    def commit_of_entry(self, entry: str) -> Commit | None:
        """Return the newest commit of the call with this audit entry, or None."""
        with self._database.transaction() as db:
            commits = read_commits(db, "entry = ?", (to_text(entry),), 1)
        return commits[0] if commits else None

    def history(self, path: NotePath, limit: int = 500, place: str = VAULT) -> tuple[Version, ...]:
        """Return the versions of the document now at `path`, newest first, under all its former paths.

        Text that other programs wrote between two commits is also a version, with the author "outside".
        """
        with self._database.transaction() as db:
            return tuple(read_history(db, path, limit, place))

    def first_seen(self, paths: Sequence[NotePath]) -> dict[NotePath, float]:
        """Return the time of the first commit of each note that has one, under any former path."""
        with self._database.transaction() as db:
            return first_commits(db, paths)

    def content(self, key: str) -> bytes:
        """Return the bytes with this hash.

        Raises:
            NotFoundError: They were never stored, have been removed to save space, or are damaged.
        """
        with self._database.transaction() as db:
            return _content(db, key)

    def trash_name(self, path: NotePath, key: str, place: str = VAULT) -> str | None:
        """Return the name under `.trash/` of the last deleted file with this path and hash, or None."""
        with self._database.transaction() as db:
            row = db.execute(
                "SELECT trash FROM changes JOIN commits ON id = commit_id "
                "WHERE path_key = ? AND before = ? AND trash IS NOT NULL AND place = ? "
                "ORDER BY commit_id DESC LIMIT 1",
                (to_text(path.key), key, place),
            ).fetchone()
        return None if row is None else from_text(row[0])

    def planned_undos(self, digest: str) -> tuple[int, ...]:
        """Return the commits that the change set with this digest was planned to undo.

        The result is empty if it is not the change set of one of the latest plans.
        """
        return self._plans.get(digest, ())

    def plan_undo(self, commit_ids: Iterable[int], read: Callable[[NotePath], bytes | None]) -> UndoPlan:
        """Plan the undo of commits, keeping later edits.

        Nothing is written. Committing the plan's change set marks the commits as undone; after the user has
        resolved a conflict, pass `undoes=plan.commits` to `NoteStore.commit`.

        Args:
            commit_ids: The commits, all of one store.
            read: Returns the current bytes of a document in that store, or None if it does not exist.

        Raises:
            NotFoundError: There is no such commit, or contents that the undo needs are missing.
            InvalidParametersError: The commits belong to several stores.
        """
        commits = [self.commit(number) for number in dict.fromkeys(commit_ids)]
        if len({commit.place for commit in commits}) > 1:
            raise InvalidParametersError("Changes in several stores can't be undone together.")
        plan = plan_undo(commits, self._later_changes(commits), self._preload_contents(commits), read)
        if plan.change_set and not plan.conflicts:
            self._plans[plan.change_set.digest] = plan.commits
            while len(self._plans) > _MAX_CACHED_PLANS:
                self._plans.popitem(last=False)
        return plan

    def group_by_place(self, commit_ids: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """Group commits by store, so that each group can be undone together; the vault's group comes first.

        Commits that are already undone are omitted together with their undo commits, unless no others remain.

        Raises:
            NotFoundError: There is no such commit.
        """
        commits = [self.commit(number) for number in dict.fromkeys(commit_ids)]
        given_ids = {commit.id for commit in commits}
        active = [
            commit for commit in commits if commit.undone_by is None and given_ids.isdisjoint(commit.undoes)
        ] or commits
        places = sorted({commit.place for commit in active})
        return tuple(tuple(commit.id for commit in active if commit.place == place) for place in places)

    def _preload_contents(self, commits: Sequence[Commit]) -> Callable[[str], bytes]:
        """Return a function like `content`, with the commits' old bytes preloaded in one transaction."""
        old_hashes = {
            change.before for commit in commits for change in commit.changes if change.before is not None
        }
        contents: dict[str, bytes] = {}
        with self._database.transaction() as db:
            for key in old_hashes:
                # Missing content raises an error only when it is requested.
                with suppress(NotFoundError):
                    contents[key] = _content(db, key)
        return lambda key: contents[key] if key in contents else self.content(key)

    def _later_changes(self, commits: Sequence[Commit]) -> list[LaterChange]:
        """Return the creations, moves and deletions by other commits since the oldest of these."""
        commit_ids = {commit.id for commit in commits}
        with self._database.transaction() as db:
            changes = read_changes(db, min(commit_ids, default=0), commits[0].place) if commits else []
        return [LaterChange(*row) for row in changes if row[0] not in commit_ids]

    def restore(self, path: NotePath, key: str, current: bytes | None) -> ChangeSet:
        """Return the change set that gives a document of the vault the bytes of an earlier version.

        Args:
            path: The document's path, or the one to restore it to.
            key: The version's hash.
            current: The document's current bytes, or None if it does not exist.

        Raises:
            NotFoundError: The version is no longer stored, or is damaged.
        """
        content = self.content(key)
        change = Create(path, content) if current is None else Update(path, current, content)
        return ChangeSet.of(change, summary=f"Restore an earlier version of {path.name}")


def _content(db: Connection, key: str) -> bytes:
    row = db.execute("SELECT data FROM contents WHERE hash = ?", (key,)).fetchone()
    if row is None or row[0] is None:
        raise NotFoundError("That version is no longer in the journal.", hash=key)
    try:
        content = zlib.decompress(row[0])
    except zlib.error:
        content = None
    if content is None or content_hash(content) != key:
        raise NotFoundError("The journal's copy of that version is damaged.", hash=key)
    return content


def _content_row(key: str, content: bytes, newest: int) -> tuple[object, ...]:
    data = zlib.compress(content, 1 if len(content) > _FAST_COMPRESSION_BYTES else 6)
    return (key, len(content), len(data), newest, data)


def _insert_changes(db: Connection, number: int, draft: CommitDraft) -> None:
    rows = (
        (number, position, *_change_row(change), None if name is None else to_text(name))
        for position, (change, name) in enumerate(zip(draft.changes, draft.trash, strict=True))
    )
    db.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    for column in ("before", "after"):
        db.execute(
            "UPDATE contents SET newest = max(newest, ?) "
            f"WHERE hash IN (SELECT {column} FROM changes WHERE commit_id = ?)",
            (number, number),
        )


def _change_row(change: CommittedFile) -> tuple[object, ...]:
    target = (to_text(str(change.to)), to_text(change.to.key)) if change.to else (None, None)
    return (to_text(str(change.path)), to_text(change.path.key), *target, change.before, change.after)
