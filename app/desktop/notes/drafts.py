"""Unsaved text, kept outside the vault until it is saved, so that it survives a crash.

A draft holds the text and the hash of the note it was begun on. It is written a moment after typing stops
and removed when the text is saved or given up.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.storage.files import to_json, write_atomic
from app.storage.private import make_private_folder
from app.vault.path import NotePath


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """Unsaved text of a note.

    Attributes:
        path: The note.
        base_hash: The hash of the text that it was typed on.
        text: What was typed.
        time: When it was kept, in Unix seconds.
        result: What the user had made of it and of a text from outside, in a conflict; None if nothing.
    """

    path: str
    base_hash: str
    text: str
    time: float
    result: str | None = None


class DraftStore:
    """The drafts of one vault, a file each."""

    def __init__(self, root: Path) -> None:
        self._folder = paths.vault_data_folder(root) / "drafts"

    def load(self, path: NotePath) -> NoteDraft | None:
        """The draft of the note at `path`, if there is one that can be read."""
        return _read_draft(self._file(path))

    def list_drafts(self) -> tuple[NoteDraft, ...]:
        """Every draft that can be read, the newest first."""
        held = (_read_draft(file) for file in sorted(self._folder.glob("*.json")))
        return tuple(sorted((draft for draft in held if draft), key=lambda draft: -draft.time))

    def save(self, path: NotePath, base_hash: str, text: str, result: str | None = None) -> None:
        """Keep `text`; a crash while writing leaves the draft before."""
        make_private_folder(self._folder)
        body = {
            "path": str(path),
            "base_hash": base_hash,
            "text": text,
            "time": time.time(),
            "result": result,
        }
        write_atomic(self._file(path), to_json(body))

    def drop(self, path: NotePath) -> None:
        """Forget the draft of the note at `path`."""
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: NotePath) -> Path:
        return self._folder / f"{hashlib.sha256(str(path).encode('utf-8', 'surrogatepass')).hexdigest()}.json"


def _read_draft(file: Path) -> NoteDraft | None:
    try:
        held = json.loads(file.read_text("utf-8"))
        result = held.get("result")
        return NoteDraft(
            str(held["path"]),
            str(held["base_hash"]),
            str(held["text"]),
            float(held["time"]),
            result if isinstance(result, str) else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
