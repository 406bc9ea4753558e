"""Create a note from a name that the user typed.

This is like a save: the content is what the user typed, so no approval is needed. It is journaled and in the
audit log like any other save of the user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import ScriptoriumError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.tools.notes import find_similar, new_path
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService


@dataclass(frozen=True, slots=True)
class Created:
    """The note was created at `path`."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Nothing was written: the note at `path` has that name."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class CreateFailed:
    """Nothing was written; `reason` is one sentence."""

    reason: str


def name_problem(name: str, folder: str = "") -> str:
    """Return why no note in `folder` can have this name; "" if one can."""
    try:
        new_path(name, folder)
    except ScriptoriumError as error:
        return error.message
    return ""


async def create_note(vault: VaultService, name: str, folder: str = "") -> Created | NameTaken | CreateFailed:
    """Create a note with its name as heading; runs in the service thread.

    Args:
        vault: The open vault.
        name: The typed name; it may start with folders.
        folder: The folder for the note; empty for the vault's root.
    """
    try:
        path = new_path(name, folder)
        neighbors = (
            vault.notes.records(path.folder, recursive=False) if path.folder else vault.notes.records()
        )
        existing = vault.notes.existing_path(path) or find_similar(neighbors, path)
    except ScriptoriumError as error:
        return CreateFailed(error.message)
    if existing is not None:
        return NameTaken(existing)
    outcome = await vault.call(Call.save(path, None, f"# {path.name}\n".encode(), Caller.user()))
    return Created(path) if outcome.success else CreateFailed(outcome.message)
