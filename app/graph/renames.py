"""The subset of reported renames that is consistent with a graph."""

from __future__ import annotations

from collections.abc import Container, Iterable


def effective_renames(renamed: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """Return new path by old path, such that no two nodes get the same path.

    A rename of an unknown path is ignored, and so is one to a path that another node has and keeps, because
    the two are then separate notes.
    """
    candidates = {old: new for old, new in renamed if old != new and old in known}
    while True:
        targets: set[str] = set()
        effective: dict[str, str] = {}
        for old, new in candidates.items():
            if new not in targets and (new in candidates or new not in known):
                targets.add(new)
                effective[old] = new
        if len(effective) == len(candidates):
            return effective
        candidates = effective
