"""Warnings about a move: permission rules that no longer apply, and settings that name the old path."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from app.permissions.scope import Operation
from app.toolkit.services import NoteServices
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeWarning
from app.vault.path import NotePath, name_key, without_suffix

_MAX_PATTERNS = 3
_LIFTED = {
    "hidden": TranslatableText(
        "Approval",
        "{0} file is no longer hidden by a permission rule.",
        "{0} files are no longer hidden by a permission rule.",
    ),
    "protected": TranslatableText(
        "Approval",
        "{0} file is no longer protected by a permission rule.",
        "{0} files are no longer protected by a permission rule.",
    ),
}
_LEFT_RULES = TranslatableText(
    "Approval", "Permission rules for {0} no longer apply to these files. Change them, too."
)
_MORE_LEFT_RULES = TranslatableText(
    "Approval", "Permission rules for {0} and {1} more no longer apply to these files. Change them, too."
)
_IN_SETTINGS = TranslatableText("Approval", "The settings still name “{0}” as the {1}. Change it there, too.")


async def move_warnings(
    services: NoteServices, moved: str, moves: Mapping[NotePath, NotePath]
) -> tuple[ChangeWarning, ...]:
    """Return the warnings for the user who approves a move.

    Args:
        services: The permission rules and the paths in the settings.
        moved: The path of the note or folder that is moved.
        moves: The new path of each file.
    """
    effects = await asyncio.to_thread(_count_effects, services, moves)
    texts = [_LIFTED[effect].fill(count) for effect, count in effects.items()]
    if all(path.is_under(moved) for path in moves):
        # A folder, which rules may name; a note that leaves the folder of a rule is no surprise.
        texts += await asyncio.to_thread(_name_patterns, services, moves)
    in_settings = (
        _IN_SETTINGS.fill(path, use)
        for use, path in services.paths_in_settings().items()
        if _is_moved(path, moved)
    )
    return (
        *(ChangeWarning(text, concerns_access=True) for text in texts),
        *(ChangeWarning(text) for text in in_settings),
    )


def _count_effects(services: NoteServices, moves: Mapping[NotePath, NotePath]) -> Counter[str]:
    """Return how many files are no longer hidden, and how many others are no longer protected."""
    effects: Counter[str] = Counter()
    for old, new in moves.items():
        if lifted := services.policy.lifted_by_move(old, new):
            effects["hidden" if Operation.READ in lifted else "protected"] += 1
    return effects


def _name_patterns(services: NoteServices, moves: Mapping[NotePath, NotePath]) -> list[TranslatableText]:
    """Return a sentence that names the rules that no longer apply to some of the files, if there are any."""
    patterns: set[str] = set()
    for old, new in moves.items():
        patterns |= services.policy.patterns_left_by_move(old, new)
    if not patterns:
        return []
    names = ", ".join(f"“{pattern}”" for pattern in sorted(patterns)[:_MAX_PATTERNS])
    more = len(patterns) - _MAX_PATTERNS
    return [_MORE_LEFT_RULES.fill(names, more) if more > 0 else _LEFT_RULES.fill(names)]


def _is_moved(path: str, moved: str) -> bool:
    """Return whether a path in the settings is that of the moved note or folder, or inside it."""
    key = name_key(path)
    return without_suffix(key) == name_key(without_suffix(moved)) or key.startswith(f"{name_key(moved)}/")
