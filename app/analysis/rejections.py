"""Suggested links that the user has rejected, stored per vault in the data folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from app.errors import StorageError
from app.storage.files import DurableFile, to_json

FILE_NAME = "rejected-links.json"

Pair = tuple[str, str]


class Rejections:
    """The rejected links, as undirected pairs of paths.

    `problem` is a message for the user about a damaged file; empty if there is none.
    """

    def __init__(self, folder: Path) -> None:
        self._file = DurableFile(
            folder / FILE_NAME,
            "The list of rejected links",
            _parse,
            frozenset[Pair],
            "Links that you rejected may be suggested again.",
        )
        self._pairs, self.problem = self._file.load()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, sorted."""
        return tuple(sorted(self._pairs))

    def __contains__(self, pair: Pair) -> bool:
        return _unordered_pair(*pair) in self._pairs

    def add(self, source: str, target: str) -> None:
        """Reject a link.

        Raises:
            StorageError: The list could not be written; it is unchanged.
        """
        self._save(self._pairs | {_unordered_pair(source, target)})

    def remove(self, source: str, target: str) -> None:
        """Allow a rejected link to be suggested again; raises as `add` does."""
        self._save(self._pairs - {_unordered_pair(source, target)})

    def follow(self, moved: Iterable[Pair]) -> None:
        """Update the paths of moved notes, given as (old, new) pairs; raises as `add` does."""
        new_paths = dict(moved)
        if new_paths:
            self._save({_unordered_pair(new_paths.get(a, a), new_paths.get(b, b)) for a, b in self._pairs})

    def _save(self, pairs: Iterable[Pair]) -> None:
        pairs = frozenset(pairs)
        if pairs == self._pairs:
            return
        try:
            self._file.save(to_json(sorted(pairs), indent=0))
        except OSError as error:
            raise StorageError(
                f"The list of rejected links can't be saved: {error}. It is unchanged."
            ) from error
        self._pairs = pairs


def _parse(content: bytes) -> frozenset[Pair]:
    return frozenset(_unordered_pair(str(source), str(target)) for source, target in json.loads(content))


def _unordered_pair(first: str, second: str) -> Pair:
    return (first, second) if first <= second else (second, first)
