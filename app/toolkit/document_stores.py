"""The document stores that the gate may change: the vault, the agents' memory and source folders.

All stores take the same change sets, write to the same journal and support undo in the same way. They
differ in who may change what without approval: `StoreVerdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from app.errors import InvalidParametersError, NotFoundError
from app.events import Event
from app.permissions.caller import Caller
from app.permissions.store_policy import StoreVerdict
from app.vault.changes import VAULT, ChangeSet
from app.vault.commits import Commit
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.vault.journal import Journal
    from app.vault.undo import UndoPlan


class DocumentStore(Protocol):
    """A store of documents that are read and changed as bytes, such as `NoteStore` or the memory store."""

    @property
    def place(self) -> str:
        """The name of the store, which its change sets carry."""
        ...

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of a document.

        Raises:
            NotFoundError: there is no such document.
            StorageError: the document can't be read.
        """
        ...

    def check_writable(self) -> None:
        """Check that documents can be changed.

        Raises:
            VaultBusyError: the store is read-only, for example because another process owns it.
        """
        ...

    def commit(
        self,
        change_set: ChangeSet,
        *,
        author: str,
        turn: str = "",
        note: str = "",
        entry: str = "",
        undoes: Iterable[int] = (),
    ) -> Commit:
        """Write a change set atomically and record it in the journal; called in a thread.

        Raises:
            ConflictError: a document changed since the change set was made; nothing was written.
            InvalidParametersError, LimitError: the store rejects the change set; nothing was written.
            StorageError: the store is read-only, or the disk write failed; nothing was written.
        """
        ...


StorePolicy = Callable[[ChangeSet, Caller], StoreVerdict | None]


def _no_own_policy(change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
    """Return None: the vault has no permissions of its own, so rules, grants and the user decide."""
    return None


@dataclass(frozen=True, slots=True)
class StoreBinding:
    """A store, its label as it follows "in" ("the memory", "the folder Papers"), and its own policy.

    The vault's label is empty, because it is the default store.
    """

    store: DocumentStore
    label: str
    access: StorePolicy = _no_own_policy


@dataclass(frozen=True, slots=True)
class DocumentsChanged(Event):
    """A commit has changed documents in a store other than the vault."""

    place: str
    paths: tuple[NotePath, ...]
    commit: int


class StoreRegistry:
    """The open stores; the vault is always one of them.

    Args:
        vault: The note store.
    """

    def __init__(self, vault: DocumentStore) -> None:
        self._open = {VAULT: StoreBinding(vault, "")}

    def add(self, binding: StoreBinding) -> Callable[[], None]:
        """Open a store to the gate; the returned function closes it.

        Raises:
            InvalidParametersError: a store with that name is already open.
        """
        name = binding.store.place
        if name in self._open:
            raise InvalidParametersError(f"A store named {name!r} is already open.", place=name)
        self._open[name] = binding

        def close() -> None:
            if self._open.get(name) is binding:
                del self._open[name]

        return close

    def get(self, name: str) -> StoreBinding:
        """Return the open store with that name.

        Raises:
            NotFoundError: no such store is open.
        """
        try:
            return self._open[name]
        except KeyError:
            raise NotFoundError(f"{name} is not open, so it can't be changed.", place=name) from None

    def plan_undo(self, journal: Journal, commits: Sequence[int]) -> UndoPlan:
        """Plan the undo of commits in one store; raises the errors of `Journal.plan_undo` and `current`."""
        place = journal.commit(commits[0]).place if commits else VAULT
        return journal.plan_undo(commits, partial(self.current, place))

    def current(self, name: str, path: NotePath) -> bytes | None:
        """Return the current bytes of a document in the store `name`, or None if it does not exist.

        Raises:
            NotFoundError: the store is not open.
            StorageError: the document can't be read.
        """
        store = self.get(name).store
        try:
            return store.read(path)
        except NotFoundError:
            return None
