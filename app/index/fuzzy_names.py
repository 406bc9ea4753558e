"""Names that are nearly what somebody said: "did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process


@dataclass(frozen=True, slots=True)
class FuzzyName:
    """A note's name or alias (in the form to compare by), its path, and how near it is, 0 to 100."""

    name: str
    path: str
    score: float


class FuzzyNames:
    """The names of all notes, each with the path of its note; names come and go with `add` and `remove`.

    rapidfuzz compares a hundred thousand of them in ten milliseconds, so no index of letters is kept.
    """

    def __init__(self) -> None:
        # A name that went leaves None, which is passed over, so that the others keep their places.
        self._names: list[str | None] = []
        self._paths: list[str] = []
        self._places: dict[str, list[int]] = {}
        self._gone = 0

    def add(self, path: str, names: Iterable[str]) -> None:
        """Take the names of a note that is not known."""
        places = self._places[path] = []
        for name in names:
            places.append(len(self._names))
            self._names.append(name)
            self._paths.append(path)

    def remove(self, path: str) -> None:
        """Forget the names of a note; nothing happens when it is not known."""
        for place in self._places.pop(path, ()):
            self._names[place] = None
            self._gone += 1
        if self._gone > 1000 and self._gone * 2 > len(self._names):
            self._compact()

    def _compact(self) -> None:
        kept = [(name, path) for name, path in zip(self._names, self._paths, strict=True) if name is not None]
        self._names, self._paths, self._places, self._gone = [], [], {}, 0
        for name, path in kept:
            self._places.setdefault(path, []).append(len(self._names))
            self._names.append(name)
            self._paths.append(path)

    def most_similar(self, wanted: str, limit: int, least: float) -> list[FuzzyName]:
        """The names most like `wanted`, letter by letter, with at least that score; best first."""
        found = process.extract(wanted, self._names, scorer=fuzz.ratio, limit=limit, score_cutoff=least)
        return [FuzzyName(name, self._paths[at], score) for name, score, at in found]

    def containing(self, wanted: str, limit: int, least: float) -> list[FuzzyName]:
        """The names of which a part is most like `wanted`, or that are like a part of it; best first."""
        scorer = fuzz.partial_ratio
        found = process.extract(wanted, self._names, scorer=scorer, limit=limit, score_cutoff=least)
        return [FuzzyName(name, self._paths[at], score) for name, score, at in found]
