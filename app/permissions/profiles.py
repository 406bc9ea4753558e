"""Caller profiles: the tools, operations and folders that a caller may use at all."""

from __future__ import annotations

from app.permissions.impact import CallFacts
from app.permissions.scope import Operation
from app.settings import CallerProfile
from app.vault.globs import word_matches
from app.vault.path import NotePath


def allows_tool(profile: CallerProfile, category: str, tool: str, op: str) -> bool:
    """Return whether the profile includes the tool (and its operation `op`).

    Without `op`, it is enough that the profile names one of the tool's operations. An empty list of
    categories or tools in the profile includes all of them.
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


def allows_note(profile: CallerProfile, path: NotePath) -> bool:
    """Return whether a profile includes the note at `path`; one without folders includes all notes."""
    return not profile.folders or any(path.is_under(folder) for folder in profile.folders)


def outside_profile(profile: CallerProfile, call: CallFacts) -> str:
    """Return the reason why a call exceeds the profile; empty if it does not."""
    caller_name = call.caller.name
    if profile.read_only and call.operation is not Operation.READ:
        return f"{caller_name} may only read"
    for part in call.parts:
        if part.path is not None and not part.store_id and not allows_note(profile, part.path):
            # The message omits the path: the caller may not know of the note, for example one that links to
            # a moved note.
            return f"{caller_name} may only access {', '.join(profile.folders)}"
    return ""
