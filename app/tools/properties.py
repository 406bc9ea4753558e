"""Category notes: rename a property in all notes, or in some of them, as one change set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Annotated

from pydantic import Field

from app.errors import (
    ConflictError,
    InvalidParametersError,
    NotFoundError,
    ScriptoriumError,
)
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.link_updates import update_notes
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, ChangeWarning, Update, after_of
from app.vault.markdown import properties
from app.vault.markdown.privacy import is_private
from app.vault.markdown.text import bullet_list
from app.vault.note import MEANINGFUL_KEYS
from app.vault.path import NotePath, name_key

_MAX_REASONS = 3
_BASE_SUFFIX = ".base"

_NOT_READ = TranslatableText("Approval", "Scriptorium reads “{0}”, but not “{1}”.")
_PUBLISHED = TranslatableText(
    "Approval", "{0} note is no longer private.", "{0} notes are no longer private."
)
_HIDDEN = TranslatableText("Approval", "{0} note becomes private.", "{0} notes become private.")

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

    def edit(text: str, _: None) -> str:
        return properties.rename_property(text, old, new)

    changes, left_out = await asyncio.to_thread(
        update_notes, context, dict.fromkeys(paths), edit, with_hidden=False
    )
    if not changes:
        omitted = len(left_out) - _MAX_REASONS
        reasons = bullet_list(left_out[:_MAX_REASONS]) + (f"\n\n… and {omitted} more." if omitted > 0 else "")
        message = f"“{old}” can't be renamed.\n\nUnchanged:\n\n{reasons}"
        raise ConflictError(message, left_out=left_out)
    bases = [file.path for file in context.index.files() if file.path.suffix == _BASE_SUFFIX]
    left_out += await asyncio.to_thread(_bases_with, context, bases, old)
    summary = f"Rename the property {old} to {new} in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(*changes, summary=summary, warnings=_warnings(changes, old, new))

    def report(committed: ChangeSet) -> PropertyRenamed:
        # A note that becomes private is hidden from a model from now on.
        paths = [
            str(change.path)
            for change in committed.changes
            if not (context.vault.hides_private and is_private(after_of(change) or b""))
        ]
        where = f" in {pluralize(len(paths), 'note')}" if paths else ""
        message = f"Renamed the property {old} to {new}{where}."
        return PropertyRenamed(key=old, new_key=new, notes=paths, left_out=left_out, message=message)

    return context.propose(change_set, report)


def _warnings(changes: Iterable[Update], old: str, new: str) -> Iterator[ChangeWarning]:
    """Yield the warnings for the user who approves the change."""
    if name_key(old) in MEANINGFUL_KEYS and name_key(new) not in MEANINGFUL_KEYS:
        yield ChangeWarning(_NOT_READ.fill(old, new))
    before_after = [(is_private(change.before), is_private(change.after)) for change in changes]
    if published := before_after.count((True, False)):
        yield ChangeWarning(_PUBLISHED.fill(published), concerns_access=True)
    if hidden := before_after.count((False, True)):
        yield ChangeWarning(_HIDDEN.fill(hidden), concerns_access=True)


def _bases_with(context: ToolContext, paths: Iterable[NotePath], key: str) -> list[str]:
    """Return the Obsidian bases that name a property, which are not changed; reads them."""
    word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])", re.IGNORECASE)
    left_out: list[str] = []
    for path in paths:
        with suppress(ScriptoriumError):
            if word.search(context.vault.open(path).readable_text):
                left_out.append(f"{path}: This base may use the property. Rename it there, too.")
    return left_out
