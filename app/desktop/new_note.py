"""A note that the person at the window makes by typing its name.

It is like a save: what is written is what was typed, by the one who would be asked. So it asks nothing; it is
journaled and in the audit log as any save of the user's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import ScriptoriumError
from app.permissions.caller import Caller
from app.tools.notes import alike, new_path
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Made:
    """It is there, at `path`."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class Taken:
    """Nothing was written: the note at `path` has that name."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class NotMade:
    """Nothing was written; `reason` is one sentence."""

    reason: str


def name_problem(name: str, folder: str = "") -> str:
    """Say why no note in `folder` can have this name; "" if one can."""
    try:
        new_path(name, folder)
    except ScriptoriumError as error:
        return error.message
    return ""


async def make_note(workspace: Workspace, name: str, folder: str = "") -> Made | Taken | NotMade:
    """Make a note with its name as heading; runs in the service thread.

    Args:
        workspace: The open vault.
        name: The name as typed; it may lead with folders.
        folder: Where to put it; the vault's root when empty.
    """
    try:
        path = new_path(name, folder)
        near = workspace.index.notes(path.folder, recursive=False) if path.folder else workspace.index.notes()
        taken = workspace.store.taken(path) or alike(near, path)
    except ScriptoriumError as error:
        return NotMade(error.message)
    if taken is not None:
        return Taken(taken)
    outcome = await workspace.runner.save(path, None, f"# {path.name}\n".encode(), Caller.user())
    return Made(path) if outcome.success else NotMade(outcome.message)
