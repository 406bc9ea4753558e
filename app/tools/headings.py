"""Category notes: rename a heading; the links to it are changed with it."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from app.errors import InvalidParametersError, UnreadableNoteError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import HeadingText, NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Update
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
    """Rename a heading of a note. Links to it are rewritten in the same change.

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
    changes, left_out = await asyncio.to_thread(_rewrite_links, context, targets, rename)
    summary = f"Rename the heading {rename.old} of {note.path} to {rename.new}"
    if changes:
        summary += f", {pluralize(len(changes), 'note')} rewritten"
    change_set = ChangeSet.of(note.with_text(own_text), *changes, summary=summary)

    def report(committed: ChangeSet) -> HeadingRenamed:
        paths = [change.path for change in committed.changes]
        rewritten = [str(path) for path in paths if path != note.path and context.vault.can_see(path)]
        is_renamed = note.path in paths
        result = f"Renamed the heading “{rename.old}” of [[{note.name}]] to “{rename.new}”."
        message = result if is_renamed else f"The heading “{rename.old}” was not renamed."
        if rewritten:
            others = pluralize(len(rewritten), "note that links to it was", "notes that link to it were")
            message += f" {others} rewritten."
        return HeadingRenamed(
            path=str(note.path),
            heading=rename.old,
            new_heading=rename.new if is_renamed else rename.old,
            rewritten=rewritten,
            left_out=left_out,
            message=message,
        )

    return context.propose(change_set, report)


def _rewrite_links(
    context: ToolContext, targets: dict[NotePath, set[str]], rename: HeadingRename
) -> tuple[list[Update], list[str]]:
    """Return the changes of links in other notes, and the visible notes that can't be changed.

    Each of the latter is returned with the reason. Reads the notes, so call it in a thread.
    """
    changes: list[Update] = []
    left_out: list[str] = []
    for source, names in targets.items():
        try:
            other = context.vault.open_for_change(source)
            update = other.with_text(rename_heading_links(other.text, names, rename))
        except (UnreadableNoteError, InvalidParametersError) as error:
            if context.vault.can_see(source):
                left_out.append(f"{source}: {error.message}")
            continue
        if update.before != update.after:
            changes.append(update)
    return changes, left_out
