"""The recently opened vaults, newest first."""

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
    """A vault's folder, and the time it was last opened (Unix seconds)."""

    path: str
    opened: float

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self.path).name or self.path

    @property
    def exists(self) -> bool:
        """True if the folder exists now."""
        return Path(self.path).is_dir()


class RecentVaults:
    """The list of recent vaults in the user's data folder. Write errors are only logged."""

    def __init__(self) -> None:
        self._file = DurableFile(
            paths.data_folder() / "recent.json", "The list of recent vaults", _parse, tuple[RecentVault, ...]
        )

    def list_vaults(self) -> tuple[RecentVault, ...]:
        """Return the vaults, newest first, including missing ones, which may be on an unplugged drive."""
        return self._file.load()[0]

    @property
    def default_folder(self) -> Path:
        """The initial folder of the open dialog: where the newest existing vault is, or the home folder."""
        return next((Path(vault.path).parent for vault in self.list_vaults() if vault.exists), Path.home())

    def contains(self, root: Path) -> bool:
        """Return whether `root`, a resolved path, is an existing folder in the list."""
        return root.is_dir() and any(vault.path == str(root) for vault in self.list_vaults())

    def add(self, root: Path) -> None:
        """Put `root` first in the list, and drop the oldest vaults beyond the list's limit."""
        path = str(root.resolve())
        others = [vault for vault in self.list_vaults() if vault.path != path]
        self._write([RecentVault(path, time.time()), *others][:_MAX_VAULTS])

    def remove(self, path: str) -> None:
        """Remove the vault at `path` from the list; the vault itself is not touched."""
        self._write([vault for vault in self.list_vaults() if vault.path != path])

    def _write(self, vaults: list[RecentVault]) -> None:
        try:
            self._file.save(to_json([asdict(vault) for vault in vaults]))
        except OSError as error:
            log.warning("the list of recent vaults can't be saved: %s", error)


def _parse(content: bytes) -> tuple[RecentVault, ...]:
    return tuple(RecentVault(str(row["path"]), float(row["opened"])) for row in json.loads(content))
