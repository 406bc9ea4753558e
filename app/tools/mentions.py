"""Category notes: link the unlinked mentions of a note, in one change set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from app.errors import ConflictError, InvalidParametersError, NotFoundError, UnreadableNoteError
from app.index.mention_links import linked_line, table_lines
from app.index.records import Mention
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet


class MentionsLinked(ToolResult):
    """The notes that now link to the note, and those that could not be changed, each with the reason."""

    path: str
    notes: list[str]
    left_out: list[str]


@tool(
    category="notes",
    examples=("link the mentions of {name}", "link all unlinked mentions of {name}"),
)
async def link_mentions(context: ToolContext, name: NoteName) -> Proposal[MentionsLinked]:
    """Turn the unlinked mentions of a note in other notes into links to it.

    Args:
        name: The mentioned note.
    """
    target = await context.vault.resolve_strictly(name)
    if context.index.note(target.path) is None:
        raise NotFoundError(f"{target.path} is not in the index yet.", path=str(target.path))
    changes, left_out = [], []
    mentions = context.index.unlinked_mentions(target.path)
    for source, note_mentions in groupby(mentions, key=lambda mention: mention.source):
        link_name = context.index.resolver.shortest(target.path, source)
        try:
            note = context.vault.open(source)
            changes.append(note.with_text(_link_lines(note.text, tuple(note_mentions), link_name)))
        except (NotFoundError, UnreadableNoteError, InvalidParametersError, ConflictError) as error:
            left_out.append(f"{source}: {error.reason}")
    summary = f"Link the mentions of {target.name} in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(*changes, summary=summary)

    def report(committed: ChangeSet) -> MentionsLinked:
        paths = [str(change.path) for change in committed.changes]
        message = (
            f"Linked the mentions of [[{target.name}]] in {pluralize(len(paths), 'note')}."
            if paths or left_out
            else f"Every mention of [[{target.name}]] is already a link."
        )
        return MentionsLinked(path=str(target.path), notes=paths, left_out=left_out, message=message)

    return context.propose(change_set, report)


def _link_lines(text: str, mentions: Sequence[Mention], name: str) -> str:
    """Return the text with links at the mentions, which are sorted by line.

    Raises:
        ConflictError: the text no longer contains a mention.
    """
    lines = text.split("\n")
    rows = table_lines(text)
    for number, line_mentions in groupby(mentions, key=lambda mention: mention.line):
        if number > len(lines):
            raise ConflictError("The note has changed and no longer contains the mention.")
        lines[number - 1] = linked_line(lines[number - 1], line_mentions, name, in_table=number in rows)
    return "\n".join(lines)
