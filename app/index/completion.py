"""Completion of the names of notes, tags and other things, best match first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rapidfuzz import fuzz, process

from app.vault.path import name_key

if TYPE_CHECKING:
    from app.index.records import NoteRecord
    from app.index.resolver import Resolver

_MIN_DIRECT_MATCHES = 40
_MIN_SIMILARITY = 75
_WORD_SEPARATORS = (" ", "-", "/", "_", ".", "(")


class NamedNotes(Protocol):
    """The notes that a reader may see: the index, or a view of it."""

    @property
    def resolver(self) -> Resolver:
        """Finds the note for a link."""
        ...

    def notes(self) -> tuple[NoteRecord, ...]:
        """Return the record of every note."""
        ...


def complete_note_names(index: NamedNotes, word: str, limit: int) -> tuple[str, ...]:
    """Return the shortest link texts of the notes whose names match `word`, best match first.

    If it is empty, the most recently changed notes are returned.
    """
    notes = index.notes()
    if not word.strip():
        notes = tuple(sorted(notes, key=lambda note: -note.modified))
    matches = best_matches(word, [name_key(note.path.name) for note in notes], limit)
    return tuple(index.resolver.shortest(notes[match].path, None) for match in matches)


def complete(names: Iterable[str], word: str, limit: int) -> tuple[str, ...]:
    """Return at most `limit` names that match `word`, as ranked by `best_matches`."""
    candidates = list(names)
    matches = best_matches(word, [name_key(name) for name in candidates], limit)
    return tuple(candidates[match] for match in matches)


def best_matches(query: str, names: Sequence[str], limit: int = 50) -> list[int]:
    """Return the indexes of at most `limit` matching names, best first; without a query, the first ones.

    Each of `names` is case-folded: a name, optional aliases after line breaks, and an optional detail after a
    NUL. An entry matches if it contains all words of the query. A name that equals the query ranks first,
    then one that starts with it, one in which a word starts with it, one that contains it, one that contains
    its words, and an entry whose detail is needed to match. At the same rank, the name precedes the aliases,
    and shorter entries precede longer ones. If a query of at least three characters has few matches, similar
    names follow. May be called in any thread.
    """
    folded_query = name_key(query).strip()
    if not folded_query:
        return list(range(min(limit, len(names))))
    matching: Iterable[int] = range(len(names))
    for word in folded_query.split():
        matching = [index for index in matching if word in names[index]]
    ranked = sorted((_rank_entry(folded_query, names[index]), len(names[index]), index) for index in matching)
    matches = [index for _, _, index in ranked[:limit]]
    if len(matches) < min(limit, _MIN_DIRECT_MATCHES) and len(folded_query) > 2:
        matched = set(matches)
        similar = process.extract(
            folded_query, names, scorer=fuzz.WRatio, limit=limit, score_cutoff=_MIN_SIMILARITY
        )
        matches += [index for _, _, index in similar if index not in matched]
    return matches[:limit]


def _rank_entry(query: str, entry: str) -> int:
    first, *aliases = entry.partition("\0")[0].split("\n")
    return min((2 * _rank_name(query, first), *(2 * _rank_name(query, alias) + 1 for alias in aliases)))


def _rank_name(query: str, name: str) -> int:
    if name == query:
        return 0
    if name.startswith(query):
        return 1
    if query in name:
        return 2 if any(f"{separator}{query}" in name for separator in _WORD_SEPARATORS) else 3
    return 4 if all(word in name for word in query.split()) else 5
