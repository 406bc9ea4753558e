"""Contents of files when they were loaded or saved: they reveal conflicts and serve as merge bases."""

from __future__ import annotations

from pathlib import Path

from app.sources.config import read_json
from app.storage.files import to_json, write_atomic
from app.vault.changes import content_hash

_MAX_BASES = 400


class MergeBases:
    """The latest contents by hash, and for each load the hash that the file was last saved with.

    A loaded block carries the hash of its file and the token of the load (`Block.origin`), both versioned
    with it. Saving does not change the block: the new hash of the file is stored here under the token, so
    that undoing a load or reload restores the earlier state.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "bases"
        self._file = folder / "saved.json"
        self._saved = {token: str(key) for token, key in read_json(self._file).items()}

    def save(self, content: bytes) -> str:
        """Store a file's content and return its hash.

        Raises:
            OSError: the content can't be written.
        """
        key = content_hash(content)
        path = self._folder / key
        if path.exists():
            path.touch()
        else:
            write_atomic(path, content)
            self._prune()
        return key

    def contains(self, content: bytes) -> bool:
        """Return whether this is the stored content of a file that was loaded or saved."""
        return (self._folder / content_hash(content)).exists()

    def content(self, key: str) -> bytes | None:
        """Return the content with this hash, or None if it is no longer stored."""
        try:
            content = (self._folder / key).read_bytes()
        except OSError:
            return None
        return content if content_hash(content) == key else None

    def base_hash(self, token: str, loaded: str) -> str:
        """Return the hash that the file should have: that of the block's last save, else `loaded`."""
        return self._saved.get(token, loaded)

    def record_save(self, token: str, key: str) -> None:
        """Record that the block loaded under `token` was saved and its file now has the hash `key`.

        Raises:
            OSError: the record can't be written.
        """
        self._saved.pop(token, None)
        self._saved[token] = key
        while len(self._saved) > _MAX_BASES:
            del self._saved[next(iter(self._saved))]
        write_atomic(self._file, to_json(self._saved, indent=None))

    def _prune(self) -> None:
        """Delete the oldest contents; a merge that needs one fails with an error that offers alternatives."""
        files = sorted(self._folder.glob("?" * 64), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - _MAX_BASES)]:
            path.unlink(missing_ok=True)
