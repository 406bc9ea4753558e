"""What the tools of nodes and relationships share: a note as a node, relations as edges, both as results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.analysis.relation_classifier import NoteFeatures, Structure
from app.analysis.sentences import join_sentences, split_sentences
from app.analysis.summary import truncate
from app.errors import AmbiguousError, InvalidParametersError, NotFoundError, ScriptoriumError
from app.index.records import LinkRecord
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.vault.markdown.relations import relation_type
from app.vault.note import LINKS_TO, Relation
from app.vault.path import NotePath, name_key
from app.vault.storage_id import StorageId

NodeId = NoteName
"""A note that exists: its id is its path; a name, an `id` property or a wikilink means it too."""

EdgeId = Annotated[str, Field(min_length=4, max_length=2500)]
"""A relation: `Claims/A.md -[SUPPORTS]-> Claims/B.md`, `#2` after it for the second of the same."""

RelationType = Annotated[str, Field(min_length=1, max_length=80)]
"""The type of a relation in any spelling: SUPPORTS, `relates to`."""

_EDGE = re.compile(
    r"\s*(.+?)\s+(?:(?:-\[\s*([^\[\]]*?)\s*\])?->|(--))\s+(.+?)(?:\s+#(\d{1,4}))?\s*", re.DOTALL
)
_MAX_PREVIEW_CHARS = 400


class Edge(BaseModel):
    """A relation: from which note to which, its type, its confidence (0 to 1) and its remark."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    edge_id: str
    from_id: str
    to_id: str
    relationship_type: str
    confidence: float | None
    notes: str | None


@dataclass(frozen=True)
class OpenEdge:
    """A relation in an opened note; `target` is None while nothing has the name that it says."""

    id: str
    source: OpenNote
    relation: Relation
    target: NotePath | None

    @property
    def to(self) -> str:
        """The id of its target, or the name that it says."""
        return str(StorageId.of_file(self.target)) if self.target else self.relation.link.target

    def as_result(self) -> Edge:
        """The relation for a caller."""
        one = self.relation
        return Edge(
            edge_id=self.id,
            from_id=str(self.source.storage_id),
            to_id=self.to,
            relationship_type=one.type,
            confidence=one.confidence,
            notes=one.note,
        )


def edge_id(source: NotePath | str, type: str, target: NotePath | str, number: int = 1) -> str:
    """The id of the `number`-th relation of this type between two notes; a text is a name without a note."""
    ends = (str(StorageId.of_file(one)) if isinstance(one, NotePath) else one for one in (source, target))
    return f" -[{type}]-> ".join(ends) + (f" #{number}" if number > 1 else "")


def edges_of(context: ToolContext, note: OpenNote) -> list[OpenEdge]:
    """The relations that a note says, in order; those into notes that the call may not see are left out."""
    found: list[OpenEdge] = []
    counted: dict[str, int] = {}
    for relation in note.parsed.relations:
        resolved = context.index.resolver.resolve(relation.link.target, note.path).path
        if resolved is not None and not context.vault.can_see(resolved):
            continue
        plain = edge_id(note.path, relation.type, resolved or relation.link.target)
        number = counted[plain] = counted.get(plain, 0) + 1
        found.append(OpenEdge(plain + (f" #{number}" if number > 1 else ""), note, relation, resolved))
    return found


async def open_edge(context: ToolContext, id: str) -> OpenEdge:
    """The relation that `id` means; the type may be left out (`A -> B`) where there is only one.

    `A -- B` means the one relation between two notes, whichever it starts from.

    Raises:
        InvalidParametersError: it is no id of a relation; the message shows one.
        NotFoundError: the notes have no such relation; `candidates` are the ids of those they have.
        AmbiguousError: several fit; `candidates` are their ids.
    """
    read = _EDGE.fullmatch(id)
    if read is None:
        raise InvalidParametersError(
            "A relation is named as `From.md -[SUPPORTS]-> To.md`: get_node tells the ids.", edge_id=id
        )
    source = await context.vault.resolve_strictly(read[1])
    wanted = await _edge_end(context, read[4])
    between = _edges_between(context, source, wanted)
    if read[3] and not between and (other := readable(context, StorageId.parse(wanted).path)):
        between = _edges_between(context, other, str(source.storage_id))
    kind = relation_type(read[2]) if read[2] else ""
    fitting = [one for one in between if not kind or one.relation.type == kind]
    ids = [one.id for one in between]
    if not fitting:
        said = f"{kind} " if kind else ""
        raise NotFoundError(
            f"{source.path} has no {said}relation to {wanted}.", edge_id=id, candidates=ids, suggestions=ids
        )
    if read[5] or kind:
        place = int(read[5] or 1)
        if place > len(fitting):
            raise NotFoundError(f"There is no relation {place} of that kind.", edge_id=id, candidates=ids)
        return fitting[place - 1]
    if len(fitting) > 1:
        raise AmbiguousError(
            f"{source.path} has {len(fitting)} relations to {wanted}: say which.", edge_id=id, candidates=ids
        )
    return fitting[0]


def _edges_between(context: ToolContext, source: OpenNote, to: str) -> list[OpenEdge]:
    return [one for one in edges_of(context, source) if name_key(one.to) == name_key(to)]


async def _edge_end(context: ToolContext, said: str) -> str:
    """The id of the note that an edge's end names, or the name of one that there is not."""
    try:
        return str((await context.vault.resolve_strictly(said)).storage_id)
    except NotFoundError:
        return said.removeprefix("[[").removesuffix("]]").strip()


def incoming_of(context: ToolContext, note: OpenNote) -> list[LinkRecord]:
    """The typed relations of other notes to a note, as far as the call may see them."""
    return [link for link in context.index.backlinks(note.path) if link.type != LINKS_TO]


def incoming_edges(context: ToolContext, note: OpenNote) -> list[Edge]:
    """As `incoming_of`, for a caller."""
    counted: dict[str, int] = {}
    edges = []
    for link in incoming_of(context, note):
        plain = edge_id(link.source, link.type, note.path)
        number = counted[plain] = counted.get(plain, 0) + 1
        edges.append(
            Edge(
                edge_id=edge_id(link.source, link.type, note.path, number),
                from_id=str(StorageId.of_file(link.source)),
                to_id=str(note.storage_id),
                relationship_type=link.type,
                confidence=link.confidence,
                notes=link.note,
            )
        )
    return edges


def readable(context: ToolContext, path: NotePath | None) -> OpenNote | None:
    """The note at `path`, None where there is none that the call may read."""
    if path is None or not path.is_note:
        return None
    try:
        return context.vault.open(path)
    except ScriptoriumError:
        return None


def preview(note: OpenNote, length: int = _MAX_PREVIEW_CHARS) -> str:
    """The first sentences of a note, without marks of Markdown."""
    return truncate(join_sentences(split_sentences(note.readable_text)[:8]), length)


def note_features(context: ToolContext, note: OpenNote, other: OpenNote) -> NoteFeatures:
    """A note as one of two that are compared; that it states a relation is no evidence for the relation."""
    links = (link for link in context.index.outgoing(note.path) if link.type == LINKS_TO)
    lines = [link.context for link in links if link.target == other.path]
    parsed = note.parsed
    return NoteFeatures(
        note.name, parsed.type, split_sentences(note.readable_text), tuple(lines), parsed.confidence
    )


def draft_features(context: ToolContext, draft: OpenNote, other: OpenNote) -> NoteFeatures:
    """As `side`, of a text that is not indexed: its links are read from the text itself."""
    text, parsed = draft.readable_text, draft.parsed
    stated = [relation.link for relation in parsed.relations]
    lines = {
        link.line: _line_at(text, link.span.start)
        for link in parsed.links
        if link not in stated and context.index.resolve(link.target, draft.path).path == other.path
    }
    return NoteFeatures(
        draft.name, parsed.type, split_sentences(text), tuple(lines.values()), parsed.confidence
    )


def _line_at(text: str, place: int) -> str:
    end = text.find("\n", place)
    return text[text.rfind("\n", 0, place) + 1 : len(text) if end < 0 else end].strip()


def note_structure(context: ToolContext, first: OpenNote, second: OpenNote, similarity: float) -> Structure:
    """How two notes stand in the graph."""
    ours, theirs = neighbors(context, first.path), neighbors(context, second.path)
    ends = (first.path, second.path), (second.path, first.path)
    links = [link for one, other in ends for link in context.index.outgoing(one) if link.target == other]
    tags = {name_key(tag) for tag in first.parsed.tag_names}
    return Structure(
        similarity,
        len((ours & theirs) - {first.path, second.path}),
        len(tags & {name_key(tag) for tag in second.parsed.tag_names}),
        second.path in ours,
        tuple(sorted({link.type for link in links if link.type != LINKS_TO})),
    )


def neighbors(context: ToolContext, path: NotePath) -> set[NotePath]:
    """The notes that a note links to and is linked from."""
    out = {link.target for link in context.index.outgoing(path) if link.target is not None}
    return {one for one in out | {link.source for link in context.index.backlinks(path)} if one.is_note}


def unique_texts(texts: Iterable[str]) -> Iterator[str]:
    """Each text once, in order."""
    return iter(dict.fromkeys(texts))
