"""Category nodes: merge two notes, and redirect links and relations to the merged note."""

from __future__ import annotations

import asyncio

from app.analysis.note_merge import Strategy, check_distinct, merge_note_texts
from app.index.renames import Rewrite
from app.permissions.pluralize import pluralize
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.link_updates import describe_updates, skipped_links, update_notes, visible_updates
from app.tools.node_common import NodeId, remove_relations_to
from app.vault.changes import ChangeSet, Update
from app.vault.markdown import link_edits
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

_MAX_CONTENT_CHARS = 4000


class NodesMerged(ToolResult):
    """Two merged notes; `left_out` lists links and notes that were not updated, each with the reason."""

    primary_node_id: str
    secondary_node_id: str
    merged_content: str
    relationships_transferred: int
    rewritten: list[str]
    left_out: list[str]


@tool(
    category="nodes",
    always_asks=True,
    timeout=120,
    examples=(
        "merge {secondary_node_id} into {primary_node_id}",
        "merge into {primary_node_id} the note {secondary_node_id}",
        "combine {primary_node_id} with {secondary_node_id}",
        "merge {primary_node_id} and {secondary_node_id}",
        "merge {primary_node_id} with {secondary_node_id}",
    ),
    usage_rule="merge_nodes keeps primary_node_id; read both notes first.",
)
async def merge_nodes(
    context: ToolContext,
    primary_node_id: NodeId,
    secondary_node_id: NodeId,
    merge_strategy: Strategy = "combine",
) -> Proposal[NodesMerged]:
    """Merge two notes: the first stays, the second moves to the vault's trash, and all links are updated.

    Args:
        primary_node_id: The note that stays.
        secondary_node_id: The note that is merged into it.
        merge_strategy: combine keeps both texts, prefer_primary the first, prefer_secondary the second.
    """
    primary = await context.vault.resolve_strictly(primary_node_id)
    secondary = await context.vault.resolve_strictly(secondary_node_id)
    check_distinct(str(primary.path), str(secondary.path))
    plan = await context.index.moves_to_rewrite({secondary.path: primary.path})
    rewrites = dict(plan.rewrites)
    own_rewrite, secondary_rewrite = rewrites.pop(primary.path, None), rewrites.pop(secondary.path, None)
    # Relations between the two notes would refer to the merged note itself.
    primary_text, _ = remove_relations_to(context, primary, secondary.path)
    secondary_text, _ = remove_relations_to(context, secondary, primary.path)
    merged = merge_note_texts(
        _rewrite_links(primary_text, own_rewrite),
        _rewrite_links(secondary_text, secondary_rewrite),
        merge_strategy,
        secondary.name,
    )
    changes, left_out = await asyncio.to_thread(update_notes, context, rewrites, link_edits.rewrite_links)
    left_out += skipped_links(context, plan.ambiguous, "could mean several notes")
    summary = f"Merge {secondary.path} into {primary.path}"
    if changes:
        summary += f", links updated in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(
        primary.with_text(merged.text), secondary.delete_change(), *changes, summary=summary
    )
    transferred = merged.relations + _count_relations_to(context, secondary.path, primary.path)

    def report(committed: ChangeSet) -> NodesMerged:
        approved = {change.path: change for change in committed.changes}
        approved_change = approved.get(primary.path)
        text = (
            decode_lossy(approved_change.after)
            if isinstance(approved_change, Update)
            else primary.readable_text
        )
        message = f"Merged [[{secondary.name}]] into [[{primary.name}]]."
        if approved_change is None and merged.text != primary.text:
            message = f"The text of [[{secondary.name}]] was not merged into [[{primary.name}]]."
        if secondary.path not in approved:
            message += f" [[{secondary.name}]] was not deleted."
        updated = visible_updates(context, committed.changes, primary.path)
        return NodesMerged(
            primary_node_id=str(primary.storage_id),
            secondary_node_id=str(secondary.storage_id),
            merged_content=text[scan(text).body_start :][:_MAX_CONTENT_CHARS],
            relationships_transferred=transferred if committed.digest == change_set.digest else 0,
            rewritten=updated,
            left_out=left_out,
            message=message + describe_updates(updated),
        )

    return context.propose(change_set, report)


def _rewrite_links(text: str, rewrite: Rewrite | None) -> str:
    return link_edits.rewrite_links(text, rewrite) if rewrite else text


def _count_relations_to(context: ToolContext, secondary: NotePath, primary: NotePath) -> int:
    """Return the number of relations from other visible notes to the second note."""
    links = context.index.backlinks(secondary)
    return sum(link.type != "LINKS_TO" and link.source != primary for link in links)
