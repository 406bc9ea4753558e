"""Notes that the user keeps at hand: kept for each vault outside it, never in its notes."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from app import paths
from app.errors import StorageError
from app.vault.obsidian import Bookmark

log = logging.getLogger(__name__)
_MOST = 2000


class Bookmarks:
    """The bookmarks of one vault in a file of the user's data, in the order of the list.

    `problem` names a file that could not be read; it was set aside.
    """

    def __init__(self, root: Path) -> None:
        self._file = paths.vault_data_folder(root) / "bookmarks.json"
        self.problem = ""
        self.items: tuple[Bookmark, ...] = self._load()

    def has(self, path: str) -> bool:
        """Whether the note at `path` is among them."""
        return any(item.kind == "file" and item.target == path for item in self.items)

    def add(self, bookmark: Bookmark) -> None:
        """Add one at the end.

        Raises:
            StorageError: The disk refused; nothing was changed.
        """
        self._keep((*(item for item in self.items if item != bookmark), bookmark)[-_MOST:])

    def remove(self, path: str) -> None:
        """Remove what leads to the note at `path`.

        Raises:
            StorageError: The disk refused; nothing was changed.
        """
        self._keep(tuple(item for item in self.items if item.target != path))

    def moved(self, moves: Mapping[str, str]) -> bool:
        """Follow notes to their new paths; whether anything changed.

        Raises:
            StorageError: The disk refused; nothing was changed.
        """
        fresh = tuple(
            Bookmark(item.kind, moves.get(item.target, item.target), item.fragment, item.title, item.group)
            for item in self.items
        )
        if fresh == self.items:
            return False
        self._keep(fresh)
        return True

    def _load(self) -> tuple[Bookmark, ...]:
        try:
            values = json.loads(self._file.read_text("utf-8"))
            return tuple(Bookmark(**{name: str(value) for name, value in item.items()}) for item in values)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError, AttributeError) as error:
            aside = self._file.with_suffix(".damaged.json")
            log.warning("the bookmarks can't be read and are set aside as %s: %s", aside, error)
            if self._file.exists():
                self._file.replace(aside)
            self.problem = f"The bookmarks could not be read. The file was set aside: {aside}."
            return ()

    def _keep(self, items: tuple[Bookmark, ...]) -> None:
        try:
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=".bookmarks-")
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as stream:
                json.dump([asdict(item) for item in items], stream, ensure_ascii=False, indent=1)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(self._file)
        except OSError as error:
            raise StorageError(f"The bookmarks were not changed: {error.strerror}.") from error
        self.items = items
