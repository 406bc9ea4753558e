"""What a profile of the settings lets a caller do at all: tools, operations, folders, or only reading."""

from __future__ import annotations

from app.permissions.scope import Operation
from app.permissions.scoping import CallFacts
from app.settings import CallerProfile
from app.vault.globs import word_matches
from app.vault.path import NotePath


def offers(profile: CallerProfile, category: str, tool: str, op: str) -> bool:
    """Whether the tool (and its operation `op`) is among those of the profile.

    A tool of which the profile names operations is there; which of them, is asked with `op`.
    """
    if profile.categories and category not in profile.categories:
        return False
    if not profile.tools:
        return True
    for glob in profile.tools:
        name, dot, operation = glob.partition(".")
        if word_matches(name, tool) and (not dot or not op or word_matches(operation, op)):
            return True
    return False


def reaches(profile: CallerProfile, path: NotePath) -> bool:
    """Whether the note at `path` is in a folder of the profile."""
    return not profile.folders or any(path.is_under(folder) for folder in profile.folders)


def outside_profile(profile: CallerProfile, call: CallFacts) -> str:
    """Why a call goes beyond the profile; empty if it does not."""
    who = call.caller.name
    if profile.read_only and call.operation is not Operation.READ:
        return f"{who} may only read"
    for part in call.parts:
        if part.path is not None and not part.place and not reaches(profile, part.path):
            # The path is not said: it may be one that the caller does not know, of a note that links there.
            return f"{who} may only reach {', '.join(profile.folders)}"
    return ""
