"""New paths of moved notes, taken from the published changes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from app.vault.store import NotesChanged

if TYPE_CHECKING:
    from app.events import EventBus
    from app.vault.path import NotePath

_MAX_PATHS = 20_000


class NoteMoves:
    """The published moves and removals of files that have not come back since, by the app or from outside."""

    def __init__(self, events: EventBus) -> None:
        # None stands for a removal.
        self._new_paths: OrderedDict[NotePath, NotePath | None] = OrderedDict()
        events.subscribe(NotesChanged, self._record)

    def moved_to(self, path: NotePath) -> NotePath | None:
        """Return where the file at `path` was moved, or None if no move was published."""
        return self._new_paths.get(path)

    def is_removed(self, path: NotePath) -> bool:
        """Return whether the removal of the file at `path` was published."""
        return path in self._new_paths and self._new_paths[path] is None

    def _record(self, event: NotesChanged) -> None:
        self._new_paths.update(dict.fromkeys(event.removed))
        self._new_paths.update(event.moved)
        # A path that is in use again leads nowhere else, so moves have no cycles.
        for path in (*event.paths, *(new_path for _, new_path in event.moved)):
            self._new_paths.pop(path, None)
        while len(self._new_paths) > _MAX_PATHS:
            self._new_paths.popitem(last=False)
