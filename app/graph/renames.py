"""Which of the renames that somebody heard of can be true of a graph."""

from __future__ import annotations

from collections.abc import Container, Iterable


def effective_renames(renamed: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """New path by old path, such that no two nodes get one path.

    A rename of a path that is not known says nothing; nor does one to a path that another node has and
    keeps, because then the two are two notes.
    """
    wanted = {old: new for old, new in renamed if old != new and old in known}
    while True:
        taken: set[str] = set()
        kept: dict[str, str] = {}
        for old, new in wanted.items():
            if new not in taken and (new in wanted or new not in known):
                taken.add(new)
                kept[old] = new
        if len(kept) == len(wanted):
            return kept
        wanted = kept
