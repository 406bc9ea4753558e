"""The intent journal: what a commit is about to do on disk, kept until it is done.

An intent is one small file beside the journal, outside the vault. It is written before the first byte of
the vault is touched and removed after the commit is recorded; what is found at the next start tells how
to finish or to take back a commit that was cut off. Its phase is in its name, so that a change of phase
is one rename:

- `staging`: nothing but temporary files and new folders exist; they are removed.
- `ready`: all temporary files are complete; what is missing is done.
- `back`: the commit failed; what was done is taken back.

It is apart from the SQLite journal so that a damaged journal cannot leave half a commit behind.
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
from app.vault.commits import Changed, Draft
from app.vault.containment import sync_file
from app.vault.path import NotePath

TEMP_PREFIX = ".~scriptorium-"


class Phase(StrEnum):
    """How far a commit has come."""

    STAGING = "staging"
    READY = "ready"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Put:
    """New bytes under a name: `before` is None where nothing may be. `like` is whose mode is kept.

    The bytes wait in the file `temp` of the same folder; after the swap it holds the old ones.
    """

    path: str
    temp: str
    before: str | None
    after: str
    like: str | None = None
    kind: Literal["put"] = "put"


@dataclass(frozen=True, slots=True)
class Rename:
    """A file with this hash goes to a name that nothing has; `same_name`: only its case changes.

    `final` is the hash that a later deed of the same intent gives it.
    """

    path: str
    to: str
    hash: str
    final: str
    same_name: bool = False
    kind: Literal["rename"] = "rename"


Deed = Put | Rename


@dataclass(frozen=True, slots=True)
class Intent:
    """The deeds of one commit in order, and what will be recorded. `spare` folders go if they are empty."""

    draft: Draft
    deeds: tuple[Deed, ...]
    spare: tuple[str, ...] = ()


def _dump(intent: Intent) -> bytes:
    """An intent as JSON in ASCII: file names may hold bytes that are no UTF-8, which pydantic refuses."""
    changes = [
        (str(change.path), None if change.to is None else str(change.to), change.before, change.after)
        for change in intent.draft.changes
    ]
    data = {
        "draft": {**_values(intent.draft), "changes": changes},
        "deeds": [_values(deed) for deed in intent.deeds],
        "spare": intent.spare,
    }
    return json.dumps(data, ensure_ascii=True).encode("ascii")


_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (Draft, Put, Rename)}


def _values(row: Draft | Deed) -> dict[str, object]:
    """The fields of a value by their names, as they are; `asdict` would copy each of thousands."""
    return {name: getattr(row, name) for name in _NAMES[type(row)]}


def _load(content: bytes) -> Intent:
    """The intent that `_dump` wrote; ValueError, KeyError, TypeError or InvalidPathError if it is damaged."""
    data: dict[str, Any] = json.loads(content)
    draft = data["draft"]
    changes = tuple(
        Changed(NotePath.on_disk(path), None if to is None else NotePath.on_disk(to), before, after)
        for path, to, before, after in draft["changes"]
    )
    lists = {name: tuple(draft[name]) for name in ("trash", "folders", "undoes")}
    kinds: dict[str, type[Put] | type[Rename]] = {"put": Put, "rename": Rename}
    deeds = tuple(kinds[deed["kind"]](**deed) for deed in data["deeds"])
    return Intent(Draft(**{**draft, **lists, "changes": changes}), deeds, tuple(data["spare"]))


class Intents:
    """The files of the intents that are not done; without `writable` they can only be looked at."""

    def __init__(self, folder: Path, step: Callable[[str], None], *, writable: bool = True) -> None:
        self._folder = folder / "intents"
        self._step = step
        if writable:
            self._folder.mkdir(parents=True, exist_ok=True)

    def write(self, intent: Intent) -> None:
        """Keep a new intent in the phase `staging`; it is on the disk when this returns."""
        target = self._file(intent.draft.uid, Phase.STAGING)
        temp = target.with_suffix(".new")
        self._step("intent: write")
        with temp.open("wb") as file:
            file.write(_dump(intent))
            file.flush()
            self._step("intent: sync")
            sync_file(file.fileno())
        self._step("intent: name")
        temp.replace(target)
        self._sync()

    def turn(self, uid: str, phase: Phase, before: Phase) -> None:
        """Note that a commit has come to another phase; it is on the disk when this returns."""
        self._step(f"intent: {phase}")
        self._file(uid, before).replace(self._file(uid, phase))
        self._sync()

    def remove(self, uid: str) -> None:
        """Forget an intent: its commit is wholly done, or wholly not."""
        for phase in Phase:
            self._file(uid, phase).unlink(missing_ok=True)
            self._file(uid, phase).with_suffix(".new").unlink(missing_ok=True)

    def pending(self) -> list[tuple[Intent, Phase]]:
        """What was not finished, oldest first; half-written files are removed, unreadable ones set aside."""
        found = []
        for file in sorted(self._folder.iterdir()):
            if file.suffix == ".new":
                file.unlink(missing_ok=True)
            elif file.suffix == ".json":
                try:
                    found.append((_load(file.read_bytes()), Phase(file.name.split(".")[1])))
                except (ValueError, KeyError, TypeError, InvalidPathError):
                    file.replace(file.with_suffix(".damaged"))
        return found

    def any(self) -> bool:
        """Whether something was left unfinished."""
        try:
            with os.scandir(self._folder) as entries:
                return any(entry.name.endswith((".json", ".new")) for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def damaged(self) -> tuple[Path, ...]:
        """Intents that could not be read and were set aside."""
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
