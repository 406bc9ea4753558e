"""Create, read, change and delete nodes, which are notes with a type, a confidence and relations."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from app.errors import ConflictError, InvalidParametersError, UnreadableNoteError
from app.permissions.pluralize import pluralize, with_article
from app.toolkit.argument_types import Properties
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.node_common import (
    Edge,
    NodeId,
    edges_of,
    incoming_edges,
    leads_to,
    preview,
    remove_relations_to,
)
from app.tools.notes import find_similar, new_path
from app.tools.related_nodes import RelatedNode, related_to_draft
from app.vault.changes import ChangeSet, Create, Delete, Update, after_of
from app.vault.markdown import body_edits, relation_edits
from app.vault.markdown.properties import remove_property, set_property
from app.vault.markdown.scan import scan
from app.vault.note import ParsedNote
from app.vault.path import NotePath
from app.vault.storage_id import StorageId

_TITLE_KEYS = ("title", "name")
_TEXT_KEYS = ("text", "content", "body", "description")
_MAX_TITLE_CHARS = 60
_UNSAFE_CHARS = re.compile(r'[\\/:*?"<>|#^\[\]%\x00-\x1f]+')
_PROPERTIES_BY_TYPE = {
    "source": ("url", "author", "authors", "published", "publisher", "doi", "isbn"),
    "hypothesis": ("confidence", "status"),
    "observation": ("observed", "place", "instrument"),
}


class Node(ToolResult):
    """A node; `content` is its text without properties, `relationships` are its outgoing relations."""

    node_id: str
    name: str
    type: str
    confidence: float | None
    content: str
    properties: dict[str, JsonValue]
    tags: list[str]
    relationships: list[Edge]
    incoming: list[Edge]
    hash: str


class NodeWritten(ToolResult):
    """A created or changed node; `related_nodes` are listed if it was analyzed."""

    node_id: str
    type: str
    related_nodes: list[RelatedNode]


class NodeDeleted(ToolResult):
    """A node that was moved to the vault's trash; `links_left` are the notes that still link to it."""

    node_id: str
    content_preview: str
    relationships_affected: int
    relationships_removed: int
    links_left: list[str]
    left_out: list[str]


class NodeReclassified(ToolResult):
    """A node whose type was changed; `warning` lists removed relations and properties that do not fit."""

    node_id: str
    old_type: str
    new_type: str
    warning: str | None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A new node's path and text."""

    path: NotePath
    text: str


@tool(
    category="nodes",
    usage_rule="Give create_node the type (observation, hypothesis, source, concept, …) and in `content` a"
    " title, the text and properties such as confidence or url.",
    creates_only=True,
)
async def create_node(
    context: ToolContext, type: str, content: Properties, auto_analyze: bool = True
) -> Proposal[NodeWritten]:
    """Create a note with a type. Never overwrites an existing note.

    Args:
        type: The type: observation, hypothesis, source, concept, entity, note, or another word.
        content: `title`, `text` and `folder`; everything else becomes a property (confidence, url, tags, …).
        auto_analyze: Also find related nodes.
    """
    kind = _check_type(type)
    draft = _parse_draft(kind, content)
    existing = context.vault.existing_path(draft.path) or find_similar(context.index.notes(), draft.path)
    if existing is not None:
        raise ConflictError(f"There is already a note at {existing}.", path=str(existing))
    draft_note = OpenNote(draft.path, draft.text.encode())
    related = await related_to_draft(context, draft_note) if auto_analyze else []
    change = Create(draft.path, draft.text.encode("utf-8"))

    def report(committed: ChangeSet) -> NodeWritten:
        written = _committed_note(committed) or draft_note
        message = f"Created the {written.parsed.type} [[{draft.path.name}]]."
        if related:
            message += f" {pluralize(len(related), 'note')} may be related."
        return NodeWritten(
            node_id=str(StorageId.of_file(draft.path)),
            type=written.parsed.type,
            related_nodes=related,
            message=message,
        )

    return context.propose(ChangeSet.of(change, summary=f"Create the {kind} {draft.path}"), report)


def _parse_draft(kind: str, content: Mapping[str, JsonValue]) -> _Draft:
    properties = {key: value for key, value in content.items() if value is not None}
    title = next((str(properties.pop(key)) for key in _TITLE_KEYS if properties.get(key)), "")
    text = next((str(properties.pop(key)) for key in _TEXT_KEYS if isinstance(properties.get(key), str)), "")
    folder = str(properties.pop("folder", "") or "")
    if not title and not text.strip():
        raise InvalidParametersError("Give the node a title or some text.", content=list(content))
    body = text if text.strip() else f"# {title}\n"
    note = set_property(body if body.endswith("\n") else f"{body}\n", "type", kind)
    for key, value in properties.items():
        note = set_property(note, key, _check_value(key, value))
    return _Draft(new_path(_UNSAFE_CHARS.sub(" ", title).strip() or _derive_title(text), folder), note)


def _derive_title(text: str) -> str:
    """Return a title from the first words of a text; "Untitled" if it has none."""
    first = next((line for line in text.splitlines() if line.strip("#>-* \t")), "Untitled")
    plain = " ".join(_UNSAFE_CHARS.sub(" ", first).strip("#>-*. \t").split())
    if len(plain) <= _MAX_TITLE_CHARS:
        return plain or "Untitled"
    return plain[:_MAX_TITLE_CHARS].rpartition(" ")[0].rstrip(" ,;.") or plain[:_MAX_TITLE_CHARS]


def _check_type(node_type: str) -> str:
    kind = " ".join(node_type.split()).lower()
    if not kind or not re.fullmatch(r"[\w][\w /-]{0,60}", kind):
        raise InvalidParametersError(
            f"{node_type!r} can't be the type of a node: use a word.", given=node_type
        )
    return kind


def _check_value(key: str, value: JsonValue) -> JsonValue:
    if key.lower() == "confidence":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= float(value) <= 1:  # type: ignore[arg-type]
            raise InvalidParametersError("A confidence must be a number from 0 to 1.", confidence=value)
    return value


@tool(
    category="nodes",
    examples=("show the node {node_id} with its relations", "which relations does {node_id} have?"),
)
async def get_node(context: ToolContext, node_id: NodeId) -> Node:
    """Return a note with its type, confidence, properties and relations in both directions.

    Args:
        node_id: The note.
    """
    note = await context.vault.resolve_for_reading(node_id)
    parsed = note.parsed
    outgoing, incoming = [edge.as_result() for edge in edges_of(context, note)], incoming_edges(context, note)
    relations = pluralize(len(outgoing) + len(incoming), "relation")
    node = Node(
        node_id=str(note.storage_id),
        name=note.name,
        type=parsed.type,
        confidence=parsed.confidence,
        content=note.readable_text[parsed.body_start :][:200_000],
        properties=dict(parsed.properties),
        tags=list(parsed.tag_names),
        relationships=outgoing,
        incoming=incoming,
        hash=note.hash,
        message=f"[[{note.name}]] is {with_article(parsed.type)} with {relations}.",
    )
    return node.from_notes([note.is_from_web])


@tool(category="nodes")
async def update_node(
    context: ToolContext, node_id: NodeId, updates: Properties, re_analyze: bool = False
) -> Proposal[NodeWritten]:
    """Change a node's text, type or other properties; only their own lines change.

    Args:
        node_id: The note.
        updates: New values by name: `text` replaces the text; all other names are properties, such as `type`
            and `confidence`; null removes a property.
        re_analyze: Also find nodes related to the new text.
    """
    note = await context.vault.resolve_strictly(node_id)
    if not updates:
        raise InvalidParametersError("Give at least one change in `updates`.")
    text = note.text
    for key, value in updates.items():
        if key in _TEXT_KEYS and isinstance(value, str) and key not in note.parsed.properties:
            text = body_edits.replace_body(text, value if value.endswith("\n") else f"{value}\n")
        elif value is None:
            text = remove_property(text, key)
        else:
            checked = _check_type(str(value)) if key == "type" else _check_value(key, value)
            text = set_property(text, key, checked)
    related = await related_to_draft(context, OpenNote(note.path, text.encode())) if re_analyze else []
    change = ChangeSet.of(note.with_text(text), summary=f"Update {note.path}")
    message = (
        f"Changed [[{note.name}]]." if change else f"[[{note.name}]] already has these values; nothing to do."
    )

    def report(committed: ChangeSet) -> NodeWritten:
        written = _committed_note(committed) or note
        return NodeWritten(
            node_id=str(note.storage_id), type=written.parsed.type, related_nodes=related, message=message
        )

    return context.propose(change, report)


def _committed_note(committed: ChangeSet) -> OpenNote | None:
    """Return the first note that a change set writes, or None."""
    return next(
        (
            OpenNote(change.path, after)
            for change in committed.changes
            if (after := after_of(change)) is not None
        ),
        None,
    )


@tool(
    category="nodes",
    examples=("delete the node {node_id} and the relations to it",),
    always_asks=True,
)
async def delete_node(context: ToolContext, node_id: NodeId, cascade: bool = False) -> Proposal[NodeDeleted]:
    """Move a note to the vault's trash; with `cascade`, also remove the relations of other notes to it.

    Args:
        node_id: The note.
        cascade: Also remove the relations to the note, in the same change.
    """
    note = await context.vault.resolve_strictly(node_id)
    affected = len(note.parsed.relations) + len(incoming_edges(context, note))
    changes: list[Update] = []
    left_out: list[str] = []
    removed = 0
    if cascade:
        changes, removed, left_out = await asyncio.to_thread(_plan_cascade, context, note.path)
    summary = f"Delete {note.path}" + (f" and {pluralize(removed, 'relation')} to it" if removed else "")
    change_set = ChangeSet.of(note.delete_change(), *changes, summary=summary)

    def report(committed: ChangeSet) -> NodeDeleted:
        updates = [
            change
            for change in committed.changes
            if isinstance(change, Update) and context.vault.can_see(change.path)
        ]
        rewritten = {update.path: OpenNote(update.path, update.after) for update in updates}
        removed_count = sum(
            _count_relations_to(context, OpenNote(update.path, update.before), note.path)
            for update in updates
        )
        removed_count -= sum(
            _count_relations_to(context, rewritten_note, note.path) for rewritten_note in rewritten.values()
        )
        is_deleted = any(isinstance(change, Delete) for change in committed.changes)
        sources_left: list[NotePath] = []
        if is_deleted:
            sources = {link.source for link in context.index.backlinks(note.path)} - {note.path}
            sources_left = [path for path in sources if path not in rewritten]
            sources_left += [
                path
                for path, rewritten_note in rewritten.items()
                if _links_to(context, rewritten_note, note.path)
            ]
        message = f"Moved {note.path} to the trash." if is_deleted else f"{note.path} was not deleted."
        if removed_count:
            message += f" Removed {pluralize(removed_count, 'relation')} to it."
        return NodeDeleted(
            node_id=str(note.storage_id),
            content_preview=preview(note, 120),
            relationships_affected=affected,
            relationships_removed=removed_count,
            links_left=sorted(map(str, sources_left)),
            left_out=left_out,
            message=message,
        )

    return context.propose(change_set, report)


def _plan_cascade(context: ToolContext, target: NotePath) -> tuple[list[Update], int, list[str]]:
    """Return changes that remove the relations to a note, the number of relations, and the notes left out."""
    changes: list[Update] = []
    left_out: list[str] = []
    removed = 0
    for path in sorted({link.source for link in context.index.all_backlinks(target)} - {target}):
        try:
            other = context.vault.open_for_change(path)
            text, count = remove_relations_to(context, other, target)
        except (UnreadableNoteError, InvalidParametersError) as error:
            if context.vault.can_see(path):
                left_out.append(f"{path}: {error.reason}")
            continue
        if count:
            changes.append(other.with_text(text))
            removed += count
    return changes, removed, left_out


def _count_relations_to(context: ToolContext, note: OpenNote, target: NotePath) -> int:
    return sum(leads_to(context, note, relation.link, target) for relation in note.parsed.relations)


def _links_to(context: ToolContext, note: OpenNote, target: NotePath) -> bool:
    return any(leads_to(context, note, link, target) for link in note.parsed.links)


@tool(
    category="nodes",
    examples=(
        "reclassify {node_id} as {new_type}",
        "change the type of {node_id} to {new_type}",
        "make {node_id} a {new_type}",
        "turn {node_id} into a {new_type}",
    ),
)
async def reclassify_node(
    context: ToolContext, node_id: NodeId, new_type: str, preserve_relationships: bool = True
) -> Proposal[NodeReclassified]:
    """Change the type of a note, and warn if something would be lost.

    Args:
        node_id: The note.
        new_type: Observation, hypothesis, source, concept, entity, note, or another word.
        preserve_relationships: Keep the note's relations.
    """
    note = await context.vault.resolve_strictly(node_id)
    kind, old_type = _check_type(new_type), note.parsed.type
    text = set_property(note.text, "type", kind) if kind != old_type else note.text
    if not preserve_relationships:
        text = _without_relations(text)
    change = ChangeSet.of(note.with_text(text), summary=f"Make {note.path} {with_article(kind)}")

    def report(committed: ChangeSet) -> NodeReclassified:
        written = (_committed_note(committed) or note).parsed
        written_type = written.type
        warnings = []
        if removed := _removed_relations(note.parsed, written):
            warnings.append(
                f"Removed {pluralize(len(removed), 'relation')} of the note: {', '.join(removed[:10])}."
            )
        extra = [key for key in _PROPERTIES_BY_TYPE.get(old_type, ()) if key in written.properties]
        if extra and written_type != old_type:
            warnings.append(f"It keeps {', '.join(extra)}, which {with_article(written_type)} may not use.")
        is_changed = bool(committed) and written_type != old_type
        message = f"[[{note.name}]] is {'now' if is_changed else 'already'} {with_article(written_type)}."
        return NodeReclassified(
            node_id=str(note.storage_id),
            old_type=old_type,
            new_type=written_type,
            warning=" ".join(warnings) or None,
            message=" ".join([message, *warnings]),
        )

    return context.propose(change, report)


def _removed_relations(before: ParsedNote, after: ParsedNote) -> list[str]:
    remaining = Counter((relation.type, relation.link.target) for relation in after.relations)
    removed = Counter((relation.type, relation.link.target) for relation in before.relations) - remaining
    return [f"{relation_type} {target}" for relation_type, target in removed.elements()]


def _without_relations(text: str) -> str:
    while relations := scan(text).relations:
        text = relation_edits.remove_relation(text, relations[-1])
    return text
