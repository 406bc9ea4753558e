"""Drafts: unsaved text kept outside the vault, so that it survives a crash.

A draft holds the unsaved text and the hash of the note that it is based on. It is written shortly after
typing stops, and about every ten seconds while typing continues. It is removed when the text is saved,
discarded, or changed back to the saved text.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.storage.files import to_json, write_atomic
from app.storage.private import make_private_folder
from app.vault.path import NotePath

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """The unsaved text of a note.

    Attributes:
        path: The path of the note.
        base_hash: The hash of the note that the text is based on.
        text: The unsaved text.
        time: When the draft was written, in Unix seconds.
        result: During a conflict, the user's merge so far; None if there is none.
    """

    path: str
    base_hash: str
    text: str
    time: float
    result: str | None = None


class DraftStore:
    """The drafts of one vault, one file each."""

    def __init__(self, root: Path) -> None:
        self._folder = paths.vault_data_folder(root) / "drafts"

    def load(self, path: NotePath) -> NoteDraft | None:
        """Return the draft of the note at `path`; None if there is none or it can't be read."""
        return _read_draft(self._file(path))

    def list_drafts(self) -> tuple[NoteDraft, ...]:
        """Return all readable drafts, newest first."""
        drafts = (_read_draft(file) for file in sorted(self._folder.glob("*.json")))
        return tuple(sorted((draft for draft in drafts if draft), key=lambda draft: -draft.time))

    def save(self, path: NotePath, base_hash: str, text: str, result: str | None = None) -> None:
        """Write a draft atomically: a crash while writing keeps the previous one.

        Args:
            path: The note.
            base_hash: The hash of the note that the text is based on.
            text: The unsaved text.
            result: During a conflict, the user's merge so far.

        Raises:
            OSError: The draft can't be written; the previous one is kept.
        """
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
        """Delete the draft of the note at `path`, if there is one.

        An error is only logged: the draft is offered when the note is opened again.
        """
        try:
            self._file(path).unlink(missing_ok=True)
        except OSError as error:
            log.warning("the draft of a note could not be deleted: %s", error)

    def _file(self, path: NotePath) -> Path:
        return self._folder / f"{hashlib.sha256(str(path).encode('utf-8', 'surrogatepass')).hexdigest()}.json"


def _read_draft(file: Path) -> NoteDraft | None:
    try:
        data = json.loads(file.read_text("utf-8"))
        result = data.get("result")
        return NoteDraft(
            str(data["path"]),
            str(data["base_hash"]),
            str(data["text"]),
            float(data["time"]),
            result if isinstance(result, str) else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
