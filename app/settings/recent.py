"""The vaults that were opened before, newest first."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app import paths
from app.storage.files import DurableFile, to_json

_MAX_VAULTS = 12

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecentVault:
    """A vault's folder, and when it was last opened (Unix seconds)."""

    path: str
    opened: float

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self.path).name or self.path

    @property
    def exists(self) -> bool:
        """Whether the folder is there now."""
        return Path(self.path).is_dir()


class RecentVaults:
    """A short list in the user's data folder."""

    def __init__(self) -> None:
        self._file = DurableFile(
            paths.data_folder() / "recent.json", "The list of recent vaults", _parse, tuple[RecentVault, ...]
        )

    def list_vaults(self) -> tuple[RecentVault, ...]:
        """The vaults, newest first; also those that are not there now, which may be a drive unplugged."""
        return self._file.load()[0]

    @property
    def default_folder(self) -> Path:
        """Where the user keeps vaults, as far as is known: to begin looking for another one there."""
        return next((Path(vault.path).parent for vault in self.list_vaults() if vault.exists), Path.home())

    def contains(self, root: Path) -> bool:
        """Whether `root`, resolved, is there and was opened before."""
        return root.is_dir() and any(vault.path == str(root) for vault in self.list_vaults())

    def add(self, root: Path) -> None:
        """Put `root` first."""
        path = str(root.resolve())
        rest = [vault for vault in self.list_vaults() if vault.path != path]
        self._write([RecentVault(path, time.time()), *rest][:_MAX_VAULTS])

    def remove(self, path: str) -> None:
        """Forget the vault at `path`; nothing of the vault itself is touched."""
        self._write([vault for vault in self.list_vaults() if vault.path != path])

    def _write(self, vaults: list[RecentVault]) -> None:
        try:
            self._file.save(to_json([asdict(vault) for vault in vaults]))
        except OSError as error:
            log.warning("the list of recent vaults could not be kept: %s", error)


def _parse(content: bytes) -> tuple[RecentVault, ...]:
    return tuple(RecentVault(str(row["path"]), float(row["opened"])) for row in json.loads(content))
