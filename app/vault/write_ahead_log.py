"""The write-ahead log of commits: the file operations of each unfinished commit.

An intent is a small file next to the journal, outside the vault. It is written before the first byte of the
vault changes and removed after the commit is recorded. At the next start, the intents left by a crash decide
whether to complete or roll back their commits. The phase is part of the file name, so that a change of phase
is one rename:

- `staging`: only temporary files and new folders exist; recovery removes them.
- `ready`: all temporary files are complete; recovery executes the missing operations.
- `back`: the commit failed; recovery rolls it back.

The log is separate from the SQLite journal so that a damaged journal cannot leave half a commit behind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from app.errors import InvalidPathError
from app.storage.private import create_private_file, make_private_folder
from app.vault.commits import CommitDraft, CommittedFile
from app.vault.path import NotePath
from app.vault.safe_fs import sync_file

TEMP_PREFIX = ".~scriptorium-"


class Phase(StrEnum):
    """The phase of a commit."""

    STAGING = "staging"
    READY = "ready"
    ROLLING_BACK = "back"


@dataclass(frozen=True, slots=True)
class Put:
    """New bytes for a path.

    `before` is the hash of the current bytes, or None if the file must not exist. `like` is the file whose
    mode the new one gets, or None. The new bytes are staged in the file `temp` in the same folder, which
    holds the old bytes after a swap.
    """

    path: str
    temp: str
    before: str | None
    after: str
    like: str | None = None
    kind: Literal["put"] = "put"


@dataclass(frozen=True, slots=True)
class Rename:
    """The move of a file with this hash to an unused name.

    `same_name` means that only the case or Unicode form of the name changes. `final` is the hash after a
    later operation of the same intent.
    """

    path: str
    to: str
    hash: str
    final: str
    same_name: bool = False
    kind: Literal["rename"] = "rename"


FileOperation = Put | Rename


@dataclass(frozen=True, slots=True)
class Intent:
    """A commit's operations in order, and its record. Empty `spare` folders are removed afterwards."""

    draft: CommitDraft
    operations: tuple[FileOperation, ...]
    spare: tuple[str, ...] = ()


def _dump(intent: Intent) -> bytes:
    """Serialize an intent as ASCII JSON, without pydantic, which rejects file names that are not UTF-8."""
    changes = [
        (str(change.path), None if change.to is None else str(change.to), change.before, change.after)
        for change in intent.draft.changes
    ]
    data = {
        "draft": {**_field_values(intent.draft), "changes": changes},
        "deeds": [_field_values(operation) for operation in intent.operations],
        "spare": intent.spare,
    }
    return json.dumps(data, ensure_ascii=True).encode("ascii")


_FIELD_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (CommitDraft, Put, Rename)}


def _field_values(row: CommitDraft | FileOperation) -> dict[str, object]:
    """Return the fields of a value by name, without the deep copies of `asdict`."""
    return {name: getattr(row, name) for name in _FIELD_NAMES[type(row)]}


def _load(content: bytes) -> Intent:
    """Read an intent that `_dump` wrote.

    Raises:
        ValueError, KeyError, TypeError, InvalidPathError: The file is damaged.
    """
    data: dict[str, Any] = json.loads(content)
    draft = data["draft"]
    changes = tuple(
        CommittedFile(
            NotePath.on_disk(path), None if target is None else NotePath.on_disk(target), before, after
        )
        for path, target, before, after in draft["changes"]
    )
    lists = {name: tuple(draft[name]) for name in ("trash", "folders", "undoes")}
    kinds: dict[str, type[Put] | type[Rename]] = {"put": Put, "rename": Rename}
    operations = tuple(kinds[operation["kind"]](**operation) for operation in data["deeds"])
    return Intent(CommitDraft(**{**draft, **lists, "changes": changes}), operations, tuple(data["spare"]))


class WriteAheadLog:
    """The intent files of unfinished commits. Without `writable`, their folder is not created."""

    def __init__(self, folder: Path, step: Callable[[str], None], *, writable: bool = True) -> None:
        self._folder = folder / "intents"
        self._step = step
        if writable:
            make_private_folder(self._folder)

    def write(self, intent: Intent) -> None:
        """Write a new intent durably in the phase `staging`."""
        target = self._file(intent.draft.uid, Phase.STAGING)
        temp = target.with_suffix(".new")
        self._step("intent: write")
        create_private_file(temp)
        with temp.open("wb") as file:
            file.write(_dump(intent))
            file.flush()
            self._step("intent: sync")
            sync_file(file.fileno())
        self._step("intent: name")
        temp.replace(target)
        self._sync()

    def set_phase(self, uid: str, phase: Phase, previous: Phase) -> None:
        """Record durably that a commit has reached another phase."""
        self._step(f"intent: {phase}")
        self._file(uid, previous).replace(self._file(uid, phase))
        self._sync()

    def remove(self, uid: str) -> None:
        """Remove an intent whose commit is complete or entirely rolled back."""
        for phase in Phase:
            self._file(uid, phase).unlink(missing_ok=True)
            self._file(uid, phase).with_suffix(".new").unlink(missing_ok=True)

    def pending(self) -> list[tuple[Intent, Phase]]:
        """Return the unfinished intents with their phases, oldest first.

        Partial files are removed, and unreadable ones set aside.
        """
        intents = []
        for file in sorted(self._folder.iterdir()):
            if file.suffix == ".new":
                file.unlink(missing_ok=True)
            elif file.suffix == ".json":
                try:
                    intents.append((_load(file.read_bytes()), Phase(file.name.split(".")[1])))
                except (ValueError, KeyError, TypeError, InvalidPathError):
                    file.replace(file.with_suffix(".damaged"))
        return intents

    def has_pending(self) -> bool:
        """Return whether a commit is unfinished."""
        try:
            with os.scandir(self._folder) as entries:
                return any(entry.name.endswith((".json", ".new")) for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def damaged_files(self) -> tuple[Path, ...]:
        """Return the unreadable intents that were set aside."""
        return tuple(sorted(self._folder.glob("*.damaged")))

    def _file(self, uid: str, phase: Phase) -> Path:
        return self._folder / f"{uid}.{phase}.json"

    def _sync(self) -> None:
        if os.name != "posix":
            return
        fd = os.open(self._folder, os.O_RDONLY)
        try:
            sync_file(fd)
        finally:
            os.close(fd)
