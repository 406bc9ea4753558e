"""A vault's bookmarks, stored outside the vault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from app import paths
from app.desktop.runtime.translation import translate
from app.errors import StorageError
from app.storage.files import DurableFile, to_json
from app.vault.obsidian import Bookmark

_MAX_BOOKMARKS = 2000


class Bookmarks:
    """One vault's bookmarks in list order, stored in the vault's data folder.

    `problem` is a message about a file that could not be read and was set aside; empty if there was none.
    """

    def __init__(self, root: Path) -> None:
        file = paths.vault_data_folder(root) / "bookmarks.json"
        self._file = DurableFile(file, "The list of bookmarks", _parse, tuple[Bookmark, ...])
        self.items, self.problem = self._file.load()

    def contains(self, path: str) -> bool:
        """Return whether the note at `path` is bookmarked."""
        return any(item.kind == "file" and item.target == path for item in self.items)

    def add(self, bookmark: Bookmark) -> None:
        """Append a bookmark, removing any equal one; drop the oldest if there are too many.

        Raises:
            StorageError: Writing failed; nothing was changed.
        """
        self._save((*(item for item in self.items if item != bookmark), bookmark)[-_MAX_BOOKMARKS:])

    def remove(self, path: str) -> None:
        """Remove all bookmarks whose target is `path`.

        Raises:
            StorageError: Writing failed; nothing was changed.
        """
        self._save(tuple(item for item in self.items if item.target != path))

    def rename_paths(self, moves: Mapping[str, str]) -> bool:
        """Update the paths of renamed notes; return whether anything changed.

        Raises:
            StorageError: Writing failed; nothing was changed.
        """
        renamed = tuple(
            Bookmark(item.kind, moves.get(item.target, item.target), item.fragment, item.title, item.group)
            for item in self.items
        )
        if renamed == self.items:
            return False
        self._save(renamed)
        return True

    def _save(self, items: tuple[Bookmark, ...]) -> None:
        try:
            self._file.save(to_json([asdict(item) for item in items]))
        except OSError as error:
            message = translate("Bookmarks", "The bookmarks were not changed: {0}.")
            raise StorageError(message.format(error.strerror or error)) from error
        self.items = items


def _parse(content: bytes) -> tuple[Bookmark, ...]:
    values = json.loads(content)
    return tuple(Bookmark(**{name: str(value) for name, value in dict(item).items()}) for item in values)
