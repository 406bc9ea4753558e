"""Warnings about a move: permission rules that no longer apply, and settings that name the old path."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from app.permissions.pluralize import pluralize
from app.permissions.scope import Operation
from app.toolkit.services import NoteServices
from app.vault.path import NotePath, name_key, without_suffix

_MAX_PATTERNS = 3


async def move_warnings(
    services: NoteServices, moved: str, moves: Mapping[NotePath, NotePath]
) -> tuple[str, ...]:
    """Return sentences for the user who approves a move.

    Args:
        services: The permission rules and the paths in the settings.
        moved: The path of the note or folder that is moved.
        moves: The new path of each file.
    """
    effects = await asyncio.to_thread(_count_effects, services, moves)
    warnings = [
        f"{pluralize(count, 'file is', 'files are')} no longer {effect} by a permission rule."
        for effect, count in effects.items()
    ]
    if all(path.is_under(moved) for path in moves):
        # A folder, which rules may name; a note that leaves the folder of a rule is no surprise.
        warnings += await asyncio.to_thread(_name_patterns, services, moves)
    warnings += [
        f"The settings still name “{path}” as the {use}. Change it there, too."
        for use, path in services.paths_in_settings().items()
        if _is_moved(path, moved)
    ]
    return tuple(warnings)


def _count_effects(services: NoteServices, moves: Mapping[NotePath, NotePath]) -> Counter[str]:
    """Return how many files are no longer hidden, and how many others are no longer protected."""
    effects: Counter[str] = Counter()
    for old, new in moves.items():
        if lifted := services.policy.lifted_by_move(old, new):
            effects["hidden" if Operation.READ in lifted else "protected"] += 1
    return effects


def _name_patterns(services: NoteServices, moves: Mapping[NotePath, NotePath]) -> list[str]:
    """Return a sentence that names the rules that no longer apply to some of the files, if there are any."""
    patterns: set[str] = set()
    for old, new in moves.items():
        patterns |= services.policy.patterns_left_by_move(old, new)
    if not patterns:
        return []
    names = ", ".join(f"“{pattern}”" for pattern in sorted(patterns)[:_MAX_PATTERNS])
    more = f" and {len(patterns) - _MAX_PATTERNS} more" if len(patterns) > _MAX_PATTERNS else ""
    return [f"Permission rules for {names}{more} no longer apply to these files. Change them, too."]


def _is_moved(path: str, moved: str) -> bool:
    """Return whether a path in the settings is that of the moved note or folder, or inside it."""
    key = name_key(path)
    return without_suffix(key) == name_key(without_suffix(moved)) or key.startswith(f"{name_key(moved)}/")
