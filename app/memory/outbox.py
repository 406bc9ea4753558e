"""Outbox in the memory's database: commits that may not be in the journal yet."""

from __future__ import annotations

import json
from dataclasses import asdict
from sqlite3 import Connection

from app.vault.commits import CommitDraft, CommittedFile
from app.vault.path import NotePath


def add_commit(db: Connection, draft: CommitDraft) -> None:
    """Add a commit to the outbox."""
    changes = [(str(change.path), change.before, change.after) for change in draft.changes]
    data = json.dumps({**asdict(draft), "changes": changes}, ensure_ascii=True)
    db.execute("INSERT INTO outbox VALUES (?, ?)", (draft.uid, data))


def pending_commits(db: Connection) -> list[CommitDraft]:
    """Return the commits in the outbox, oldest first."""
    return [_parse_draft(data) for (data,) in db.execute("SELECT draft FROM outbox ORDER BY uid").fetchall()]


def remove_commit(db: Connection, uid: str) -> None:
    """Remove a commit that was recorded or rolled back."""
    db.execute("DELETE FROM outbox WHERE uid = ?", (uid,))


def _parse_draft(data: str) -> CommitDraft:
    values = json.loads(data)
    changes = tuple(
        CommittedFile(NotePath.on_disk(path), None, old, new) for path, old, new in values["changes"]
    )
    lists = {name: tuple(values[name]) for name in ("trash", "folders", "undoes")}
    return CommitDraft(**{**values, **lists, "changes": changes})
