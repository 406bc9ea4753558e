"""Where documents are kept that the gate may change: the vault, the agents' memory, folders outside.

All of them take the same change sets, write into the same journal and are undone in the same way. What
differs is who may change what without a question: `StoreVerdict`.
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
    """Documents that are read and changed as bytes: `NoteStore`, and the store of the memory."""

    @property
    def place(self) -> str:
        """The place of the change sets that it takes."""
        ...

    def read(self, path: NotePath) -> bytes:
        """The bytes of a document.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def check_writable(self) -> None:
        """Return if documents can be changed.

        Raises:
            VaultBusyError: another process owns the store; the message says so.
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
        """Write a change set, all of it or nothing, and record it in the journal; called in a thread.

        Raises:
            ConflictError: a document is not what the change set was made for; nothing was written.
            StorageError: the disk refused; nothing was written.
        """
        ...


StorePolicy = Callable[[ChangeSet, Caller], StoreVerdict | None]


def _no_own_policy(change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
    """The vault has no permissions of its own: the rules, the grants and the user decide."""
    return None


@dataclass(frozen=True, slots=True)
class StoreBinding:
    """A store, what it is called after "in" ("memory", "the folder Papers"), and its own permissions.

    The vault's label is empty: it is what is meant when nothing is said.
    """

    store: DocumentStore
    label: str
    access: StorePolicy = _no_own_policy


@dataclass(frozen=True, slots=True)
class DocumentsChanged(Event):
    """A commit of ours has changed documents of a place beside the vault."""

    place: str
    paths: tuple[NotePath, ...]
    author: str
    commit: int


class StoreRegistry:
    """The places that are open; the vault always is.

    Args:
        vault: The store of the notes.
    """

    def __init__(self, vault: DocumentStore) -> None:
        self._open = {VAULT: StoreBinding(vault, "")}

    def add(self, place: StoreBinding) -> Callable[[], None]:
        """Open a place to the gate; the returned function closes it.

        Raises:
            InvalidParametersError: there is one of that name.
        """
        name = place.store.place
        if name in self._open:
            raise InvalidParametersError(f"There is a place called {name!r} already.", place=name)
        self._open[name] = place

        def close() -> None:
            if self._open.get(name) is place:
                del self._open[name]

        return close

    def get(self, name: str) -> StoreBinding:
        """The place of that name.

        Raises:
            NotFoundError: it is not open, or not any more.
        """
        try:
            return self._open[name]
        except KeyError:
            raise NotFoundError(f"{name} is not open now, so it can't be changed.", place=name) from None

    def plan_undo(self, journal: Journal, commits: Sequence[int]) -> UndoPlan:
        """What taking back these commits, all of one place, comes to now; errors as of `Journal.undo`."""
        place = journal.commit(commits[0]).place if commits else VAULT
        return journal.undo(commits, partial(self.current, place))

    def current(self, name: str, path: NotePath) -> bytes | None:
        """What a document of a place holds now, None where there is none.

        Raises:
            NotFoundError: the place is not open.
        """
        store = self.get(name).store
        try:
            return store.read(path)
        except NotFoundError:
            return None
