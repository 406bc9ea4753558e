"""What the user has set of the sources of a vault: one JSON file in the vault's data folder."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.memory.block import Permission

log = logging.getLogger(__name__)

_FILE = "sources.json"


class FileRule(BaseModel):
    """What files may have done to them; the first rule whose glob means a file decides."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    glob: str = Field(min_length=1, max_length=500)
    permission: Permission = Permission.READ_ONLY


class AgentRules(BaseModel):
    """Rules that hold for agents by name (a glob) beside those of the source: they only narrow."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    agent: str = Field(min_length=1, max_length=200)
    rules: tuple[FileRule, ...] = ()


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str = Field(min_length=1, max_length=64)
    name: str = Field(min_length=1, max_length=200)
    paused: bool = False


class KeptFiles(_Kept):
    """A folder outside the vault whose files agents may load and save by its rules."""

    kind: Literal["files"] = "files"
    folder: str
    rules: tuple[FileRule, ...] = ()
    agents: tuple[AgentRules, ...] = ()


class _KeptStream(_Kept):
    """A stream; `starts_turn` lets its news start a turn of the agent."""

    starts_turn: bool = False


class KeptVaultStream(_KeptStream):
    """Changes to notes that match one of the globs (none: all) and that no agent made."""

    kind: Literal["vault"] = "vault"
    globs: tuple[str, ...] = ()


class KeptFolderStream(_KeptStream):
    """Changes to files of a folder that match one of the globs (none: all)."""

    kind: Literal["folder"] = "folder"
    folder: str
    globs: tuple[str, ...] = ()


class KeptFeed(_KeptStream):
    """A feed (RSS or Atom), asked every so many minutes."""

    kind: Literal["feed"] = "feed"
    url: str = Field(min_length=1, max_length=4000)
    minutes: int = Field(60, ge=5, le=7 * 24 * 60)


KeptSource = KeptFiles | KeptVaultStream | KeptFolderStream | KeptFeed
KeptStream = KeptVaultStream | KeptFolderStream | KeptFeed


class _File(BaseModel):
    sources: tuple[Annotated[KeptSource, Field(discriminator="kind")], ...] = ()


class KeptSources:
    """Reads and writes the file.

    `problem` says what became of a file that could not be read: it is set aside, never overwritten.
    """

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self._path = folder / _FILE
        self._writable = writable
        self.problem: str | None = None

    def load(self) -> tuple[KeptSource, ...]:
        """The sources, in the order in which they were added."""
        if not self._path.exists():
            return ()
        try:
            return _File.model_validate_json(self._path.read_bytes()).sources
        except (OSError, ValidationError, ValueError) as error:
            log.warning("the list of sources can't be read: %s", error)
            self.problem = self._set_aside()
            return ()

    def _set_aside(self) -> str:
        if not self._writable:
            return "The list of sources can't be read."
        aside = self._path.with_name(f"{self._path.stem}.damaged-{int(time.time())}.json")
        self._path.replace(aside)
        return f"The list of sources could not be read and was set aside: {aside}. Add your sources again."

    def save(self, sources: tuple[KeptSource, ...]) -> None:
        """Keep these; raises OSError when the disk refuses, and the old file stays."""
        write_whole(self._path, _File(sources=sources).model_dump_json(indent=1))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, object]:
    """An object that `write_whole` wrote; empty where there is none, or it can't be read."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
