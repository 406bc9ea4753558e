"""Commits that are written to the memory and may not be in the journal yet: rows in the same file."""

from __future__ import annotations

import json
from dataclasses import asdict
from sqlite3 import Connection

from app.vault.commits import Changed, Draft
from app.vault.path import NotePath


def put(db: Connection, draft: Draft) -> None:
    """Keep a commit until it is recorded."""
    changes = [(str(one.path), one.before, one.after) for one in draft.changes]
    said = json.dumps({**asdict(draft), "changes": changes}, ensure_ascii=True)
    db.execute("INSERT INTO outbox VALUES (?, ?)", (draft.uid, said))


def waiting(db: Connection) -> list[Draft]:
    """The commits that are kept, the oldest first."""
    return [_read(said) for (said,) in db.execute("SELECT draft FROM outbox ORDER BY uid").fetchall()]


def take(db: Connection, uid: str) -> None:
    """Forget a commit that is recorded, or taken back."""
    db.execute("DELETE FROM outbox WHERE uid = ?", (uid,))


def _read(said: str) -> Draft:
    values = json.loads(said)
    changes = tuple(Changed(NotePath.on_disk(path), None, old, new) for path, old, new in values["changes"])
    lists = {name: tuple(values[name]) for name in ("trash", "folders", "undoes")}
    return Draft(**{**values, **lists, "changes": changes})
