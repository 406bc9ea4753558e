"""Category memory: edit memory blocks, and undo such edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from app.errors import ConflictError, NotFoundError
from app.memory import changes, edits
from app.memory.block import Block
from app.memory.serialization import parse_block
from app.permissions.caller import CallerKind
from app.toolkit.memory_service import agent_key
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import MemoryContext
from app.toolkit.tool import tool
from app.tools.memory import Label, LineNumber, blocks_of
from app.vault.changes import ChangeSet, after_of
from app.vault.commits import Commit


class BlockEdited(ToolResult):
    """An edited block; `size` is its new size in characters."""

    label: str
    size: int
    text: str | None = None


@tool(
    category="memory",
    examples={
        "append": (
            "add {content} to the memory block {label}",
            "write {content} into the memory block {label}",
        ),
        "undo": ("undo the last edit of the memory block {label}",),
        "redo": ("redo the last edit of the memory block {label}",),
    },
    operations={
        "append": "label content field?",
        "replace": "label old new mode? nth? field?",
        "patch": "label patch field?",
        "set_field": "label field value",
        "edit_range": "label lines text field?",
        "undo": "label",
        "redo": "label",
    },
    usage_rule=(
        "block_edit changes a block: append adds at the end, replace and patch change text, "
        "set_field sets a field of a map or a section. Store lasting facts about the user in the "
        "`human` block."
    ),
)
async def block_edit(
    context: MemoryContext,
    op: Literal["append", "replace", "patch", "set_field", "edit_range", "undo", "redo"],
    label: Label,
    content: str | None = None,
    old: str | None = None,
    new: str | None = None,
    mode: Literal["first", "all", "nth", "regex"] | None = None,
    nth: LineNumber | None = None,
    patch: str | None = None,
    field: Label | None = None,
    value: JsonValue = None,
    lines: Annotated[str, Field(pattern=r"^\d{1,8}(-\d{1,8})?$")] | None = None,
    text: str | None = None,
) -> Proposal[BlockEdited]:
    """Edit a block of your memory as its layout allows.

    Args:
        op: append, replace, patch (a unified diff), set_field, edit_range (replace lines), undo and redo
            (your own last edit of this block).
        label: The block.
        content: The text to add: as a new line of a text, an item of a list or a timestamped entry of a log.
        old: The text to replace; with mode regex, a regular expression.
        new: The replacement.
        mode: Which occurrences: the first (the default), all, the nth, or all matches of a regular
            expression.
        nth: For mode nth: which occurrence, from 1.
        patch: Hunks of a unified diff; every context line must match.
        field: A field of a map block or a section of a composite block; section.field for a field in a
            section.
        value: The new value of the field; null clears it.
        lines: The lines to replace, such as 3 or 2-5; 3-2 inserts the text before line 3.
        text: The replacement of the lines.
    """
    before = blocks_of(context).block(label, agent_key(context.caller))
    if op in ("undo", "redo"):
        return _undo_edit(context, before, redo=op == "redo")
    match op:
        case "append":
            after = edits.append(before, content or "", field)
        case "replace":
            after = edits.replace(before, old or "", new or "", mode or "first", nth, field)
        case "patch":
            after = edits.patch(before, patch or "", field)
        case "set_field":
            after = edits.set_field(before, field or "", value)
        case _:
            first, _, last = (lines or "").partition("-")
            after = edits.edit_range(before, int(first), int(last or first), text or "", field)
    message = f"Edited {before.label}." if after != before else f"{before.label} already has this content."
    result = BlockEdited(label=before.label, size=after.size, message=message)
    return context.propose(changes.edit_block(before, after, f"{_SUMMARY_VERBS[op]} {before.label}"), result)


_SUMMARY_VERBS = {
    "append": "Add to",
    "replace": "Replace in",
    "patch": "Patch",
    "set_field": "Set a field of",
    "edit_range": "Edit lines of",
}


def _undo_edit(context: MemoryContext, block: Block, *, redo: bool) -> Proposal[BlockEdited]:
    """Undo or redo an edit through the journal, as the `undo` tool does."""
    commit = _undo_target(context, block, redo=redo)
    if commit is None:
        action = "redo" if redo else "undo"
        raise NotFoundError(f"You have nothing to {action} in the block {block.label!r}.", label=block.label)
    plan = context.history.plan_undo((commit.id,))
    if plan.conflicts:
        message = f"The same lines of {block.label} have changed since. Nothing was changed; edit it instead."
        raise ConflictError(message, label=block.label, commits=list(plan.commits))
    message = f"{'Redone' if redo else 'Undone'}: {commit.summary or block.label}."
    result = BlockEdited(label=block.label, size=_size_after(plan.change_set, block), message=message)
    return context.propose(plan.change_set, result, undoes=plan.commits)


def _size_after(change_set: ChangeSet, block: Block) -> int:
    """Return the size of the block after the change set; 0 if it deletes the block."""
    change = next((change for change in change_set.changes if change.path == block.path), None)
    if change is None:
        return block.size
    after = after_of(change)
    return parse_block(after).size if after is not None else 0


def _undo_target(context: MemoryContext, block: Block, *, redo: bool) -> Commit | None:
    """Return the caller's newest edit still in effect, or for a redo, its newest undo after the last edit."""
    caller = context.caller
    commits = context.history.commits_of_document(changes.MEMORY_PLACE, block.path)
    commits_by_id = {commit.id: commit for commit in commits}
    for commit in commits:
        is_own = caller.kind is CallerKind.USER or commit.author == caller.name
        is_undo = _undo_depth(commit, commits_by_id) % 2 == 1
        if redo and not is_undo and not commit.undoes:
            return None
        if is_own and commit.undone_by is None and is_undo == redo and (redo or not commit.undoes):
            return commit
    return None


def _undo_depth(commit: Commit, commits_by_id: Mapping[int, Commit]) -> int:
    """Return 0 for an edit, 1 for an undo, 2 for a redo, and so on."""
    depths = [
        _undo_depth(commits_by_id[number], commits_by_id)
        for number in commit.undoes
        if number in commits_by_id
    ]
    return 1 + max(depths, default=0) if commit.undoes else 0
