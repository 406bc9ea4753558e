"""Configuration of a vault's sources: one JSON file in the vault's data folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.memory.block import Permission
from app.storage.files import DurableFile

MAX_NAME_CHARS = 200
_FILE_NAME = "sources.json"


class FileRule(BaseModel):
    """The permission for files that match a glob; the first matching rule applies."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    glob: str = Field(min_length=1, max_length=500)
    permission: Permission = Permission.READ_ONLY


class AgentRules(BaseModel):
    """Additional rules for agents whose name matches a glob; they can only restrict the source's rules."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    agent: str = Field(min_length=1, max_length=200)
    rules: tuple[FileRule, ...] = ()


class _SourceConfig(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str = Field(min_length=1, max_length=64)
    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    paused: bool = False


class FolderConfig(_SourceConfig):
    """A folder outside the vault whose files agents may load and save as its rules allow."""

    kind: Literal["files"] = "files"
    folder: str
    rules: tuple[FileRule, ...] = ()
    agents: tuple[AgentRules, ...] = ()


class _StreamConfig(_SourceConfig):
    """A stream; with `starts_turn`, its notifications can start a turn of the agent."""

    starts_turn: bool = False


class VaultStreamConfig(_StreamConfig):
    """Changes to notes that match one of the globs (none: all), except those that agents made."""

    kind: Literal["vault"] = "vault"
    globs: tuple[str, ...] = ()


class FolderStreamConfig(_StreamConfig):
    """Changes to files in a folder that match one of the globs (none: all)."""

    kind: Literal["folder"] = "folder"
    folder: str
    globs: tuple[str, ...] = ()


class FeedConfig(_StreamConfig):
    """A feed (RSS or Atom), polled at an interval in minutes."""

    kind: Literal["feed"] = "feed"
    url: str = Field(min_length=1, max_length=4000, title="Address")
    minutes: int = Field(60, ge=5, le=7 * 24 * 60)


SourceConfig = FolderConfig | VaultStreamConfig | FolderStreamConfig | FeedConfig
StreamConfig = VaultStreamConfig | FolderStreamConfig | FeedConfig


class _SourcesFile(BaseModel):
    sources: tuple[Annotated[SourceConfig, Field(discriminator="kind")], ...] = ()


class SourceConfigStore:
    """Reads and writes the configuration file; `problem` is a message about a damaged file, or ""."""

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self._file = DurableFile(
            folder / _FILE_NAME,
            "The list of sources",
            _SourcesFile.model_validate_json,
            _SourcesFile,
            "Add your sources again.",
        )
        self._writable = writable
        self.problem = ""

    def load(self) -> tuple[SourceConfig, ...]:
        """Return the sources in the order in which they were added."""
        stored, self.problem = self._file.load(writable=self._writable)
        return stored.sources

    def save(self, sources: tuple[SourceConfig, ...]) -> None:
        """Write the sources.

        Raises:
            OSError: the file can't be written; the old file is unchanged.
        """
        self._file.save(_SourcesFile(sources=sources).model_dump_json(indent=1).encode("utf-8"))


def read_json(path: Path) -> dict[str, object]:
    """Read a JSON object; return an empty one if the file is missing or damaged."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
