"""Category notes: rename a property in all notes, or in some of them, as one change set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import Annotated

from pydantic import Field

from app.errors import (
    ConflictError,
    InvalidParametersError,
    NotFoundError,
    ScriptoriumError,
    UnreadableNoteError,
)
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Update
from app.vault.markdown import properties
from app.vault.markdown.privacy import is_private
from app.vault.markdown.text import bullet_list
from app.vault.path import NotePath, name_key

_MAX_REASONS = 3
_BASE_SUFFIX = ".base"

_READ_KEYS = frozenset(
    ("ai", "tags", "tag", "aliases", "alias", "type", "confidence", "id", "permalink", "origin")
)
"""The properties with a meaning for the app."""

PropertyName = Annotated[str, Field(min_length=1, max_length=200)]


class PropertyRenamed(ToolResult):
    """A property was renamed in these notes; `left_out` lists notes that stay unchanged, with the reason."""

    key: str
    new_key: str
    notes: list[str]
    left_out: list[str]


@tool(
    category="notes",
    examples=(
        "rename the property {key} to {new_key}",
        "rename the field {key} to {new_key} everywhere",
        "rename the property {key} to {new_key} in {names}",
    ),
)
async def rename_property(
    context: ToolContext, key: PropertyName, new_key: PropertyName, names: list[NoteName] | None = None
) -> Proposal[PropertyRenamed]:
    """Rename a property and keep its values; a note that already has the new name stays unchanged.

    Args:
        key: The property.
        new_key: The new name.
        names: The notes; every note that has the property by default.
    """
    old, new = key.strip(), new_key.strip()
    if old == new:
        raise InvalidParametersError("The new name is the same as the old one.", property=old)
    paths = context.index.notes_with_property(old)
    if names is not None:
        chosen = {(await context.vault.resolve_strictly(name)).path for name in names}
        paths = tuple(path for path in paths if path in chosen)
    if not paths:
        if names is not None:
            raise NotFoundError(f"None of these notes has the property “{old}”.", property=old)
        near = get_close_matches(old, [known.name for known in context.index.properties()], 1)
        hint = f" Did you mean “{near[0]}”?" if near else ""
        raise NotFoundError(f"No note has the property “{old}”.{hint}", property=old)
    changes, left_out = await asyncio.to_thread(_rename_in_notes, context, paths, old, new)
    if not changes:
        omitted = len(left_out) - _MAX_REASONS
        reasons = bullet_list(left_out[:_MAX_REASONS]) + (f"\n\n… and {omitted} more." if omitted > 0 else "")
        message = f"“{old}” can't be renamed. Nothing was changed.\n\nUnchanged:\n\n{reasons}"
        raise ConflictError(message, left_out=left_out)
    bases = [file.path for file in context.index.files() if file.path.suffix == _BASE_SUFFIX]
    left_out += await asyncio.to_thread(_bases_with, context, bases, old)
    summary = f"Rename the property {old} to {new} in {pluralize(len(changes), 'note')}"
    if name_key(old) in _READ_KEYS and name_key(new) not in _READ_KEYS:
        summary += f". Scriptorium reads “{old}”, but not “{new}”"
    if published := sum(is_private(change.before) and not is_private(change.after) for change in changes):
        summary += f". {pluralize(published, 'note is', 'notes are')} no longer private"

    def report(committed: ChangeSet) -> PropertyRenamed:
        changed_paths = [str(change.path) for change in committed.changes]
        message = f"Renamed the property {old} to {new} in {pluralize(len(changed_paths), 'note')}."
        return PropertyRenamed(key=old, new_key=new, notes=changed_paths, left_out=left_out, message=message)

    return context.propose(ChangeSet.of(*changes, summary=summary), report)


def _bases_with(context: ToolContext, paths: Iterable[NotePath], key: str) -> list[str]:
    """Return the Obsidian bases that name a property, which are not changed; reads them."""
    word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])", re.IGNORECASE)
    left_out: list[str] = []
    for path in paths:
        with suppress(ScriptoriumError):
            if word.search(context.vault.open(path).readable_text):
                left_out.append(f"{path}: This base may name the property; change it there.")
    return left_out


def _rename_in_notes(
    context: ToolContext, paths: tuple[NotePath, ...], old: str, new: str
) -> tuple[list[Update], list[str]]:
    """Return the changes, and the notes that can't be changed, each with the reason; reads the notes."""
    changes: list[Update] = []
    left_out: list[str] = []
    for path in paths:
        try:
            note = context.vault.open(path)
            changes.append(note.with_text(properties.rename_property(note.text, old, new)))
        except (NotFoundError, UnreadableNoteError, InvalidParametersError) as error:
            left_out.append(f"{path}: {error.message}")
    return changes, left_out
