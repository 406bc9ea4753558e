"""Find nodes related to a note: candidates by meaning or words, each with a suggested relation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from app.analysis.language_model import LanguageModel, ModelError
from app.analysis.relation_classifier import RelationPrediction, Structure, suggest_relation
from app.analysis.sentences import split_sentences
from app.analysis.tfidf import content_words, tfidf_similarity
from app.embeddings import EmbedderUnavailableError
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.related import find_related_notes
from app.toolkit.services import RelationContext
from app.tools.entailment_check import check_entailment
from app.tools.node_common import draft_features, note_features, note_structure, preview, readable
from app.vault.markdown.relations import relation_type
from app.vault.note import KNOWN_RELATIONS
from app.vault.path import NotePath

MIN_SIMILARITY = 0.5
_OVERSAMPLING = 5
_MAX_LINK_CANDIDATES = 60
_MAX_COMPARED_NOTES = 200
_MAX_PREVIEW_CHARS = 200
_MAX_RELATED_NODES = 8


class RelatedNode(BaseModel):
    """A possibly related node, its similarity (0 to 1), and the suggested relation.

    `evidence` supports the type: quotations from the notes, or a model's reasoning; empty for a guess.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    type: str
    content: str
    similarity_score: float
    suggested_relationship: str
    suggestion_score: float
    reasoning: str
    evidence: list[str] = Field(default_factory=list)


class RelationAnswer(BaseModel):
    """A model's answer about the relation between two notes."""

    relationship_type: str
    reasoning: str


async def related_to_note(
    context: RelationContext,
    note: OpenNote,
    *,
    limit: int = 10,
    min_similarity: float = MIN_SIMILARITY,
    types: Iterable[str] | None = None,
) -> list[RelatedNode]:
    """Return the notes most similar to `note`, best first, each with a suggested relation.

    Args:
        context: The context of the call.
        note: The note.
        limit: The maximum number of results.
        min_similarity: The minimum similarity, 0 to 1.
        types: The note types to return, ignoring case; None for all.
    """
    wanted_types = {kind.strip().lower() for kind in types} if types is not None else None
    nodes: list[RelatedNode] = []
    for path, score in await _candidates(context, note, limit * _OVERSAMPLING):
        other = readable(context, path)
        if (
            other is None
            or score < min_similarity
            or (wanted_types is not None and other.parsed.type not in wanted_types)
        ):
            continue
        prediction = await relation_between(context, note, other, score)
        nodes.append(_to_related_node(other, score, prediction))
        if len(nodes) == limit:
            break
    return nodes


async def related_to_draft(context: ToolContext, draft: OpenNote) -> list[RelatedNode]:
    """Return the notes most similar to a draft, at most eight, each with a suggested relation.

    Returns no notes for a private draft or one without sentences, and none below `MIN_SIMILARITY`. Similarity
    and links are computed from the draft's text. The cross-encoder is not used, so that creating a note does
    not wait for it.

    Args:
        context: The context of the call.
        draft: A new note, or an existing one with its new text.
    """
    sentences = split_sentences(draft.readable_text)
    if draft.parsed.is_private or not sentences:
        return []
    scored = await _draft_candidates(context, draft, " ".join(sentences))
    nodes = []
    for path, score in scored[:_MAX_RELATED_NODES]:
        other = readable(context, path)
        if other is None or score < MIN_SIMILARITY:
            continue
        draft_side, other_side = draft_features(context, draft, other), note_features(context, other, draft)
        prediction = await asyncio.to_thread(suggest_relation, draft_side, other_side, Structure(score))
        nodes.append(_to_related_node(other, score, prediction))
    return nodes


async def _draft_candidates(
    context: ToolContext, draft: OpenNote, text: str, limit: int = _MAX_RELATED_NODES
) -> list[tuple[NotePath, float]]:
    """Return notes that may be related to a draft, with their similarity, best first.

    Args:
        context: The context of the call.
        draft: The draft.
        text: The draft's text.
        limit: The number of notes to retrieve by meaning; a word comparison returns all compared notes.
    """
    if context.index.has_embeddings:
        try:
            # One more, because the index may contain an earlier version of the draft itself.
            hits = await context.index.like_text(text[:2000], limit + 1)
            return [(hit.path, hit.score) for hit in hits if hit.path != draft.path]
        except EmbedderUnavailableError:
            pass
    return await _candidates_by_words(context, text, draft.path)


async def relation_between(
    context: RelationContext,
    source: OpenNote,
    target: OpenNote,
    similarity: float,
    score: float | None = None,
) -> RelationPrediction:
    """Return the most likely relation of `source` to `target`, without a language model.

    Args:
        context: The context of the call.
        source: The note in which the relation starts.
        target: The other note.
        similarity: Their similarity, 0 to 1.
        score: The probability of a relation, 0 to 1, if already known; it replaces the computed score.
    """
    source_features, target_features = (
        note_features(context, source, target),
        note_features(context, target, source),
    )
    structure = note_structure(context, source, target, similarity)
    local = await asyncio.to_thread(suggest_relation, source_features, target_features, structure)
    if score is not None:
        local = replace(local, score=score)
    return await check_entailment(context, local, (source, source_features), (target, target_features))


async def note_similarity(context: ToolContext, first: OpenNote, second: OpenNote) -> float:
    """Return the similarity of two notes, 0 to 1: by meaning if both have vectors, else by words."""
    similarity = context.index.note_similarity(first.path, second.path)
    if similarity is not None:
        return min(1.0, max(0.0, similarity))
    return float((await asyncio.to_thread(tfidf_similarity, [prose_of(first), prose_of(second)]))[0, 1])


async def relation_by_model(
    context: ToolContext, first: OpenNote, second: OpenNote, local: RelationPrediction
) -> RelationPrediction:
    """Return the relation that the language model chooses, with `local`'s score.

    Without a model, return `local`. If the model may not see both notes or gives no usable answer, return
    `local` with the reason added to its reasoning.
    """
    model = context.language_model
    if model is None:
        return local
    if reason := model_exclusion_reason(model, (first, second)):
        return replace(local, reasoning=f"{local.reasoning} ({reason})")
    prompt = (
        "Say which relation the first note has to the second. Answer with one of "
        f"{', '.join(KNOWN_RELATIONS)} and one or two sentences of reasoning."
    )
    text = f"First note: {prose_of(first)[:6000]}\n\nSecond note: {prose_of(second)[:6000]}"
    try:
        answer = await model.answer(prompt, text, RelationAnswer)
    except ModelError as error:
        return replace(local, reasoning=f"{local.reasoning} (Computed locally: {error.message})")
    kind = relation_type(answer.relationship_type)
    if kind not in KNOWN_RELATIONS:
        return replace(local, reasoning=f"{local.reasoning} ({model.name} suggested no known relation.)")
    reasoning = f"{answer.reasoning} ({model.name})"
    return RelationPrediction(kind, local.score, reasoning, evidence=(reasoning,))


def model_exclusion_reason(model: LanguageModel, notes: Iterable[OpenNote]) -> str:
    """Return why the model may not see all of the notes, or an empty string."""
    for note in notes:
        if note.parsed.is_private or not model.may_read(note.path):
            return f"Computed locally: {note.name} is hidden from models."
    return ""


async def _candidates(context: ToolContext, note: OpenNote, limit: int) -> list[tuple[NotePath, float]]:
    """Return notes that may be related, with their similarity, best first."""
    if context.index.has_embedding(note.path, note.hash):
        hits = context.index.like_note(note.path, limit)
        scored = [(hit.path, context.index.note_similarity(note.path, hit.path) or hit.score) for hit in hits]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))
    if context.index.has_embeddings and not note.parsed.is_private:
        # The note was just written: any stored vectors belong to its old text.
        return await _draft_candidates(context, note, prose_of(note), limit)
    return await _candidates_by_words(context, prose_of(note), note.path, note)


async def _candidates_by_words(
    context: ToolContext, text: str, own_path: NotePath, note: OpenNote | None = None
) -> list[tuple[NotePath, float]]:
    """Return the notes most similar to `text` by words, best first.

    Only notes that contain one of the text's longest words, which tend to be rare, or that are related to
    `note` are compared.
    """
    paths: dict[NotePath, None] = {}
    if note is not None:
        related = find_related_notes(
            context.index, None, note.path, note.parsed.tag_names, _MAX_LINK_CANDIDATES
        )
        paths.update(dict.fromkeys(related_note.path for related_note in related))
    words = dict.fromkeys(word for word in content_words(text) if word.isalnum())
    for word in sorted(words, key=lambda word: -len(word))[:12]:
        page = await context.index.search(f'"{word}"', 10)
        paths.update(dict.fromkeys(hit.path for hit in page.hits))
    paths.pop(own_path, None)
    notes = [
        other_note
        for path in list(paths)[:_MAX_COMPARED_NOTES]
        if (other_note := readable(context, path)) is not None
    ]
    similarities = await asyncio.to_thread(tfidf_similarity, [text, *map(prose_of, notes)])
    scored = [
        (other_note.path, float(score)) for other_note, score in zip(notes, similarities[0, 1:], strict=True)
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def prose_of(note: OpenNote) -> str:
    """Return a note's name and sentences as plain text."""
    return " ".join((note.name, *split_sentences(note.readable_text)))


def _to_related_node(other: OpenNote, score: float, prediction: RelationPrediction) -> RelatedNode:
    return RelatedNode(
        id=str(other.storage_id),
        type=other.parsed.type,
        content=preview(other, _MAX_PREVIEW_CHARS),
        similarity_score=round(score, 4),
        suggested_relationship=prediction.type,
        suggestion_score=prediction.score,
        reasoning=prediction.reasoning,
        evidence=list(prediction.evidence),
    )
