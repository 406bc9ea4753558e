"""Code that the node and relationship tools share: nodes, edges and their results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.analysis.relation_classifier import NoteFeatures, Structure
from app.analysis.sentences import join_sentences, split_sentences
from app.analysis.summary import truncate
from app.errors import (
    AmbiguousError,
    ConflictError,
    InvalidParametersError,
    NotFoundError,
    ScriptoriumError,
)
from app.index.records import LinkRecord
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.vault.markdown import relation_edits
from app.vault.markdown.relations import relation_type
from app.vault.markdown.scan import scan
from app.vault.markdown.text import line_at
from app.vault.note import LINKS_TO, Link, Relation
from app.vault.path import NotePath, name_key
from app.vault.storage_id import StorageId

NodeId = NoteName
"""An existing note, by its storage id, path, name, `id` property or wikilink."""

EdgeId = Annotated[str, Field(min_length=4, max_length=2500)]
"""A relation: `Claims/A.md -[SUPPORTS]-> Claims/B.md`; ` #2` at the end means the second of several."""

RelationType = Annotated[str, Field(min_length=1, max_length=80)]
"""The type of a relation in any spelling: SUPPORTS, `relates to`."""

_EDGE = re.compile(
    r"\s*(.+?)\s+(?:(?:-\[\s*([^\[\]]*?)\s*\])?->|(--))\s+(.+?)(?:\s+#(\d{1,4}))?\s*", re.DOTALL
)
_MAX_PREVIEW_CHARS = 400


class Edge(BaseModel):
    """A relation: source and target note, type, confidence (0 to 1) and remark."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    edge_id: str
    from_id: str
    to_id: str
    relationship_type: str
    confidence: float | None
    notes: str | None


@dataclass(frozen=True)
class OpenEdge:
    """A relation in an open note; `target` is None if its link is unresolved."""

    id: str
    source: OpenNote
    relation: Relation
    target: NotePath | None

    @property
    def to(self) -> str:
        """The storage id of its target, or the name in an unresolved link."""
        return str(StorageId.of_file(self.target)) if self.target else self.relation.link.target

    def as_result(self) -> Edge:
        """Return the relation as a result."""
        relation = self.relation
        return Edge(
            edge_id=self.id,
            from_id=str(self.source.storage_id),
            to_id=self.to,
            relationship_type=relation.type,
            confidence=relation.confidence,
            notes=relation.note,
        )


def make_edge_id(source: NotePath | str, kind: str, target: NotePath | str, number: int = 1) -> str:
    """Return the id of the `number`-th relation of a type between two notes; a str is an unresolved name."""
    ends = (str(StorageId.of_file(end)) if isinstance(end, NotePath) else end for end in (source, target))
    return f" -[{kind}]-> ".join(ends) + (f" #{number}" if number > 1 else "")


def edges_of(context: ToolContext, note: OpenNote) -> list[OpenEdge]:
    """Return a note's relations in order, except those to notes that are hidden from the call."""
    edges: list[OpenEdge] = []
    counts: dict[str, int] = {}
    for relation in note.parsed.relations:
        target = context.index.resolver.resolve(relation.link.target, note.path).path
        if target is not None and not context.vault.can_see(target):
            continue
        base_id = make_edge_id(note.path, relation.type, target or relation.link.target)
        number = counts[base_id] = counts.get(base_id, 0) + 1
        edges.append(OpenEdge(base_id + (f" #{number}" if number > 1 else ""), note, relation, target))
    return edges


def check_new_edge(context: ToolContext, source: OpenNote, target: NotePath, kind: str) -> None:
    """Check that `source` has no relation of this type to `target` yet.

    Raises:
        ConflictError: it has one.
    """
    for edge in edges_of(context, source):
        if edge.target == target and edge.relation.type == kind:
            raise ConflictError(
                f"{source.path} already has this relation on line {edge.relation.line}. Nothing was changed.",
                edge_id=edge.id,
            )


async def open_edge(context: ToolContext, relation_id: str) -> OpenEdge:
    """Return the relation with this id; the type is optional (`A -> B`) if there is only one.

    `A -- B` means the only relation between two notes, in either direction.

    Raises:
        InvalidParametersError: It is not the id of a relation; the message shows the expected format.
        NotFoundError: There is no such note, or the notes have no such relation; in the latter case,
            `candidates` lists the ids of the relations that they have.
        AmbiguousError: Several notes or relations match; `candidates` are their ids.
    """
    match = _EDGE.fullmatch(relation_id)
    if match is None:
        raise InvalidParametersError(
            "Name a relation as `From.md -[SUPPORTS]-> To.md`; get_node returns the ids.", edge_id=relation_id
        )
    source = await context.vault.resolve_strictly(match[1])
    target_id = await _edge_end(context, match[4])
    edges = _edges_between(context, source, target_id)
    if match[3] and not edges and (other := readable(context, StorageId.parse(target_id).path)):
        edges = _edges_between(context, other, str(source.storage_id))
    kind = relation_type(match[2]) if match[2] else ""
    matching = [edge for edge in edges if not kind or edge.relation.type == kind]
    ids = [edge.id for edge in edges]
    if not matching:
        prefix = f"{kind} " if kind else ""
        raise NotFoundError(
            f"{source.path} has no {prefix}relation to {target_id}.",
            edge_id=relation_id,
            candidates=ids,
            suggestions=ids,
        )
    if match[5] or kind:
        position = int(match[5] or 1)
        if position > len(matching):
            raise NotFoundError(
                f"There is no relation {position} of that kind.", edge_id=relation_id, candidates=ids
            )
        return matching[position - 1]
    if len(matching) > 1:
        raise AmbiguousError(
            f"{source.path} has {len(matching)} relations to {target_id}: choose one.",
            edge_id=relation_id,
            candidates=ids,
        )
    return matching[0]


def _edges_between(context: ToolContext, source: OpenNote, to: str) -> list[OpenEdge]:
    return [edge for edge in edges_of(context, source) if name_key(edge.to) == name_key(to)]


async def _edge_end(context: ToolContext, name: str) -> str:
    """Return the storage id of the note at an edge's end, or its name if there is no such note."""
    try:
        return str((await context.vault.resolve_strictly(name)).storage_id)
    except NotFoundError:
        return name.removeprefix("[[").removesuffix("]]").strip()


def incoming_of(context: ToolContext, note: OpenNote) -> list[LinkRecord]:
    """Return the typed relations to a note from notes that the call can see."""
    return [link for link in context.index.backlinks(note.path) if link.type != LINKS_TO]


def incoming_edges(context: ToolContext, note: OpenNote) -> list[Edge]:
    """Return the relations of `incoming_of` as results."""
    counts: dict[str, int] = {}
    edges = []
    for link in incoming_of(context, note):
        base_id = make_edge_id(link.source, link.type, note.path)
        number = counts[base_id] = counts.get(base_id, 0) + 1
        edges.append(
            Edge(
                edge_id=make_edge_id(link.source, link.type, note.path, number),
                from_id=str(StorageId.of_file(link.source)),
                to_id=str(note.storage_id),
                relationship_type=link.type,
                confidence=link.confidence,
                notes=link.note,
            )
        )
    return edges


def leads_to(context: ToolContext, note: OpenNote, link: Link, target: NotePath) -> bool:
    """Return whether a link in a note resolves to `target`, even if the call can't see it."""
    return context.index.resolver.resolve(link.target, note.path).path == target


def remove_relations_to(context: ToolContext, note: OpenNote, target: NotePath) -> tuple[str, int]:
    """Return a note's text without its relations to `target`, and how many were removed.

    Raises:
        UnreadableNoteError: the note's bytes are not UTF-8.
    """
    text, count = note.text, 0
    while True:
        relation = next(
            (relation for relation in scan(text).relations if leads_to(context, note, relation.link, target)),
            None,
        )
        if relation is None:
            return text, count
        text, count = relation_edits.remove_relation(text, relation), count + 1


def readable(context: ToolContext, path: NotePath | None) -> OpenNote | None:
    """Return the note at `path`, or None if it is not a note or the call can't read it."""
    if path is None or not path.is_note:
        return None
    try:
        return context.vault.open(path)
    except ScriptoriumError:
        return None


def preview(note: OpenNote, length: int = _MAX_PREVIEW_CHARS) -> str:
    """Return the first sentences of a note, without Markdown syntax."""
    return truncate(join_sentences(split_sentences(note.readable_text)[:8]), length)


def note_features(context: ToolContext, note: OpenNote, other: OpenNote) -> NoteFeatures:
    """Return a note's features for a comparison with `other`; stated relations do not count."""
    links = (link for link in context.index.outgoing(note.path) if link.type == LINKS_TO)
    lines = [link.context for link in links if link.target == other.path]
    parsed = note.parsed
    return NoteFeatures(
        note.name, parsed.type, split_sentences(note.readable_text), tuple(lines), parsed.confidence
    )


def draft_features(context: ToolContext, draft: OpenNote, other: OpenNote) -> NoteFeatures:
    """Return a draft's features as `note_features` does, with the links in its text, not in the index."""
    text, parsed = draft.readable_text, draft.parsed
    stated = [relation.link for relation in parsed.relations]
    lines = {
        link.line: line_at(text, link.span.start).strip()
        for link in parsed.links
        if link not in stated and context.index.resolve(link.target, draft.path).path == other.path
    }
    return NoteFeatures(
        draft.name, parsed.type, split_sentences(text), tuple(lines.values()), parsed.confidence
    )


def note_structure(context: ToolContext, first: OpenNote, second: OpenNote, similarity: float) -> Structure:
    """Return the structural features of two notes in the graph."""
    first_neighbors, second_neighbors = neighbors(context, first.path), neighbors(context, second.path)
    ends = (first.path, second.path), (second.path, first.path)
    links = [
        link for source, other in ends for link in context.index.outgoing(source) if link.target == other
    ]
    tags = {name_key(tag) for tag in first.parsed.tag_names}
    return Structure(
        similarity,
        len((first_neighbors & second_neighbors) - {first.path, second.path}),
        len(tags & {name_key(tag) for tag in second.parsed.tag_names}),
        second.path in first_neighbors,
        tuple(sorted({link.type for link in links if link.type != LINKS_TO})),
    )


def neighbors(context: ToolContext, path: NotePath) -> set[NotePath]:
    """Return the notes that a note links to or is linked from."""
    targets = {link.target for link in context.index.outgoing(path) if link.target is not None}
    return {
        neighbor
        for neighbor in targets | {link.source for link in context.index.backlinks(path)}
        if neighbor.is_note
    }
