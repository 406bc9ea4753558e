"""Change many notes in the change set of a tool that renames, moves or merges something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from app.errors import InvalidParametersError, NotFoundError, UnreadableNoteError
from app.index.records import LinkRecord
from app.permissions.pluralize import pluralize
from app.toolkit.context import ToolContext
from app.vault.changes import FileChange, Update
from app.vault.path import NotePath

E = TypeVar("E")


def update_notes(
    context: ToolContext,
    edits: Mapping[NotePath, E],
    edit: Callable[[str, E], str],
    *,
    with_hidden: bool = True,
) -> tuple[list[Update], list[str]]:
    """Return the changes of notes, and the visible notes that can't be changed.

    Each of the latter is returned with the reason. Reads the notes, so call it in a thread.

    Args:
        context: The context of the call.
        edits: What to change in each note.
        edit: Returns a text with these changes.
        with_hidden: Whether hidden notes are changed, too, so that links in them stay right.
    """
    open_note = context.vault.open_for_change if with_hidden else context.vault.open
    changes: list[Update] = []
    failed: list[str] = []
    for source, details in edits.items():
        try:
            note = open_note(source)
            update = note.with_text(edit(note.text, details))
        except (NotFoundError, UnreadableNoteError, InvalidParametersError) as error:
            if context.vault.can_see(source):
                failed.append(f"{source}: {error.reason}")
            continue
        if update.before != update.after:
            changes.append(update)
    return changes, failed


def visible_updates(context: ToolContext, changes: Iterable[FileChange], *own: NotePath) -> list[str]:
    """Return the visible notes whose links a committed change set updates, without the tool's own notes."""
    return [
        str(change.path)
        for change in changes
        if isinstance(change, Update) and change.path not in own and context.vault.can_see(change.path)
    ]


def skipped_links(context: ToolContext, links: Iterable[LinkRecord], reason: str) -> list[str]:
    """Return the visible ones of links that stay unchanged, each with its note and the reason."""
    return [
        f"{link.source}: The link [[{link.target_text}]] in line {link.line} {reason}."
        for link in links
        if context.vault.can_see(link.source)
    ]


def describe_updates(updated: list[str]) -> str:
    """Return the sentence for a tool's message, after a space; empty without updated notes."""
    return f" Updated links in {pluralize(len(updated), 'note')}." if updated else ""
