"""What files held when they were loaded or saved: what conflicts are told by, and where merges start from."""

from __future__ import annotations

from pathlib import Path

from app.sources.config import read_json
from app.storage.files import to_json, write_atomic
from app.vault.changes import content_hash

_MAX_BASES = 400


class MergeBases:
    """The texts themselves by hash, and for each load what the file was saved as since.

    A loaded block carries the hash that its file had and the token of its loading (`Block.origin`), both
    versioned with it. Saving does not touch the block: that the file now holds what was saved is kept here,
    under the token, so that undoing a load or a reload brings back what was true then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "bases"
        self._file = folder / "saved.json"
        self._saved = {token: str(hash) for token, hash in read_json(self._file).items()}

    def save(self, content: bytes) -> str:
        """Keep what a file held; its hash."""
        hash = content_hash(content)
        path = self._folder / hash
        if path.exists():
            path.touch()
        else:
            write_atomic(path, content)
            self._prune()
        return hash

    def contains(self, content: bytes) -> bool:
        """Whether a file once held exactly this when it was loaded or saved."""
        return (self._folder / content_hash(content)).exists()

    def content(self, hash: str) -> bytes | None:
        """What had that hash; None when it is not kept any more."""
        try:
            found = (self._folder / hash).read_bytes()
        except OSError:
            return None
        return found if content_hash(found) == hash else None

    def base_hash(self, token: str, loaded: str) -> str:
        """The hash that the file has as far as the block knows: of the last save, else of the load."""
        return self._saved.get(token, loaded)

    def record_save(self, token: str, hash: str) -> None:
        """The block that was loaded under `token` was saved, and the file has this hash now."""
        self._saved.pop(token, None)
        self._saved[token] = hash
        while len(self._saved) > _MAX_BASES:
            del self._saved[next(iter(self._saved))]
        write_atomic(self._file, to_json(self._saved, indent=None))

    def _prune(self) -> None:
        """Let go of the oldest; a merge that would need one says so and offers the other ways."""
        kept = sorted(self._folder.glob("?" * 64), key=lambda path: path.stat().st_mtime)
        for path in kept[: max(0, len(kept) - _MAX_BASES)]:
            path.unlink(missing_ok=True)
