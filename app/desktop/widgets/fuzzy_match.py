"""Fuzzy matching of names, for the command palette."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process

_MIN_DIRECT_MATCHES = 40


def best_matches(query: str, names: Sequence[str], limit: int = 50) -> list[int]:
    """Return the indexes of at most `limit` matching names, best first; without a query, the first ones.

    Each of `names` is case-folded: a name, optional aliases after line breaks, and an optional detail after a
    NUL. An entry matches if it contains all words of the query. A name that equals the query ranks first,
    then one that starts with it, one in which a word starts with it, one that contains it, one that contains
    its words, and an entry whose detail is needed to match. At the same rank, the name precedes the aliases,
    and shorter entries precede longer ones. If a query of at least three characters has few matches, similar
    names follow. May be called in any thread.
    """
    folded_query = query.casefold().strip()
    if not folded_query:
        return list(range(min(limit, len(names))))
    words = folded_query.split()
    ranked: list[tuple[int, int, int]] = []
    for index, name in enumerate(names):
        if _contains_all(name, words):
            ranked.append((_rank_entry(folded_query, name), len(name), index))
    ranked.sort()
    matches = [index for _, _, index in ranked[:limit]]
    if len(matches) < min(limit, _MIN_DIRECT_MATCHES) and len(folded_query) > 2:
        matched = set(matches)
        similar = process.extract(folded_query, names, scorer=fuzz.WRatio, limit=limit, score_cutoff=72)
        matches += [index for _, _, index in similar if index not in matched]
    return matches[:limit]


def matched_alias(query: str, name: str, aliases: Sequence[str]) -> str:
    """Return the first alias that contains all words of the query.

    Returns an empty string if the query is empty, `name` itself matches, or no alias does.
    """
    words = query.casefold().split()
    if not words or _contains_all(name.casefold(), words):
        return ""
    return next((alias for alias in aliases if _contains_all(alias.casefold(), words)), "")


def _contains_all(name: str, words: Sequence[str]) -> bool:
    return all(word in name for word in words)


def _rank_entry(query: str, entry: str) -> int:
    first, *aliases = entry.partition("\0")[0].split("\n")
    return min((2 * _rank_name(query, first), *(2 * _rank_name(query, alias) + 1 for alias in aliases)))


def _rank_name(query: str, name: str) -> int:
    if name == query:
        return 0
    if name.startswith(query):
        return 1
    if f" {query}" in name or f"-{query}" in name or f"/{query}" in name:
        return 2
    if query in name:
        return 3
    return 4 if _contains_all(name, query.split()) else 5
