"""Fuzzy search of note names, for "did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process


@dataclass(frozen=True, slots=True)
class FuzzyName:
    """A note's name or alias (normalized), its path, and its similarity from 0 to 100."""

    name: str
    path: str
    score: float


class FuzzyNames:
    """The names of all notes, each with the path of its note.

    rapidfuzz compares a hundred thousand names in ten milliseconds, so no n-gram index is needed.
    """

    def __init__(self) -> None:
        # A removed name becomes None, which rapidfuzz skips, so that the indexes of the others stay valid.
        self._names: list[str | None] = []
        self._paths: list[str] = []
        self._indexes: dict[str, list[int]] = {}
        self._removed_count = 0

    def add(self, path: str, names: Iterable[str]) -> None:
        """Add the names of a new note."""
        indexes = self._indexes[path] = []
        for name in names:
            indexes.append(len(self._names))
            self._names.append(name)
            self._paths.append(path)

    def remove(self, path: str) -> None:
        """Remove the names of a note; do nothing if it is unknown."""
        for index in self._indexes.pop(path, ()):
            self._names[index] = None
            self._removed_count += 1
        if self._removed_count > 1000 and self._removed_count * 2 > len(self._names):
            self._compact()

    def _compact(self) -> None:
        entries = [
            (name, path) for name, path in zip(self._names, self._paths, strict=True) if name is not None
        ]
        self._names, self._paths, self._indexes, self._removed_count = [], [], {}, 0
        for name, path in entries:
            self._indexes.setdefault(path, []).append(len(self._names))
            self._names.append(name)
            self._paths.append(path)

    def with_word(self, word: str) -> set[str]:
        """Return the paths of the notes that have a whole word in their names."""
        return {
            path
            for name, path in zip(self._names, self._paths, strict=True)
            if name is not None and word in name and word in name.split()
        }

    def most_similar(self, query: str, limit: int, min_score: float) -> list[FuzzyName]:
        """Return the names most similar to `query`, with a score of at least `min_score`, best first."""
        matches = process.extract(query, self._names, scorer=fuzz.ratio, limit=limit, score_cutoff=min_score)
        return [FuzzyName(name, self._paths[index], score) for name, score, index in matches]

    def containing(self, query: str, limit: int, min_score: float) -> list[FuzzyName]:
        """Return the names with the best partial match of `query`, in either direction, best first.

        Their scores are at least `min_score`.
        """
        scorer = fuzz.partial_ratio
        matches = process.extract(query, self._names, scorer=scorer, limit=limit, score_cutoff=min_score)
        return [FuzzyName(name, self._paths[index], score) for name, score, index in matches]
