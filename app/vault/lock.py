"""The lock that lets only one process at a time write to a vault."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from app.errors import StorageError, VaultBusyError
from app.storage.files import to_json, write_atomic

_LOCK_FILE = "vault.lock"
_OWNER_FILE = "vault.owner.json"


class VaultLock:
    """The lock on a file in a vault's data folder; its holder may write to the vault.

    The operating system holds the lock (filelock uses flock or LockFile) and releases it when the process
    dies. A second file names the owner, because a locked file can't be read on Windows.

    Args:
        data_folder: The vault's folder in the user's data folder.
    """

    def __init__(self, data_folder: Path) -> None:
        self._lock = FileLock(data_folder / _LOCK_FILE, timeout=0, mode=0o600)
        self._owner_file = data_folder / _OWNER_FILE

    @property
    def is_held(self) -> bool:
        """True if this object holds the lock."""
        return self._lock.is_locked

    def acquire(self) -> None:
        """Acquire the lock; do nothing if this object already holds it.

        Raises:
            VaultBusyError: Another process or window holds it; `owner` describes that process.
            StorageError: The data folder can't be used.
        """
        if self.is_held:
            return
        try:
            self._lock.acquire()
        except Timeout as error:
            # The owner may be between taking the lock and writing its name.
            owner = _read_holder(self._owner_file.parent) or "another process"
            raise VaultBusyError(f"The vault is open in {owner}.", owner=owner) from error
        except OSError as error:
            raise _unusable_folder(error) from error
        owner_data = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        try:
            write_atomic(self._owner_file, to_json(owner_data), durable=False)
        except OSError as error:
            self._lock.release()
            raise _unusable_folder(error) from error

    def release(self) -> None:
        """Release the lock; do nothing if this object does not hold it."""
        if self.is_held:
            with suppress(OSError):
                self._owner_file.unlink(missing_ok=True)
            self._lock.release()


def find_holder(data_folder: Path) -> str | None:
    """Return a description of the process that holds the vault's lock, or None if it is free.

    A free lock is acquired briefly.

    Raises:
        StorageError: The data folder or the lock file can't be used.
    """
    lock_file = data_folder / _LOCK_FILE
    lock = FileLock(lock_file, timeout=0, mode=0o600)
    try:
        if not lock_file.exists():
            return None
        lock.acquire()
    except Timeout:
        return _read_holder(data_folder) or "another process"
    except OSError as error:
        raise _unusable_folder(error) from error
    lock.release()
    return None


def _unusable_folder(error: OSError) -> StorageError:
    return StorageError(f"The vault's data folder can't be used: {error.strerror or error}.")


def _read_holder(data_folder: Path) -> str | None:
    """Describe the process that last took the lock without releasing it, or return None if unknown."""
    try:
        owner_data = json.loads((data_folder / _OWNER_FILE).read_text(encoding="utf-8"))
        return f"process {int(owner_data['pid'])} on {owner_data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return None
