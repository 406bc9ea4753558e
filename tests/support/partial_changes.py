"""Change sets of which only a part is approved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.vault.changes import ChangeSet
from app.vault.path import NotePath


def restrict_to(changes: ChangeSet, paths: Iterable[NotePath]) -> ChangeSet:
    """Return a change set with only the changes whose (old) path is in `paths`."""
    selected_paths = set(paths)
    return replace(changes, changes=tuple(each for each in changes.changes if each.path in selected_paths))
