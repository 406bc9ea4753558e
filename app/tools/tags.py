"""Category tags: add and remove a note's tags, and rename a tag in all notes as one change set."""

from __future__ import annotations

import asyncio

from app.errors import InvalidParametersError, NotFoundError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import NoteName, TagName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.link_updates import update_notes
from app.vault.changes import ChangeSet
from app.vault.markdown import tag_edits
from app.vault.path import name_key


class TagChanged(ToolResult):
    """A tag was added to or removed from a note."""

    path: str
    tag: str


class TagRenamed(ToolResult):
    """A tag was renamed in these notes; `left_out` lists notes that could not be changed, with the reason."""

    tag: str
    new_tag: str
    notes: list[str]
    left_out: list[str]


@tool(
    category="tags",
    examples=(
        "tag {name} with {tag}",
        "add the tag {tag} to {name}",
        "mark {name} as {tag}",
        "put {tag} on {name}",
        "label {name} {tag}",
    ),
)
async def add_tag(context: ToolContext, name: NoteName, tag: TagName) -> Proposal[TagChanged]:
    """Add a tag to a note.

    Args:
        name: The note.
        tag: The tag, with or without #.
    """
    note = await context.vault.resolve_strictly(name)
    tag_name = tag.strip().lstrip("#")
    change = ChangeSet.of(
        note.with_text(tag_edits.add_tag(note.text, tag_name)), summary=f"Add #{tag_name} to {note.path}"
    )
    message = (
        f"Tagged [[{note.name}]] with #{tag_name}." if change else f"[[{note.name}]] already has #{tag_name}."
    )
    return context.propose(change, TagChanged(path=str(note.path), tag=tag_name, message=message))


@tool(
    category="tags",
    examples=(
        "remove the tag {tag} from {name}",
        "untag {name} {tag}",
        "take {tag} off {name}",
        "delete tag {tag} from {name}",
    ),
)
async def remove_tag(context: ToolContext, name: NoteName, tag: TagName) -> Proposal[TagChanged]:
    """Remove a tag from a note's properties and text.

    Args:
        name: The note.
        tag: The tag, with or without #.
    """
    note = await context.vault.resolve_strictly(name)
    tag_name = tag.strip().lstrip("#")
    if name_key(tag_name) not in {name_key(existing_tag) for existing_tag in note.parsed.tag_names}:
        raise NotFoundError(
            f"{note.path} does not have the tag #{tag_name}.",
            path=str(note.path),
            tags=list(note.parsed.tag_names),
        )
    change = ChangeSet.of(
        note.with_text(tag_edits.remove_tag(note.text, tag_name)),
        summary=f"Remove #{tag_name} from {note.path}",
    )
    message = f"Removed #{tag_name} from [[{note.name}]]."
    return context.propose(change, TagChanged(path=str(note.path), tag=tag_name, message=message))


@tool(
    category="tags",
    examples=("rename the tag {tag} to {new_tag}", "change tag {tag} into {new_tag} everywhere"),
)
async def rename_tag(context: ToolContext, tag: TagName, new_tag: TagName) -> Proposal[TagRenamed]:
    """Rename a tag and its nested tags in every note.

    Args:
        tag: The tag, with or without #.
        new_tag: The new name.
    """
    old, new = tag.strip().lstrip("#"), new_tag.strip().lstrip("#")
    if old == new:
        raise InvalidParametersError("The new name is the same as the old one.", tag=old)
    paths = context.index.notes_with_tag(old)
    if not paths:
        raise NotFoundError(f"No note has the tag #{old}.", tag=old)

    def edit(text: str, _: None) -> str:
        return tag_edits.rename_tag(text, old, new)

    changes, left_out = await asyncio.to_thread(
        update_notes, context, dict.fromkeys(paths), edit, with_hidden=False
    )
    summary = f"Rename #{old} to #{new} in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(*changes, summary=summary)

    def report(committed: ChangeSet) -> TagRenamed:
        changed_paths = [str(change.path) for change in committed.changes]
        message = f"Renamed #{old} to #{new} in {pluralize(len(changed_paths), 'note')}."
        return TagRenamed(tag=old, new_tag=new, notes=changed_paths, left_out=left_out, message=message)

    return context.propose(change_set, report)
