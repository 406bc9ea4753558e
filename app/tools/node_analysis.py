"""Category nodes: find related nodes, summarize nodes, and recalculate a node's confidence."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.analysis.confidence import RelationNeighbor, node_confidence
from app.analysis.relation_classifier import MIN_AUTOMATIC_SCORE
from app.analysis.sentences import join_sentences, split_sentences
from app.analysis.summary import truncate
from app.errors import InvalidParametersError
from app.index.records import LinkRecord
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import Limit, Proportion
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import RelationContext
from app.toolkit.tool import tool
from app.tools.model_assessments import judge_confidence, judge_relations
from app.tools.node_common import NodeId, OpenEdge, edges_of, incoming_of, readable
from app.tools.related_nodes import MIN_SIMILARITY, RelatedNode, related_to_note
from app.tools.summaries import Style, summary_of
from app.vault.changes import ChangeSet, after_of
from app.vault.markdown import relation_edits
from app.vault.markdown.properties import set_property
from app.vault.markdown.relations import relation_phrase, relation_type
from app.vault.note import LINKS_TO, RELATES_TO
from app.vault.path import NotePath
from app.vault.storage_id import StorageId

Characters = Annotated[int, Field(ge=20, le=20_000)]
Depth = Annotated[int, Field(ge=1, le=4)]
_MAX_NODES = 40
_MAX_NEIGHBOR_CHARS = 160
_MAX_RELATION_POINTS = 5


class RelatedNodes(ToolResult):
    """Related nodes, best first; `links_created` counts the relations that were created."""

    node_id: str
    related_nodes: list[RelatedNode]
    links_created: int


class NodeSummary(ToolResult):
    """A summary of a node; `reasoning` explains how it was written."""

    node_id: str
    summary: str
    key_points: list[str]
    related_count: int
    reasoning: str


class SummaryContext(BaseModel):
    """The surrounding nodes, one text each: supporting, contradicting and other nodes."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    supports: list[str]
    contradicts: list[str]
    related: list[str]


class NodeSummaryWithContext(ToolResult):
    """A summary of a node, the surrounding nodes, and a synthesis of both."""

    node_id: str
    summary: str
    context: SummaryContext
    synthesis: str
    reasoning: str


class ConfidenceFactor(BaseModel):
    """A factor in a confidence value, and its impact, such as "+0.12"."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    factor: str
    impact: str


class NodeConfidence(ToolResult):
    """A node's confidence before and after, with all factors."""

    node_id: str
    old_confidence: float
    new_confidence: float | None
    reasoning: str
    factors: list[ConfidenceFactor]


@tool(
    category="nodes",
    examples=(
        "find nodes like {node_id} and suggest relations",
        "what could {node_id} be connected to?",
        "which relations could {node_id} have?",
    ),
    write_arguments=("auto_link",),
    usage_rule="find_related_nodes with auto_link proposes only relations with a score of at least 0.8, "
    "and a type other than RELATES_TO only with evidence for it.",
)
async def find_related_nodes(
    context: RelationContext,
    node_id: NodeId,
    limit: Limit = 10,
    min_similarity: Proportion = MIN_SIMILARITY,
    node_types: list[str] | None = None,
    auto_link: bool = False,
) -> Proposal[RelatedNodes]:
    """Find nodes with a similar meaning and suggest a relation to each.

    Args:
        node_id: The note.
        limit: The maximum number of results.
        min_similarity: The minimum similarity, 0 to 1.
        node_types: Only nodes of these types.
        auto_link: Also propose relations with a score of at least 0.8 that were not rejected before.
    """
    note = await context.vault.resolve_for_reading(node_id)
    nodes = await related_to_note(context, note, limit=limit, min_similarity=min_similarity, types=node_types)
    nodes = await judge_relations(context, note, nodes)
    text, count = _add_relations(context, note, nodes) if auto_link else ("", 0)
    change = (
        ChangeSet.of(note.with_text(text), summary=f"Add {pluralize(count, 'relation')} to {note.path}")
        if count
        else ChangeSet(())
    )

    related_notes = [readable(context, StorageId.parse(node.id).path) for node in nodes]
    are_from_web = [other.is_from_web for other in related_notes if other is not None]

    def report(committed: ChangeSet) -> RelatedNodes:
        written = next(filter(None, map(after_of, committed.changes)), note.content)
        added = OpenNote(note.path, written).parsed.relations
        count = max(0, len(added) - len(note.parsed.relations))
        message = f"{pluralize(len(nodes), 'node')} related to [[{note.name}]]."
        if auto_link:
            message += f" {pluralize(count, 'relation')} created."
        related = RelatedNodes(
            node_id=str(note.storage_id), related_nodes=nodes, links_created=count, message=message
        )
        return related.from_notes(are_from_web)

    return context.propose(change, report)


def _add_relations(context: RelationContext, note: OpenNote, nodes: list[RelatedNode]) -> tuple[str, int]:
    """Return the note's text with the missing relations that are likely, and their number.

    A relation is written as RELATES_TO if there is no evidence for its type.
    """
    related_paths = {edge.target for edge in edges_of(context, note)}
    queue = context.services.suggestions
    text, count = note.text, 0
    for node in nodes:
        target = StorageId.parse(node.id).path
        rejected = queue.is_rejected(note.path, target)
        if node.suggestion_score < MIN_AUTOMATIC_SCORE or target in related_paths or rejected:
            continue
        name = context.index.resolver.shortest(target, note.path)
        remark = "suggested by similarity"
        confidence = round(node.suggestion_score, 2)
        kind = node.suggested_relationship if node.evidence else RELATES_TO
        text = relation_edits.add_relation(text, kind, name, confidence, remark)
        count += 1
    return text, count


@tool(
    category="nodes",
    examples=(
        "summarize {node_id}",
        "summarise {node_id}",
        "summary of {node_id}",
        "sum up {node_id}",
        "give me a summary of {node_id}",
        "what are the key points of {node_id}?",
        "tl;dr {node_id}",
    ),
)
async def summarize_node(
    context: ToolContext,
    node_id: NodeId,
    include_relationships: bool = False,
    max_length: Characters = 200,
    style: Style = "paragraph",
    max_sentences: Limit | None = None,
) -> NodeSummary:
    """Summarize a note and list its key points.

    Args:
        node_id: The note.
        include_relationships: Also count the relations and name the strongest.
        max_length: The maximum number of characters in the summary.
        style: A paragraph, bullets, or one sentence.
        max_sentences: The maximum number of sentences or bullets in the summary.
    """
    note = await context.vault.resolve_for_reading(node_id)
    summary = await summary_of(context, [note], max_length, style, max_sentences)
    points, related = list(summary.key_points), 0
    if include_relationships:
        lines = _relation_lines(context, note)
        related = len(lines)
        points += lines[:_MAX_RELATION_POINTS]
    result = NodeSummary(
        node_id=str(note.storage_id),
        summary=summary.text,
        key_points=points,
        related_count=related,
        reasoning=summary.reasoning,
        message=f"Summary of [[{note.name}]]."
        if summary.text
        else f"[[{note.name}]] has no text to summarize.",
    )
    return result.from_notes([note.is_from_web])


def _relation_lines(context: ToolContext, note: OpenNote) -> list[str]:
    """Return the relations from and to a note as phrases, highest confidence first."""
    lines = [
        (edge.relation.confidence, f"{relation_phrase(edge.relation.type)} [[{_edge_name(edge)}]]")
        for edge in edges_of(context, note)
    ]
    lines += [
        (link.confidence, f"[[{link.source.name}]] {relation_phrase(link.type)} it")
        for link in incoming_of(context, note)
    ]
    return [
        words
        for confidence, words in sorted(lines, key=lambda line: -(line[0] if line[0] is not None else 0.5))
    ]


def _edge_name(edge: OpenEdge) -> str:
    return edge.target.name if edge.target is not None else edge.to


@tool(
    category="nodes",
    examples=(
        "summarize {node_id} with its context",
        "summarize {node_id} and what is around it",
        "what supports and what contradicts {node_id}?",
        "what speaks for and against {node_id}?",
        "what contradicts {node_id}?",
        "what supports {node_id}?",
    ),
)
async def summarize_node_with_context(
    context: ToolContext, node_id: NodeId, depth: Depth = 1, relationship_types: list[str] | None = None
) -> NodeSummaryWithContext:
    """Summarize a note and what supports it, contradicts it or is related to it.

    Args:
        node_id: The note.
        depth: The number of steps to follow along relations.
        relationship_types: Follow only relations of these types; by default all types and plain links.
    """
    note = await context.vault.resolve_for_reading(node_id)
    types = {relation_type(kind) for kind in relationship_types} if relationship_types else None
    if types is not None and "" in types:
        raise InvalidParametersError("A relation type must be a word.", relationship_types=relationship_types)
    summary = await summary_of(context, [note], 400)
    surrounding = _surrounding_notes(context, note, depth, types)
    groups: dict[str, list[str]] = {"supports": [], "contradicts": [], "related": []}
    for stance, other, steps in surrounding:
        summary_of_other = (
            await summary_of(context, [other], _MAX_NEIGHBOR_CHARS) if len(surrounding) <= 8 else None
        )
        text = (
            summary_of_other.text
            if summary_of_other
            else truncate(join_sentences(split_sentences(other.readable_text)[:2]), _MAX_NEIGHBOR_CHARS)
        )
        distance = f" ({steps} steps away)" if steps > 1 else ""
        groups[stance].append(
            f"[[{other.name}]]{distance}: {text}" if text else f"[[{other.name}]]{distance}"
        )
    neighbors = SummaryContext(**groups)
    result = NodeSummaryWithContext(
        node_id=str(note.storage_id),
        summary=summary.text,
        context=neighbors,
        reasoning=summary.reasoning,
        synthesis=_synthesize(context, note, neighbors, depth),
        message=f"Summary of [[{note.name}]] with {pluralize(len(surrounding), 'surrounding node')}.",
    )
    return result.from_notes(
        source_note.is_from_web for source_note in (note, *(other for _, other, _ in surrounding))
    )


def _surrounding_notes(
    context: ToolContext, note: OpenNote, depth: int, types: set[str] | None
) -> list[tuple[str, OpenNote, int]]:
    """Return the nearest notes within `depth` steps, at most `_MAX_NODES`, with stance and distance.

    A note that supports a contradicting note contradicts; one that contradicts a contradicting note supports.
    A path with any other step makes a note only related.
    """
    visited = {note.path}
    level: list[tuple[NotePath, str]] = [(note.path, "supports")]
    surrounding: list[tuple[str, OpenNote, int]] = []
    for step in range(1, depth + 1):
        next_level: list[tuple[NotePath, str]] = []
        for path, stance in level:
            for other, kind in _neighbor_steps(context, path, types):
                neighbor_note = None if other in visited else readable(context, other)
                if neighbor_note is None or len(surrounding) >= _MAX_NODES:
                    continue
                visited.add(other)
                own_stance = _combine_stances(stance, kind)
                surrounding.append((own_stance, neighbor_note, step))
                next_level.append((other, own_stance))
        level = next_level
    return surrounding


def _neighbor_steps(
    context: ToolContext, path: NotePath, types: set[str] | None
) -> list[tuple[NotePath, str]]:
    """Return the neighbors of a note with the stance of the step, supporting and contradicting ones first."""
    incoming = [(link.source, link) for link in context.index.backlinks(path)]
    outgoing = [(link.target, link) for link in context.index.outgoing(path) if link.target is not None]
    steps: list[tuple[NotePath, str]] = []
    for (other, link), is_incoming in [*((x, True) for x in incoming), *((x, False) for x in outgoing)]:
        if types is not None and link.type not in types:
            continue
        steps.append((other, _stance_of_link(link, is_incoming)))
    return sorted(steps, key=lambda step: step[1] == "related")


def _stance_of_link(link: LinkRecord, is_incoming: bool) -> str:
    """Return the stance of a link toward the note where the step starts."""
    if link.type == "CONTRADICTS":
        return "contradicts"
    return "supports" if link.type == "SUPPORTS" and is_incoming else "related"


def _combine_stances(stance: str, step: str) -> str:
    if "related" in (stance, step):
        return "related"
    return "supports" if stance == step else "contradicts"


def _synthesize(context: ToolContext, note: OpenNote, neighbors: SummaryContext, depth: int) -> str:
    """Describe the balance of the surrounding notes, and the confidence calculated from the neighbors."""
    update = node_confidence(note.parsed.type, note.parsed.confidence, _relation_neighbors(context, note))
    supporting, contradicting = len(neighbors.supports), len(neighbors.contradicts)
    distance = "directly" if depth == 1 else f"within {depth} steps"
    if not supporting and not contradicting:
        related = pluralize(len(neighbors.related), "related note")
        message = f"Nothing supports or contradicts it {distance}; {related}."
    else:
        balance = (
            "evenly balanced"
            if supporting == contradicting
            else f"mostly {'supported' if supporting > contradicting else 'contradicted'}"
        )
        message = (
            f"{pluralize(supporting, 'note supports', 'notes support')} it and "
            f"{pluralize(contradicting, 'note contradicts', 'notes contradict')} it {distance}: {balance}."
        )
    stated = "" if note.parsed.confidence is None else f" Stated confidence: {note.parsed.confidence:.2f}."
    return f"{message}{stated} Calculated from its neighbors: {update.confidence:.2f}."


@tool(
    category="nodes",
    examples=(
        "recalculate the confidence of {node_id}",
        "how sure can I be of {node_id}?",
        "update the confidence of {node_id}",
    ),
)
async def recalculate_node_confidence(
    context: ToolContext, node_id: NodeId, factor_in_relationships: bool = True
) -> Proposal[NodeConfidence]:
    """Recalculate the confidence of a note, and propose the new value of its `confidence`.

    Sums the log-odds of the notes that support and contradict it, each weighted by the confidence of the
    relation and of that note, and a model's judgment if one is set up; lists every factor.

    Args:
        node_id: The note.
        factor_in_relationships: Include relations; otherwise only the type counts.
    """
    note = await context.vault.resolve_strictly(node_id)
    neighbors = _relation_neighbors(context, note) if factor_in_relationships else []
    local = node_confidence(note.parsed.type, note.parsed.confidence, neighbors)
    surrounding = _surrounding_notes(context, note, 1, None) if factor_in_relationships else []
    evidence = [(stance, other) for stance, other, _ in surrounding if stance != "related"]
    update, explanation = await judge_confidence(context, note, evidence, local)
    confidence = round(update.confidence, 2)
    factors = [
        ConfidenceFactor(factor=factor.name, impact=f"{factor.impact:+.2f}") for factor in update.factors
    ]
    reasons_for = sum(factor.impact > 0 for factor in local.factors[1:])
    reasons_against = sum(factor.impact < 0 for factor in local.factors[1:])
    reasoning = (
        f"Sum of log-odds: half of the stated value, {pluralize(reasons_for, 'reason')} for it and "
        f"{pluralize(reasons_against, 'reason')} against it."
    )
    if explanation:
        reasoning = f"{reasoning} {explanation}"
    change = ChangeSet.of(
        note.with_text(set_property(note.text, "confidence", confidence)),
        summary=f"Confidence of {note.path}: {update.previous:.2f} to {confidence:.2f}",
    )

    def report(committed: ChangeSet) -> NodeConfidence:
        written = next(filter(None, map(after_of, committed.changes)), note.content)
        new_confidence = OpenNote(note.path, written).parsed.confidence if committed else confidence
        new_value = "none" if new_confidence is None else f"{new_confidence:.2f}"
        return NodeConfidence(
            node_id=str(note.storage_id),
            old_confidence=round(update.previous, 4),
            new_confidence=new_confidence,
            reasoning=reasoning,
            factors=factors,
            message=f"The confidence of [[{note.name}]]: {update.previous:.2f} before, {new_value} now.",
        )

    return context.propose(change, report)


def _relation_neighbors(context: ToolContext, note: OpenNote) -> list[RelationNeighbor]:
    """Return the notes related to a note; of several equal relations, only the most confident counts."""
    neighbors: dict[tuple[str, str, bool], RelationNeighbor] = {}

    def add_neighbor(path: NotePath | None, kind: str, incoming: bool, confidence: float | None) -> None:
        other = readable(context, path)
        if other is None or other.path == note.path or kind == LINKS_TO:
            return
        key = (str(other.path), kind, incoming and kind != "CONTRADICTS")
        neighbor = RelationNeighbor(other.name, kind, incoming, confidence, other.parsed.confidence)
        if key not in neighbors or (confidence or 0) > (neighbors[key].relation_confidence or 0):
            neighbors[key] = neighbor

    for link in incoming_of(context, note):
        add_neighbor(link.source, link.type, True, link.confidence)
    for edge in edges_of(context, note):
        add_neighbor(edge.target, edge.relation.type, False, edge.relation.confidence)
    return list(neighbors.values())
