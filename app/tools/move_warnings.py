"""Warnings about a move: permission rules that no longer apply, and settings that name the old path."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping

from app.permissions.policy import ProtectionLoss
from app.toolkit.services import NoteServices, PathInSettings
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeWarning
from app.vault.path import NotePath, name_key, without_suffix

_MAX_PATTERNS = 3
_LOST: Mapping[ProtectionLoss, TranslatableText] = {
    "hidden": TranslatableText(
        "Approval",
        "{0} file is no longer hidden by a permission rule.",
        "{0} files are no longer hidden by a permission rule.",
    ),
    "protected": TranslatableText(
        "Approval",
        "{0} file is less protected by permission rules.",
        "{0} files are less protected by permission rules.",
    ),
}
_LEFT_RULES = TranslatableText(
    "Approval", "Permission rules for {0} do not apply to the new paths. Change them, too."
)
_MORE_LEFT_RULES = TranslatableText(
    "Approval", "Permission rules for {0} and {1} more do not apply to the new paths. Change them, too."
)
_IN_SETTINGS = TranslatableText("Approval", "The settings still name “{0}” as {1}. Change it there, too.")


async def move_warnings(
    services: NoteServices, moved: str, moves: Mapping[NotePath, NotePath], *, is_folder: bool
) -> tuple[ChangeWarning, ...]:
    """Return the warnings for the user who approves a move.

    Args:
        services: The permission rules and the paths in the settings.
        moved: The path of the note or folder that is moved.
        moves: The new path of each file.
        is_folder: Whether a folder is moved.
    """
    return await asyncio.to_thread(_find_warnings, services, moved, moves, is_folder)


def _find_warnings(
    services: NoteServices, moved: str, moves: Mapping[NotePath, NotePath], is_folder: bool
) -> tuple[ChangeWarning, ...]:
    lost = Counter(services.policy.protection_lost_by_move(old, new) for old, new in moves.items())
    texts = [text.fill(lost[loss]) for loss, text in _LOST.items() if lost[loss]]
    if is_folder:
        # Rules may name a folder; a note that leaves the folder of a rule is no surprise.
        texts += _name_patterns(services.policy.patterns_left_by_moves(moves))
    in_settings = (
        _IN_SETTINGS.fill(named.path, named.use)
        for named in services.paths_in_settings()
        if _is_moved(named, moved, is_folder)
    )
    return (
        *(ChangeWarning(text, concerns_access=True) for text in texts),
        *(ChangeWarning(text) for text in in_settings),
    )


def _name_patterns(patterns: Collection[str]) -> list[TranslatableText]:
    """Return a sentence that names the rules that no longer apply, if there are any."""
    if not patterns:
        return []
    names = ", ".join(f"“{pattern}”" for pattern in sorted(patterns)[:_MAX_PATTERNS])
    more = len(patterns) - _MAX_PATTERNS
    return [_MORE_LEFT_RULES.fill(names, more) if more > 0 else _LEFT_RULES.fill(names)]


def _is_moved(named: PathInSettings, moved: str, is_folder: bool) -> bool:
    """Return whether a path in the settings is that of the moved note or folder, or inside the folder."""
    key, moved_key = name_key(named.path), name_key(moved)
    if is_folder:
        return key.startswith(f"{moved_key}/") or (named.is_folder and key == moved_key)
    return not named.is_folder and without_suffix(key) == without_suffix(moved_key)
