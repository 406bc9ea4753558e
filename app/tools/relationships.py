"""Category relationships: typed edges between notes, each a line in its source note."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from app.analysis.contradiction import find_contradiction
from app.analysis.language_model import ModelError
from app.analysis.relation_classifier import lines_naming, relation_confidence, strength_label
from app.analysis.sentences import with_full_stop
from app.analysis.summary import truncate
from app.errors import InvalidParametersError, NotFoundError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import Proportion
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import RelationContext
from app.toolkit.tool import tool
from app.tools.node_analysis import ConfidenceFactor
from app.tools.node_common import (
    EdgeId,
    NodeId,
    OpenEdge,
    RelationType,
    check_new_edge,
    make_edge_id,
    note_features,
    note_structure,
    open_edge,
    readable,
)
from app.tools.related_nodes import (
    model_exclusion_reason,
    note_similarity,
    relation_between,
    relation_by_model,
)
from app.vault.changes import ChangeSet, after_of
from app.vault.markdown import relation_edits
from app.vault.markdown.relations import relation_phrase, relation_type, relation_word
from app.vault.note import Relation

Remark = Annotated[str, Field(max_length=1000)]
_MAX_EVIDENCE_SENTENCES = 5


class RelationshipWritten(ToolResult):
    """A relation was written."""

    edge_id: str
    from_id: str
    to_id: str
    relationship_type: str
    confidence: float | None


class RelationshipDeleted(ToolResult):
    """A relation was removed."""

    edge_id: str


class EdgeConfidence(ToolResult):
    """A relation's confidence before and after the recalculation, and the factors behind the change."""

    edge_id: str
    old_confidence: float
    new_confidence: float | None
    reasoning: str
    factors: list[ConfidenceFactor]


class RelationshipReclassified(ToolResult):
    """The type of a relation was changed; `edge_id` is the new id."""

    edge_id: str
    old_type: str
    new_type: str
    confidence: float | None
    reasoning: str


class RelationshipSummary(ToolResult):
    """A relation in words, with its evidence."""

    edge_id: str
    from_node: str
    to_node: str
    relationship_type: str
    summary: str
    evidence: list[str]
    strength_assessment: str
    reasoning: str


@tool(
    category="relationships",
    examples=(
        "relate {from_id} to {to_id}",
        "say that {from_id} supports {to_id}",
        "add a relation between {from_id} and {to_id}",
    ),
    usage_rule="Types of relations: SUPPORTS, CONTRADICTS, RELATES_TO, CITES, DERIVED_FROM, OBSERVED_IN,"
    " DISCUSSES, INSPIRED_BY, PRECEDES, CAUSES, PART_OF, SIMILAR_TO; others are allowed.",
)
async def create_relationship(
    context: ToolContext,
    from_id: NodeId,
    to_id: NodeId,
    relationship_type: RelationType,
    confidence: Proportion | None = None,
    notes: Remark | None = None,
) -> Proposal[RelationshipWritten]:
    """Add a relation as a line under `## Relations` in its source note.

    Args:
        from_id: The source note.
        to_id: The target note.
        relationship_type: SUPPORTS, CONTRADICTS, RELATES_TO, CITES, … or another word.
        confidence: The confidence, 0 to 1; without it, the line states none.
        notes: A remark, on one line.
    """
    source = await context.vault.resolve_strictly(from_id)
    target = await context.vault.resolve_strictly(to_id)
    if source.path == target.path:
        raise InvalidParametersError("A note can't have a relation to itself.", path=str(source.path))
    kind = relation_type(relationship_type)
    check_new_edge(context, source, target.path, kind)
    name = context.index.resolver.shortest(target.path, source.path)
    text = relation_edits.add_relation(source.text, kind, name, confidence, notes)
    change = ChangeSet.of(
        source.with_text(text), summary=f"{source.path} {relation_word(kind)} {target.path}"
    )
    result = RelationshipWritten(
        edge_id=make_edge_id(source.path, kind, target.path),
        from_id=str(source.storage_id),
        to_id=str(target.storage_id),
        relationship_type=kind,
        confidence=confidence,
        message=f"[[{source.name}]] {relation_phrase(kind)} [[{target.name}]].",
    )
    return context.propose(change, result)


@tool(category="relationships", always_asks=True)
async def delete_relationship(context: ToolContext, edge_id: EdgeId) -> Proposal[RelationshipDeleted]:
    """Remove a relation; only its own line changes.

    Args:
        edge_id: The relation, as `From.md -[SUPPORTS]-> To.md`.
    """
    edge = await open_edge(context, edge_id)
    text = relation_edits.remove_relation(edge.source.text, edge.relation)
    change = ChangeSet.of(edge.source.with_text(text), summary=f"Remove the relation {edge.id}")
    return context.propose(
        change, RelationshipDeleted(edge_id=edge.id, message=f"Removed the relation {edge.id}.")
    )


@tool(category="relationships")
async def recalculate_edge_confidence(
    context: ToolContext, edge_id: EdgeId, consider_graph_structure: bool = True
) -> Proposal[EdgeConfidence]:
    """Recalculate the confidence of a relation, and propose the new value.

    Args:
        edge_id: The relation, as `From.md -[SUPPORTS]-> To.md`.
        consider_graph_structure: Include similarity, common neighbors and tags.
    """
    edge = await open_edge(context, edge_id)
    target = _readable_target(context, edge)
    structure = None
    if consider_graph_structure:
        similarity = await note_similarity(context, edge.source, target)
        structure = note_structure(context, edge.source, target, similarity)
    update = relation_confidence(
        edge.relation.confidence,
        edge.relation.type,
        note_features(context, edge.source, target),
        note_features(context, target, edge.source),
        structure,
    )
    confidence = round(update.confidence, 2)
    factors = [
        ConfidenceFactor(factor=factor.name, impact=f"{factor.impact:+.2f}") for factor in update.factors
    ]
    text = relation_edits.change_relation(edge.source.text, edge.relation, confidence=confidence)
    change = ChangeSet.of(
        edge.source.with_text(text),
        summary=f"Confidence of {edge.id}: {update.previous:.2f} to {confidence:.2f}",
    )
    reasoning = (
        "Sum of log-odds: " + "; ".join(f"{factor.factor} {factor.impact}" for factor in factors) + "."
    )

    def report(committed: ChangeSet) -> EdgeConfidence:
        committed_relation = _committed_relation(committed, edge, edge.relation.type)
        new_confidence = (
            (committed_relation.confidence if committed_relation else None) if committed else confidence
        )
        confidence_text = "none" if new_confidence is None else f"{new_confidence:.2f}"
        return EdgeConfidence(
            edge_id=edge.id,
            old_confidence=round(update.previous, 4),
            new_confidence=new_confidence,
            reasoning=reasoning,
            factors=factors,
            message=f"Confidence of {edge.id}: previously {update.previous:.2f}, now {confidence_text}.",
        )

    return context.propose(change, report)


@tool(category="relationships")
async def reclassify_relationship(
    context: RelationContext,
    edge_id: EdgeId,
    new_type: RelationType | None = None,
    preserve_notes: bool = True,
) -> Proposal[RelationshipReclassified]:
    """Change the type of a relation, by default to the one that the notes suggest, if any.

    Args:
        edge_id: The relation, as `From.md -[SUPPORTS]-> To.md`.
        new_type: SUPPORTS, CONTRADICTS, … or another word; suggested by default.
        preserve_notes: Keep the remark.
    """
    edge = await open_edge(context, edge_id)
    reasoning = "As requested."
    kind = relation_type(new_type) if new_type else ""
    if new_type and not kind:
        raise InvalidParametersError(f"{new_type!r} can't be the type of a relation.", given=new_type)
    if not kind:
        target = _readable_target(context, edge)
        similarity = await note_similarity(context, edge.source, target)
        local = await relation_between(context, edge.source, target, similarity)
        suggestion = await relation_by_model(context, edge.source, target, local)
        kind, reasoning = suggestion.type, suggestion.reasoning
        if not suggestion.evidence:
            kind = edge.relation.type
            reasoning = f"The notes contain no evidence for a type other than {kind}: {reasoning}"
    text = relation_edits.change_relation(
        edge.source.text, edge.relation, kind=kind, keep_note=preserve_notes
    )
    old_type = edge.relation.type
    change = ChangeSet.of(edge.source.with_text(text), summary=f"{edge.id}: {kind}")

    def report(committed: ChangeSet) -> RelationshipReclassified:
        committed_relation = _committed_relation(committed, edge, kind)
        written_type = committed_relation.type if committed_relation else old_type
        message = f"The relation is {'already' if written_type == old_type else 'now'} {written_type}."
        return RelationshipReclassified(
            edge_id=_id_of(edge, written_type),
            old_type=old_type,
            new_type=written_type,
            confidence=edge.relation.confidence,
            reasoning=reasoning,
            message=message,
        )

    return context.propose(change, report)


def _committed_relation(committed: ChangeSet, edge: OpenEdge, kind: str) -> Relation | None:
    """Return the edge's relation in the committed text, preferably one of type `kind`, or None."""
    after = next(filter(None, map(after_of, committed.changes)), None)
    if after is None:
        return None
    relations = OpenNote(edge.source.path, after).parsed.relations
    relations_to_target = [
        relation for relation in relations if relation.link.target == edge.relation.link.target
    ]
    return next(
        (relation for relation in relations_to_target if relation.type == kind),
        relations_to_target[0] if relations_to_target else None,
    )


def _id_of(edge: OpenEdge, kind: str) -> str:
    return edge.id if kind == edge.relation.type else make_edge_id(edge.source.path, kind, edge.to)


class RelationshipAnswer(BaseModel):
    """A model's explanation of a relation."""

    summary: str
    evidence: list[str]


@tool(category="relationships")
async def summarize_relationship(
    context: ToolContext, edge_id: EdgeId, include_evidence: bool = True
) -> RelationshipSummary:
    """Summarize the connection between two notes with its evidence and strength.

    Args:
        edge_id: The relation, as `From.md -[SUPPORTS]-> To.md`.
        include_evidence: Also list the sentences and facts that support it.
    """
    edge = await open_edge(context, edge_id)
    target = _readable_target(context, edge)
    similarity = await note_similarity(context, edge.source, target)
    structure = note_structure(context, edge.source, target, similarity)
    source_features, target_features = (
        note_features(context, edge.source, target),
        note_features(context, target, edge.source),
    )
    update = relation_confidence(
        edge.relation.confidence,
        edge.relation.type,
        source_features,
        target_features,
        structure,
    )
    confidence = update.confidence if edge.relation.confidence is None else edge.relation.confidence
    evidence = [edge.relation.note] if edge.relation.note else []
    evidence += lines_naming(source_features.sentences, target.name)[:2]
    evidence += lines_naming(target_features.sentences, edge.source.name)[:2]
    if edge.relation.type == "CONTRADICTS" and (
        pair := find_contradiction(source_features.sentences, target_features.sentences)
    ):
        evidence.append(f"“{truncate(pair.first, 120)}” versus “{truncate(pair.second, 120)}”")
    evidence.append(
        f"Similarity {similarity:.2f}, {pluralize(structure.shared_neighbors, 'neighbor')} and "
        f"{pluralize(structure.shared_tags, 'tag')} in common."
    )
    verb = relation_phrase(edge.relation.type)
    summary = f"{edge.source.name} {verb} {target.name}, with a confidence of {confidence:.2f}."
    if edge.relation.note:
        summary += f" {with_full_stop(edge.relation.note[0].upper() + edge.relation.note[1:])}"
    summary, evidence, reasoning = await _explain(context, edge.source, target, verb, summary, evidence)
    result = RelationshipSummary(
        edge_id=edge.id,
        from_node=str(edge.source.storage_id),
        to_node=str(target.storage_id),
        relationship_type=edge.relation.type,
        summary=summary,
        evidence=list(dict.fromkeys(evidence))[:_MAX_EVIDENCE_SENTENCES] if include_evidence else [],
        strength_assessment=strength_label(confidence),
        reasoning=reasoning,
        message=f"A {strength_label(confidence)} relation.",
    )
    return result.from_notes(note.is_from_web for note in (edge.source, target))


async def _explain(
    context: ToolContext, source: OpenNote, target: OpenNote, verb: str, summary: str, evidence: list[str]
) -> tuple[str, list[str], str]:
    """Return a summary, its evidence, and how both were obtained.

    Without a model, or if it may not see both notes or fails, return the given summary and evidence.
    """
    model = context.language_model
    if model is None:
        reason = "From the relation's line, sentences that name the other note, and the graph."
        return summary, evidence, reason
    if reason := model_exclusion_reason(model, (source, target)):
        return summary, evidence, reason
    prompt = f"Explain in one or two sentences how the first note {verb} the second, and quote the evidence."
    text = f"{source.name}:\n{source.readable_text[:8000]}\n\n{target.name}:\n{target.readable_text[:8000]}"
    try:
        answer = await model.answer(prompt, text, RelationshipAnswer)
    except ModelError as error:
        return summary, evidence, f"Computed locally: {error.message}"
    return answer.summary, answer.evidence, f"Explained by {model.name}."


def _readable_target(context: ToolContext, edge: OpenEdge) -> OpenNote:
    target = readable(context, edge.target)
    if target is None:
        raise NotFoundError(f"{edge.to} is not a readable note.", edge_id=edge.id, suggestions=[])
    return target
