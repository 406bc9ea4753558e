"""Completion of the names of notes, tags and other things, best match first."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from app.vault.path import name_key


def complete(names: Iterable[str], word: str, limit: int) -> tuple[str, ...]:
    """Return names that start with `word`, have a word that does, contain it, or are similar to it.

    Case does not matter. Similar names are added only if fewer than `limit` contain the word and it has more
    than two characters.

    Args:
        names: The distinct candidates.
        word: The typed text; if it is empty, the first names are returned.
        limit: The maximum number.
    """
    typed_key = name_key(word.strip())
    candidates = list(names)
    if not typed_key:
        return tuple(candidates[:limit])
    ranked: list[tuple[int, int, str]] = []
    for name in candidates:
        key = name_key(name)
        index = key.find(typed_key)
        if index == 0:
            ranked.append((0, len(name), name))
        elif index > 0:
            starts_word = not key[index - 1].isalnum()
            ranked.append((1 if starts_word else 2, len(name), name))
    ranked.sort()
    matches = [name for _, _, name in ranked[:limit]]
    if len(matches) < limit and len(typed_key) > 2:
        similar = process.extract(word, candidates, scorer=fuzz.WRatio, limit=limit, score_cutoff=70)
        matches += [name for name, _, _ in similar if name not in matches]
    return tuple(matches[:limit])
