"""The subset of reported renames that is consistent with a graph."""

from __future__ import annotations

from collections.abc import Container, Iterable


def effective_renames(renamed: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """Return the new path of each renamed node by its old path, so that no two nodes get the same path.

    A rename of an unknown path is ignored, and so is one to a path that another node has and keeps, because
    the two are then separate notes.
    """
    candidates = {
        old_path: new_path for old_path, new_path in renamed if old_path != new_path and old_path in known
    }
    while True:
        targets: set[str] = set()
        effective: dict[str, str] = {}
        for old_path, new_path in candidates.items():
            if new_path not in targets and (new_path in candidates or new_path not in known):
                targets.add(new_path)
                effective[old_path] = new_path
        if len(effective) == len(candidates):
            return effective
        candidates = effective
