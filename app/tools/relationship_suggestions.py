"""Category relationships: list, accept and reject suggested relations."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.analysis.relation_classifier import MIN_AUTOMATIC_SCORE, MIN_SUGGESTED_SCORE
from app.errors import InvalidParametersError
from app.permissions.approval import Effect
from app.permissions.caller import CallerKind
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import Limit
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import RelationContext
from app.toolkit.tool import tool
from app.tools.node_common import EdgeId, NodeId, RelationType, check_new_edge, readable
from app.tools.related_nodes import note_similarity, relation_between
from app.vault.changes import ChangeSet
from app.vault.markdown import relation_edits
from app.vault.markdown.relations import relation_phrase, relation_type, relation_word
from app.vault.note import RELATES_TO
from app.vault.path import NotePath

_ID_SEPARATOR = " ~ "


class SuggestedRelationship(BaseModel):
    """A possibly missing relation.

    `auto` is true for a score of at least 0.8 if there is evidence for the type or the type is RELATES_TO.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    suggestion_id: str
    from_id: str
    to_id: str
    relationship_type: str
    score: float
    auto: bool
    reasoning: str
    evidence: list[str] = Field(default_factory=list)


class Suggestions(ToolResult):
    """Possibly missing relations, best first."""

    suggestions: list[SuggestedRelationship]


@tool(
    category="relationships",
    read_operations=("list",),
    operations={
        "list": "node_id? limit?",
        "accept": "suggestion_id relationship_type?",
        "reject": "suggestion_id",
    },
    examples={
        "list": (
            "suggest relationships",
            "suggest relations for {node_id}",
            "suggest links for {node_id}",
            "which relations are missing?",
            "which links are missing?",
        ),
    },
    timeout=120,
    usage_rule="suggest_relationships only lists suggestions; create_relationship or its accept "
    "operation writes a relation.",
)
async def suggest_relationships(
    context: RelationContext,
    op: Literal["list", "accept", "reject"] = "list",
    node_id: NodeId | None = None,
    limit: Limit | None = None,
    suggestion_id: EdgeId | None = None,
    relationship_type: RelationType | None = None,
) -> Suggestions | Proposal[Suggestions] | EffectProposal[Suggestions]:
    """List relations that may be missing, accept one, or reject one permanently.

    Args:
        op: list, accept or reject.
        node_id: Only relations of this note; of the whole vault by default.
        limit: The maximum number of suggestions; 20 by default.
        suggestion_id: The suggestion, as `From.md ~ To.md`.
        relationship_type: The type to write instead of the suggested one.
    """
    queue = context.services.suggestions
    if op == "list":
        note = await context.vault.resolve_for_reading(node_id) if node_id else None
        is_user = context.caller.kind is CallerKind.USER
        candidates = await queue.suggestions(note.path if note else None, limit or 20, private=is_user)
        suggestions = []
        for candidate in candidates:
            first = readable(context, NotePath(candidate.source))
            second = readable(context, NotePath(candidate.target))
            if first is not None and second is not None:
                suggestion = await _build_suggestion(context, first, second, candidate.score)
                if suggestion.score >= MIN_SUGGESTED_SCORE:
                    suggestions.append(suggestion)
        suggestions.sort(key=lambda suggestion: -suggestion.score)
        scope = f" of [[{note.name}]]" if note else ""
        message = f"{pluralize(len(suggestions), 'relation')}{scope} may be missing."
        if not suggestions:
            message = f"No missing relations{scope} found."
        return Suggestions(suggestions=suggestions, message=message)
    source, target = await _parse_pair(context, suggestion_id or "")
    if op == "reject":
        return _propose_rejection(context, source, target)
    suggestion = await _build_suggestion(context, source, target, MIN_AUTOMATIC_SCORE)
    kind = relation_type(relationship_type) if relationship_type else suggestion.relationship_type
    check_new_edge(context, source, target.path, kind)
    name = context.index.resolver.shortest(target.path, source.path)
    text = relation_edits.add_relation(source.text, kind, name)
    summary = f"{source.path} {relation_word(kind)} {target.path}"
    message = f"[[{source.name}]] {relation_phrase(kind)} [[{target.name}]]."
    return context.propose(
        ChangeSet.of(source.with_text(text), summary=summary),
        Suggestions(suggestions=[suggestion], message=message),
    )


def _propose_rejection(
    context: RelationContext, source: OpenNote, target: OpenNote
) -> EffectProposal[Suggestions]:
    async def reject() -> Suggestions:
        context.services.suggestions.reject(source.path, target.path)
        return Suggestions(
            suggestions=[],
            message=f"Relations between [[{source.name}]] and [[{target.name}]] won't be suggested again.",
        )

    description = f"Never suggest a relation between {source.path} and {target.path} again"
    arguments = (("from", str(source.path)), ("to", str(target.path)))
    return context.propose_effect(Effect("administrative", description, arguments), reject)


async def _parse_pair(context: RelationContext, suggestion_id: str) -> tuple[OpenNote, OpenNote]:
    first, separator, second = suggestion_id.partition(_ID_SEPARATOR)
    if not separator:
        message = "A suggestion's id must have the form `From.md ~ To.md`."
        raise InvalidParametersError(message, suggestion_id=suggestion_id)
    source = await context.vault.resolve_strictly(first.strip())
    target = await context.vault.resolve_strictly(second.strip())
    if source.path == target.path:
        raise InvalidParametersError("A note can't have a relation to itself.", path=str(source.path))
    return source, target


async def _build_suggestion(
    context: RelationContext, source: OpenNote, target: OpenNote, score: float
) -> SuggestedRelationship:
    prediction = await relation_between(
        context, source, target, await note_similarity(context, source, target), score
    )
    return SuggestedRelationship(
        suggestion_id=f"{source.storage_id}{_ID_SEPARATOR}{target.storage_id}",
        from_id=str(source.storage_id),
        to_id=str(target.storage_id),
        relationship_type=prediction.type,
        score=round(prediction.score, 4),
        auto=prediction.score >= MIN_AUTOMATIC_SCORE
        and (prediction.type == RELATES_TO or bool(prediction.evidence)),
        reasoning=prediction.reasoning,
        evidence=list(prediction.evidence),
    )
