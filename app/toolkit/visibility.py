"""What a caller may see: private notes are kept from models and programs, and deny rules from all they name.

`Visibility` knows which notes are private (kept in step with the index) and what the rules say;
`CallVisibility` is that for one call. The views that a tool is given ask its `CallVisibility` before they
hand anything out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.events import EventBus
from app.index.records import IndexUpdated
from app.permissions.caller import Caller
from app.permissions.policy import Policy
from app.toolkit.hidden_paths import HiddenPaths
from app.vault.changes import VAULT
from app.vault.path import NotePath, name_key

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex


_MAX_CHECKED_PATHS = 50


class Visibility:
    """Knows the private notes of a vault; one for a workspace."""

    def __init__(self, index: VaultIndex, policy: Policy, events: EventBus) -> None:
        self._index = index
        self._policy = policy
        self._private: set[NotePath] | None = None
        self._paths: HiddenPaths | None = None
        self.close = events.subscribe(IndexUpdated, self._follow)

    def of(self, caller: Caller, tool: str) -> CallVisibility:
        """Return what `caller` may see through `tool`."""
        return CallVisibility(self, caller, tool)

    @property
    def private(self) -> frozenset[NotePath]:
        """The notes with `ai: private`, as far as they are indexed."""
        return frozenset(self._known())

    def is_private(self, path: NotePath) -> bool:
        """Return whether the note at `path` is indexed as private."""
        return path in self._known()

    @property
    def private_paths(self) -> HiddenPaths:
        """The paths of these notes, to be found in texts."""
        if self._paths is None or self._private is None:
            self._paths = HiddenPaths(self._known())
        return self._paths

    def _known(self) -> set[NotePath]:
        if self._private is None:
            self._private = set(self._index.private_notes())
        return self._private

    def rule(self, caller: Caller, tool: str, path: NotePath, place: str = VAULT) -> str:
        """Return what the rules say about reading `path` of a place: allow, ask or deny."""
        return self._policy.may_read(caller, tool, path, place)

    def has_read_rules(self, caller: Caller, tool: str) -> bool:
        """Return whether any rule narrows what `caller` reads through `tool`."""
        return self._policy.has_read_rules(caller, tool)

    def paths(self) -> Iterable[NotePath]:
        """Every indexed note."""
        return self._index.note_paths()

    def files(self) -> Iterable[NotePath]:
        """Every indexed file that is no note."""
        return (record.path for record in self._index.files())

    def _follow(self, event: IndexUpdated) -> None:
        self._paths = None
        touched = (*event.changed, *event.removed)
        if self._private is None or len(touched) > _MAX_CHECKED_PATHS:
            # Looked up again when next asked: a scan's batches must not hold the thread up.
            self._private = None
            return
        known = self._private
        for path in touched:
            if self._index.is_private(path):
                known.add(path)
            else:
                known.discard(path)


class CallVisibility:
    """The notes that one call may see.

    A note under an ask rule is unseen until the user has let this call open it (`open`).
    """

    def __init__(self, visibility: Visibility, caller: Caller, tool: str) -> None:
        self._visibility = visibility
        self._caller = caller
        self._tool = tool
        self._opened: set[NotePath] = set()
        self._ruled = visibility.has_read_rules(caller, tool)
        self._hidden: frozenset[NotePath] | None = None
        self._hidden_folders: frozenset[str] | None = None

    @property
    def is_ruled(self) -> bool:
        """Whether rules may hide notes from this call."""
        return self._ruled

    @property
    def hides_private(self) -> bool:
        """Whether private notes are kept from this caller."""
        return self._caller.uses_model

    def can_see(self, path: NotePath) -> bool:
        """Return whether the call may know of `path` and what is in it."""
        if self.hides_private and self._visibility.is_private(path):
            return False
        return not self._ruled or path in self._opened or self.rule(path) == "allow"

    def can_read(self, place: str, path: NotePath) -> bool:
        """Return whether the call may know of a document of another place than the vault.

        What a rule wants asked about is unseen, too: there only changes are asked about.
        """
        return not self._ruled or self._visibility.rule(self._caller, self._tool, path, place) == "allow"

    def rule(self, path: NotePath) -> str:
        """Return what the rules say about reading `path`: allow, ask or deny."""
        return self._visibility.rule(self._caller, self._tool, path) if self._ruled else "allow"

    def needs_approval(self, path: NotePath) -> bool:
        """Return whether the user has to be asked before the call may open `path`."""
        private = self.hides_private and self._visibility.is_private(path)
        return not private and path not in self._opened and self.rule(path) == "ask"

    def grant_read(self, path: NotePath) -> None:
        """The user let this call read `path`."""
        self._opened.add(path)
        self._hidden = self._hidden_folders = None

    def hidden(self) -> frozenset[NotePath]:
        """Every indexed note that the call may not see."""
        if self._hidden is None:
            private = self._visibility.private if self.hides_private else frozenset()
            ruled = (p for p in self._visibility.paths() if not self.can_see(p)) if self._ruled else ()
            self._hidden = private | frozenset(ruled)
        return self._hidden

    def hidden_paths(self) -> HiddenPaths:
        """The paths of `hidden`, to be found in texts."""
        if not self._ruled:
            return self._visibility.private_paths if self.hides_private else HiddenPaths()
        return HiddenPaths(self.hidden())

    def hides_folder(self, folder: NotePath) -> bool:
        """Return whether a folder holds hidden notes and no other file: then its name is hidden, too.

        The first call looks at every path of the vault: call it in a thread.
        """
        if self._hidden_folders is None:
            hidden = self.hidden()
            held = _folders(hidden)
            others = (path for path in self._visibility.paths() if path not in hidden)
            self._hidden_folders = held and held - _folders(others) - _folders(self._visibility.files())
        return folder.key in self._hidden_folders


def _folders(paths: Iterable[NotePath]) -> frozenset[str]:
    """The folders that hold these files, at any depth, in the form to compare by."""
    found: set[str] = set()
    for path in paths:
        folder = name_key(path.folder)
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
