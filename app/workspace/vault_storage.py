"""The app's data for one vault, stored outside the vault, opened and closed together."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.agent.conversations import ConversationStore
from app.errors import StorageError, VaultBusyError, VaultLostError
from app.events import Event, EventBus
from app.index.saved_searches import SavedSearches
from app.index.vault_index import VaultIndex
from app.memory.store import MemoryStore
from app.permissions.audit import AuditLog
from app.permissions.grants import Grants
from app.permissions.pending import PendingStore
from app.settings import Settings
from app.storage.private import check_folder_writable, make_private_folder
from app.vault.journal import Journal
from app.vault.lock import VaultLock
from app.vault.store import NoteStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreReplaced(Event):
    """The event that a damaged file in use was set aside and replaced by a new one or a backup."""

    message: str


class VaultStorage:
    """The lock, the databases and files of the app's data, and the store that writes notes.

    `shared` is the vault's data folder, `session_folder` the one to write to, `cache` the one that may be
    deleted. An app that only reads must neither write to another app's data nor wait for it, so
    `session_folder` is then a temporary folder. If the data folder can't be written, the vault is open
    read-only. A cache folder that can't be written is replaced by a temporary one.

    Raises:
        VaultBusyError: Another app has the vault open; `owner` describes it.
        VaultLostError: The vault's folder is missing.
        StorageError: The data can't even be opened for reading.
        OSError: The cache folder can't be written, and no temporary one can be created.
    """

    def __init__(self, root: Path, settings: Settings, events: EventBus, read_only: bool) -> None:
        self.read_only = read_only
        self._access_problems: list[str] = []
        self._temporary = ExitStack()
        self.shared = paths.vault_data_folder(root)
        self.cache = self._choose_cache_folder(root, read_only)
        self._lock = VaultLock(self.shared)
        try:
            try:
                self._open(root, settings, events)
            except (VaultBusyError, VaultLostError):
                raise
            except (OSError, StorageError) as error:
                self._access_problems.append(_read_only_message(self.shared, error))
                log.warning("%s", self._access_problems[-1], exc_info=True)
                self.read_only = True
                self._open_for_reading(root, settings, events)
        except BaseException:
            self._temporary.close()
            raise

    def _choose_cache_folder(self, root: Path, read_only: bool) -> Path:
        folder = paths.vault_cache_folder(root)
        folder = folder / "reader" if read_only else folder
        default_folder = paths.default_cache_folder()
        try:
            check_folder_writable(folder)
        except OSError:
            folder = self._create_temporary_folder()
        if not folder.is_relative_to(default_folder):
            self._access_problems.append(
                "The cache folder can't be written, so this vault is indexed again each time it is opened. "
                f"Your notes are safe. Make {default_folder} writable, then open the vault again."
            )
        return folder

    def _create_temporary_folder(self) -> Path:
        temporary = tempfile.TemporaryDirectory(prefix="scriptorium-", ignore_cleanup_errors=True)
        return Path(self._temporary.enter_context(temporary))

    def _open(self, root: Path, settings: Settings, events: EventBus) -> None:
        """Open every file, or none.

        Raises:
            VaultBusyError: Another app has the vault open.
            OSError, StorageError: A file can't be opened.
        """
        self.session_folder = self._create_temporary_folder() if self.read_only else self.shared
        make_private_folder(self.session_folder)
        with ExitStack() as cleanup:
            if not self.read_only:
                cleanup.callback(self._lock.release)
                self._lock.acquire()
            self._open_files(root, settings, events, cleanup)
            cleanup.pop_all()

    def _open_for_reading(self, root: Path, settings: Settings, events: EventBus) -> None:
        """Open every file read-only, or none.

        Raises:
            StorageError: A file can't be opened.
        """
        try:
            self._open(root, settings, events)
        except OSError as error:
            message = (
                f"The app's data for this vault can't be opened ({error.strerror or error}). Your notes are "
                f"unchanged. Make sure that {self.shared} can be read and temporary files can be created, "
                "then open the vault again."
            )
            raise StorageError(message) from error

    def _open_files(self, root: Path, settings: Settings, events: EventBus, cleanup: ExitStack) -> None:
        """Open every file; open files are registered in `cleanup`, to be closed if a later one fails."""
        writable = not self.read_only
        self.audit = AuditLog(self.session_folder, paths.audit_head_file(root) if writable else None)
        cleanup.callback(self.audit.close)
        self.journal = Journal(self.shared, settings.journal.max_mib * 1024 * 1024, writable=writable)
        cleanup.callback(self.journal.close)
        if writable:
            # Logged commit numbers stay reserved even if the journal was deleted or an older copy restored.
            self.journal.reserve(self.audit.last_commit)
        self.store = NoteStore(root, self.journal, writable=writable)
        self.index = VaultIndex(root, self.cache, settings.index, events, self.journal.first_seen)
        self.searches = SavedSearches(self.shared, events, writable=writable)
        self.grants = Grants(self.session_folder, events=events)
        self.conversations = ConversationStore(self.session_folder)
        cleanup.callback(self.conversations.close)
        self.memory = MemoryStore(self.shared, self.journal, writable=writable)
        cleanup.callback(self.memory.close)
        self.pending = PendingStore(self.session_folder) if writable else None

    def on_damage(self, notify: Callable[[str], None]) -> None:
        """Call `notify`, in any thread, with a message for the user if a file proves to be damaged.

        This applies to the journal, the memory and the conversations.
        """
        self.journal.on_damage(notify)
        self.memory.database.on_damage = notify
        self.conversations.on_damage(notify)

    @property
    def problems(self) -> list[str]:
        """Messages for the user about storage problems."""
        pending = self.pending.problem if self.pending is not None else None
        problems = (
            self.journal.problem,
            self.store.problem,
            self.audit.problem,
            self.searches.problem,
            self.grants.problem,
            self.memory.problem,
            self.conversations.problem,
            pending,
        )
        return [*self._access_problems, *(problem for problem in problems if problem)]

    async def close(self) -> None:
        """Close every file except `pending`, which `PendingOperations` closes, and release the vault.

        If a file can't be closed, the others still are; then the error is raised.
        """
        with ExitStack() as cleanup:
            cleanup.callback(self._temporary.close)
            cleanup.callback(self._lock.release)
            cleanup.callback(self.journal.close)
            cleanup.callback(self.memory.close)
            cleanup.callback(self.conversations.close)
            cleanup.callback(self.audit.close)
            await self.index.close()


def _read_only_message(folder: Path, error: OSError | StorageError) -> str:
    """Return why a vault is open read-only."""
    reason = error.message.rstrip(".") if isinstance(error, StorageError) else error.strerror or str(error)
    return (
        f"The app's data for this vault can't be written ({reason}), so the vault is open read-only. "
        "Your notes and the app's data are unchanged; this session's conversations and log entries "
        f"will not be saved. Make {folder} writable, then open the vault again."
    )
