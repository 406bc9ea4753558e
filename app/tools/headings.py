"""Category notes: rename a heading; the links to it are changed with it."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import HeadingText, NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.link_updates import describe_updates, update_notes, visible_updates
from app.vault.changes import ChangeSet
from app.vault.markdown.heading_edits import HeadingRename, rename_heading_links
from app.vault.path import NotePath


class HeadingRenamed(ToolResult):
    """A renamed heading; `left_out` lists the notes whose links to it stay unchanged, with the reason."""

    path: str
    heading: str
    new_heading: str
    rewritten: list[str]
    left_out: list[str]


@tool(
    category="notes",
    examples=("rename the heading {heading} to {new_heading} in {name}",),
)
async def rename_heading(
    context: ToolContext, name: NoteName, heading: HeadingText, new_heading: HeadingText
) -> Proposal[HeadingRenamed]:
    """Rename a heading of a note. Links to it are updated in the same change.

    Args:
        name: The note.
        heading: The heading's text, without #; `Parent#Heading` if it occurs more than once.
        new_heading: The new text, without #.
    """
    note = await context.vault.resolve_strictly(name)
    rename = HeadingRename.of(note.text, heading, new_heading)
    targets: dict[NotePath, set[str]] = defaultdict(set, {note.path: {""}})
    for link in context.index.all_backlinks(note.path):
        targets[link.source].add(link.target_text)
    own_text = rename_heading_links(rename.text, targets.pop(note.path), rename)

    def edit(text: str, names: set[str]) -> str:
        return rename_heading_links(text, names, rename)

    changes, left_out = await asyncio.to_thread(update_notes, context, targets, edit)
    summary = f"Rename the heading {rename.old} of {note.path} to {rename.new}"
    if changes:
        summary += f", links updated in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(note.with_text(own_text), *changes, summary=summary)

    def report(committed: ChangeSet) -> HeadingRenamed:
        updated = visible_updates(context, committed.changes, note.path)
        is_renamed = note.path in committed.paths
        result = f"Renamed the heading “{rename.old}” of [[{note.name}]] to “{rename.new}”."
        message = result if is_renamed else f"The heading “{rename.old}” was not renamed."
        return HeadingRenamed(
            path=str(note.path),
            heading=rename.old,
            new_heading=rename.new if is_renamed else rename.old,
            rewritten=updated,
            left_out=left_out,
            message=message + describe_updates(updated),
        )

    return context.propose(change_set, report)
