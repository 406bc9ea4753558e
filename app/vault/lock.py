"""VaultLock: one process at a time writes a vault. The system frees it when its owner dies."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from app.errors import StorageError, VaultBusyError


class VaultLock:
    """The right to write one vault, held by a lock on a file in the vault's data folder.

    The lock is the operating system's (filelock: flock or LockFile), so a crashed owner blocks nobody.
    Who holds it is told by a second file, because a locked file cannot be read on Windows.

    Args:
        data_folder: the vault's folder in the user's data.
    """

    def __init__(self, data_folder: Path) -> None:
        self._lock = FileLock(data_folder / "vault.lock", timeout=0)
        self._owner = data_folder / "vault.owner.json"

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock.is_locked

    def acquire(self) -> None:
        """Take the lock; nothing happens if this object has it.

        Raises:
            VaultBusyError: another process, or another window of this one, has it; `owner` describes it.
            StorageError: the data folder cannot be used.
        """
        if self.held:
            return
        try:
            self._lock.acquire()
        except Timeout as error:
            owner = self._read_owner()
            raise VaultBusyError(f"The vault is open in {owner}.", owner=owner) from error
        except OSError as error:
            raise StorageError(f"The vault's data folder can't be used: {error.strerror}.") from error
        said = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        self._owner.write_text(json.dumps(said), encoding="utf-8")

    def _read_owner(self) -> str:
        try:
            said = json.loads(self._owner.read_text(encoding="utf-8"))
            return f"process {int(said['pid'])} on {said['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            # The owner may be between taking the lock and writing its name.
            return "another process"

    def release(self) -> None:
        """Give the lock back; nothing happens if this object does not have it."""
        if self.held:
            with suppress(OSError):
                self._owner.unlink(missing_ok=True)
            self._lock.release()
