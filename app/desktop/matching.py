"""Which names a few typed letters mean: for the command palette."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process

_ENOUGH = 40


def best(query: str, names: Sequence[str], limit: int = 50) -> list[int]:
    """The indexes of the names that `query` may mean, best first.

    A name that starts with the query comes before one in which a word does, that before one that merely
    holds it, and that before one whose note (what follows a NUL) holds it; if those are few, names that
    look alike follow. `names` are in lower case; pure, and in small steps, so that a thread that does it
    lets others run.
    """
    wanted = query.casefold().strip()
    if not wanted:
        return list(range(min(limit, len(names))))
    words = wanted.split()
    ranked: list[tuple[int, int, int]] = []
    for index, name in enumerate(names):
        if all(word in name for word in words):
            ranked.append((_rank(wanted, name), len(name), index))
    ranked.sort()
    found = [index for _, _, index in ranked[:limit]]
    if len(found) < min(limit, _ENOUGH) and len(wanted) > 2:
        have = set(found)
        alike = process.extract(wanted, names, scorer=fuzz.WRatio, limit=limit, score_cutoff=72)
        found += [index for _, _, index in alike if index not in have]
    return found[:limit]


def _rank(wanted: str, whole: str) -> int:
    name = whole.partition("\0")[0]
    if name == wanted:
        return 0
    if name.startswith(wanted):
        return 1
    if f" {wanted}" in name or f"-{wanted}" in name or f"/{wanted}" in name:
        return 2
    if wanted in name:
        return 3
    return 4 if all(word in name for word in wanted.split()) else 5
