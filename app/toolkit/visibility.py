"""Decide which documents a caller may see, based on private notes and read rules.

Private notes are hidden from models and programs; a deny rule hides notes from the callers that it names.
`Visibility` tracks the private notes with the index and evaluates the rules; `CallVisibility` applies both
to one call. The views of a tool consult its `CallVisibility` before they return anything.
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
    """Tracks the private notes of a vault; each workspace has one."""

    def __init__(self, index: VaultIndex, policy: Policy, events: EventBus) -> None:
        self._index = index
        self._policy = policy
        self._private: set[NotePath] | None = None
        self._paths: HiddenPaths | None = None
        self.close = events.subscribe(IndexUpdated, self._on_index_updated)

    def of(self, caller: Caller, tool: str) -> CallVisibility:
        """Return the visibility for one call of `tool` by `caller`."""
        return CallVisibility(self, caller, tool)

    @property
    def private(self) -> frozenset[NotePath]:
        """The indexed notes with `ai: private`."""
        return frozenset(self._private_notes())

    def is_private(self, path: NotePath) -> bool:
        """Return whether the note at `path` is indexed as private."""
        return path in self._private_notes()

    @property
    def private_paths(self) -> HiddenPaths:
        """The paths of the private notes, to search for in texts."""
        if self._paths is None or self._private is None:
            self._paths = HiddenPaths(self._private_notes())
        return self._paths

    def _private_notes(self) -> set[NotePath]:
        if self._private is None:
            self._private = set(self._index.private_notes())
        return self._private

    def rule(self, caller: Caller, tool: str, path: NotePath, place: str = VAULT) -> str:
        """Return the rules' decision on reading `path` in a store: allow, ask or deny."""
        return self._policy.may_read(caller, tool, path, place)

    def has_read_rules(self, caller: Caller, tool: str) -> bool:
        """Return whether any rule restricts reading by `caller` through `tool`."""
        return self._policy.has_read_rules(caller, tool)

    def paths(self) -> Iterable[NotePath]:
        """Return the paths of all indexed notes."""
        return self._index.note_paths()

    def files(self) -> Iterable[NotePath]:
        """Return the paths of all indexed files that are not notes."""
        return (record.path for record in self._index.files())

    def _on_index_updated(self, event: IndexUpdated) -> None:
        self._paths = None
        touched = (*event.changed, *event.removed)
        if self._private is None or len(touched) > _MAX_CHECKED_PATHS:
            # Recomputed on the next request, so that the batches of a scan do not block the thread.
            self._private = None
            return
        private = self._private
        for path in touched:
            if self._index.is_private(path):
                private.add(path)
            else:
                private.discard(path)


class CallVisibility:
    """The notes that one call may see.

    A note under an ask rule is hidden until the user lets this call read it (`grant_read`).
    """

    def __init__(self, visibility: Visibility, caller: Caller, tool: str) -> None:
        self._visibility = visibility
        self._caller = caller
        self._tool = tool
        self._granted: set[NotePath] = set()
        self._has_rules = visibility.has_read_rules(caller, tool)
        self._hidden: frozenset[NotePath] | None = None
        self._hidden_folders: frozenset[str] | None = None

    @property
    def is_ruled(self) -> bool:
        """True if rules may hide notes from this call."""
        return self._has_rules

    @property
    def hides_private(self) -> bool:
        """True if private notes are hidden from this caller."""
        return self._caller.uses_model

    @property
    def may_hide(self) -> bool:
        """True if notes may be hidden from this call: private ones, or those that a rule hides."""
        return self.hides_private or self._has_rules

    def can_see(self, path: NotePath) -> bool:
        """Return whether the call may know of `path` and its content."""
        if self.hides_private and self._visibility.is_private(path):
            return False
        return not self._has_rules or path in self._granted or self.rule(path) == "allow"

    def can_read(self, place: str, path: NotePath) -> bool:
        """Return whether the call may know of a document in a store other than the vault.

        Documents under an ask rule are hidden as well: other stores ask only about changes.
        """
        return not self._has_rules or self._visibility.rule(self._caller, self._tool, path, place) == "allow"

    def rule(self, path: NotePath) -> str:
        """Return the rules' decision on reading `path`: allow, ask or deny."""
        return self._visibility.rule(self._caller, self._tool, path) if self._has_rules else "allow"

    def needs_approval(self, path: NotePath) -> bool:
        """Return whether the user must approve before the call may open `path`."""
        is_private = self.hides_private and self._visibility.is_private(path)
        return not is_private and path not in self._granted and self.rule(path) == "ask"

    def grant_read(self, path: NotePath) -> None:
        """Let this call read `path`, after the user approved it."""
        self._granted.add(path)
        self._hidden = self._hidden_folders = None

    def hidden(self) -> frozenset[NotePath]:
        """Return the indexed notes that the call may not see."""
        if self._hidden is None:
            private = self._visibility.private if self.hides_private else frozenset()
            hidden_by_rule = (
                (p for p in self._visibility.paths() if not self.can_see(p)) if self._has_rules else ()
            )
            self._hidden = private | frozenset(hidden_by_rule)
        return self._hidden

    def hidden_paths(self) -> HiddenPaths:
        """Return the paths of `hidden`, to search for in texts."""
        if not self._has_rules:
            return self._visibility.private_paths if self.hides_private else HiddenPaths()
        return HiddenPaths(self.hidden())

    def hides_folder(self, folder: NotePath) -> bool:
        """Return whether a folder contains hidden notes and no other indexed files, so its name is hidden.

        The first call, and the first after `grant_read`, scans all paths of the vault: call it in a thread.
        """
        if self._hidden_folders is None:
            hidden = self.hidden()
            folders = _folders(hidden)
            others = (path for path in self._visibility.paths() if path not in hidden)
            self._hidden_folders = folders and folders - _folders(others) - _folders(self._visibility.files())
        return folder.key in self._hidden_folders


def _folders(paths: Iterable[NotePath]) -> frozenset[str]:
    """Return the folders that contain these files, at any depth, normalized for comparison."""
    folders: set[str] = set()
    for path in paths:
        folder = name_key(path.folder)
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)
