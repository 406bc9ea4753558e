"""What the app keeps of one vault outside it, opened and closed together."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.agent.conversations import ConversationStore
from app.events import Event, EventBus
from app.index.saved_searches import SavedSearches
from app.index.vault_index import VaultIndex
from app.memory.store import MemoryStore
from app.permissions.audit import AuditLog
from app.permissions.grants import Grants
from app.permissions.pending import PendingStore
from app.settings import Settings
from app.storage.private import make_private_folder
from app.vault.journal import Journal
from app.vault.lock import VaultLock
from app.vault.store import NoteStore


@dataclass(frozen=True, slots=True)
class StoreReplaced(Event):
    """A file turned out damaged in use: it was set aside, and a new one or a backup took its place."""

    message: str


class VaultFiles:
    """The lock, the journal, the index, the logs and the memory of a vault, and the store that writes notes.

    An app that only reads beside another one has folders of its own for what it has to keep: it must not
    write into what the first one owns, nor wait for it. `shared` is the vault's data folder, `own` the one
    to write to, `cache` what may be deleted.

    Raises:
        VaultBusyError: another app has the vault open; `owner` describes it.
        StorageError: the data or cache folder can't be used.
    """

    def __init__(self, root: Path, settings: Settings, events: EventBus, read_only: bool) -> None:
        self.shared = paths.vault_data_folder(root)
        self.own = self.shared / f"reader-{os.getpid()}" if read_only else self.shared
        make_private_folder(self.own)
        cache = paths.vault_cache_folder(root)
        self.cache = cache / "reader" if read_only else cache
        make_private_folder(self.cache)
        self._lock = VaultLock(self.shared)
        if not read_only:
            self._lock.acquire()
        with ExitStack() as opened:
            opened.callback(self._lock.release)
            self._open(root, settings, events, read_only, opened)
            opened.pop_all()

    def _open(
        self, root: Path, settings: Settings, events: EventBus, read_only: bool, opened: ExitStack
    ) -> None:
        """Open every file; what is open is entered in `opened`, to be closed where a later one fails."""
        writable = not read_only
        self.audit = AuditLog(self.own, paths.audit_head_file(root) if writable else None)
        opened.callback(self.audit.close)
        self.journal = Journal(self.shared, settings.journal.max_mib * 1024 * 1024, writable=writable)
        opened.callback(self.journal.close)
        if writable:
            # Also where the journal was deleted, or an older copy of it was put back.
            self.journal.reserve(self.audit.last_commit)
        self.store = NoteStore(root, self.journal, writable=writable)
        self.index = VaultIndex(root, self.cache, settings.index, events, self.journal.first_seen)
        self.searches = SavedSearches(self.shared, events, writable=writable)
        self.grants = Grants(self.own, events=events)
        self.conversations = ConversationStore(self.own)
        opened.callback(self.conversations.close)
        self.memory = MemoryStore(self.shared, self.journal, writable=writable)
        opened.callback(self.memory.close)
        self.pending = PendingStore(self.own) if writable else None

    def tell_damage(self, tell: Callable[[str], None]) -> None:
        """Call `tell` with the words for the user when a file turns out damaged in use; in any thread."""
        self.journal.on_damage(tell)
        self.memory.database.on_damage = tell
        self.conversations.on_damage(tell)

    @property
    def problems(self) -> list[str]:
        """What was damaged and set aside, for the user."""
        pending = self.pending.problem if self.pending is not None else None
        told = (
            self.journal.problem,
            self.store.problem,
            self.audit.problem,
            self.searches.problem,
            self.grants.problem,
            self.memory.problem,
            self.conversations.problem,
            pending,
        )
        return [problem for problem in told if problem]

    async def close(self) -> None:
        """Close every file and let another app have the vault; `PendingOperations` closes its own."""
        await self.index.close()
        closing: tuple[Callable[[], None], ...] = (
            self.audit.close,
            self.conversations.close,
            self.memory.close,
            self.journal.close,
            self._lock.release,
        )
        for close in closing:
            close()
