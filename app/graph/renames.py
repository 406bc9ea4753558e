"""The subset of reported renames that is consistent with a graph."""

from __future__ import annotations

from collections.abc import Container, Iterable


def effective_renames(renamed: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """Return new path by old path, such that no two nodes get the same path.

    A rename of an unknown path is ignored, and so is one to a path that another node has and keeps, because
    the two are then separate notes.
    """
    wanted = {old: new for old, new in renamed if old != new and old in known}
    while True:
        targets: set[str] = set()
        kept: dict[str, str] = {}
        for old, new in wanted.items():
            if new not in targets and (new in wanted or new not in known):
                targets.add(new)
                kept[old] = new
        if len(kept) == len(wanted):
            return kept
        wanted = kept
