"""Suggested links that the user does not want to see again, kept per vault in the data folder."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from app.errors import StorageError

log = logging.getLogger(__name__)
FILE_NAME = "rejected-links.json"

Pair = tuple[str, str]


class Rejections:
    """Pairs of paths, in no direction. A file that cannot be read is set aside, and a new list begun."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
        self._pairs = self._read()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All of them, in order."""
        return tuple(sorted(self._pairs))

    def __contains__(self, pair: Pair) -> bool:
        return _ordered(*pair) in self._pairs

    def add(self, source: str, target: str) -> None:
        """Reject a link.

        Raises:
            StorageError: it could not be written; the list is as it was.
        """
        self._keep(self._pairs | {_ordered(source, target)})

    def remove(self, source: str, target: str) -> None:
        """Let a link be suggested again. Raises as `add`."""
        self._keep(self._pairs - {_ordered(source, target)})

    def follow(self, moved: Iterable[Pair]) -> None:
        """Notes have other paths now, by old and new path. Raises as `add`."""
        new = dict(moved)
        if new:
            self._keep({_ordered(new.get(a, a), new.get(b, b)) for a, b in self._pairs})

    def _read(self) -> frozenset[Pair]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            return frozenset(_ordered(str(source), str(target)) for source, target in content)
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, TypeError) as error:
            log.warning("the rejected links could not be read and are set aside: %s", error)
            self._set_aside()
            return frozenset()

    def _set_aside(self) -> None:
        try:
            self._file.replace(self._file.with_name(f"{FILE_NAME}.damaged"))
        except OSError as error:
            log.warning("%s could not be set aside: %s", self._file, error)

    def _keep(self, pairs: Iterable[Pair]) -> None:
        pairs = frozenset(pairs)
        if pairs == self._pairs:
            return
        try:
            handle, name = tempfile.mkstemp(prefix=".rejected-", dir=self._file.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(sorted(pairs), file, ensure_ascii=True, indent=0)
            Path(name).replace(self._file)
        except OSError as error:
            raise StorageError(f"The rejected link could not be kept: {error}.") from error
        self._pairs = pairs


def _ordered(first: str, second: str) -> Pair:
    return (first, second) if first <= second else (second, first)
