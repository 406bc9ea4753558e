"""Let a model judge relations and confidence.

Without a model, the local result is used. It is also used if a note is hidden from models or the model
fails; then the reasoning states the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from app.analysis.confidence import MAX_CONFIDENCE, MIN_CONFIDENCE, ConfidenceUpdate, Factor
from app.analysis.language_model import LanguageModel, ModelError
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.tools.node_common import readable
from app.tools.related_nodes import RelatedNode, model_exclusion_reason, prose_of
from app.vault.markdown.relations import relation_type
from app.vault.note import KNOWN_RELATIONS
from app.vault.storage_id import StorageId

_MAX_OWN_CHARS = 6000
_MAX_OTHER_CHARS = 1500
_MAX_COMPARED_NOTES = 12
_COMPUTED_LOCALLY = "Computed locally: "


class AssessedRelation(BaseModel):
    """The relation of the note to one of several notes, by its number."""

    number: int
    relationship_type: str
    reasoning: str


class AssessedRelations(BaseModel):
    """A model's answer about the relations of a note to several others."""

    relations: list[AssessedRelation]


class AssessedConfidence(BaseModel):
    """A model's answer about the confidence of a note."""

    confidence: float = Field(ge=0.0, le=1.0)
    reasoning: str


async def judge_relations(
    context: ToolContext, note: OpenNote, nodes: Sequence[RelatedNode]
) -> list[RelatedNode]:
    """Return the nodes with the relations that the model chooses; their scores are unchanged.

    A node keeps its local relation, with the reason, if the model was not asked about it or gives no usable
    answer. The model is asked about the first `_MAX_COMPARED_NOTES` nodes, if it may see both notes.
    """
    model = context.language_model
    if model is None or not nodes:
        return list(nodes)
    if reason := model_exclusion_reason(model, (note,)):
        return [_with_reason(node, reason) for node in nodes]
    visible: dict[str, OpenNote] = {}
    for node in nodes[:_MAX_COMPARED_NOTES]:
        other = readable(context, StorageId.parse(node.id).path)
        if other is not None and not model_exclusion_reason(model, (other,)):
            visible[node.id] = other
    if not visible:
        return [_with_reason(node, f"{_COMPUTED_LOCALLY}it is hidden from models.") for node in nodes]
    not_asked = f"{_COMPUTED_LOCALLY}{model.name} was not asked about this note."
    try:
        assessed = await _ask_relations(model, note, visible)
    except ModelError as error:
        return [_with_reason(node, f"{_COMPUTED_LOCALLY}{error.message}") for node in nodes]
    return [
        _apply_assessment(node, assessed.get(node.id), model.name)
        if node.id in visible
        else _with_reason(node, not_asked)
        for node in nodes
    ]


async def _ask_relations(
    model: LanguageModel, note: OpenNote, others: dict[str, OpenNote]
) -> dict[str, AssessedRelation]:
    """Return the model's judgments by node id; some may be missing."""
    prompt = (
        "Say which relation the first note has to each of the numbered notes. Answer for each with its "
        f"number, one of {', '.join(KNOWN_RELATIONS)} and one sentence of reasoning."
    )
    numbered = "\n\n".join(
        f"Note {number}: {prose_of(other)[:_MAX_OTHER_CHARS]}"
        for number, other in enumerate(others.values(), 1)
    )
    text = f"First note: {prose_of(note)[:_MAX_OWN_CHARS]}\n\n{numbered}"
    answer = await model.answer(prompt, text, AssessedRelations)
    ids = list(others)
    return {
        ids[relation.number - 1]: relation
        for relation in answer.relations
        if 1 <= relation.number <= len(ids)
    }


def _apply_assessment(node: RelatedNode, assessed: AssessedRelation | None, name: str) -> RelatedNode:
    kind = relation_type(assessed.relationship_type) if assessed is not None else ""
    if assessed is None or kind not in KNOWN_RELATIONS:
        return _with_reason(node, f"{_COMPUTED_LOCALLY}{name} suggested no known relation.")
    reasoning = f"{assessed.reasoning} ({name})"
    update = {"suggested_relationship": kind, "reasoning": reasoning, "evidence": [reasoning]}
    return node.model_copy(update=update)


def _with_reason(node: RelatedNode, reason: str) -> RelatedNode:
    return node.model_copy(update={"reasoning": f"{node.reasoning} ({reason})"})


async def judge_confidence(
    context: ToolContext, note: OpenNote, neighbors: Iterable[tuple[str, OpenNote]], local: ConfidenceUpdate
) -> tuple[ConfidenceUpdate, str]:
    """Return the model's confidence and reasoning, or the local confidence with the reason for it.

    The reason is empty if no model is set up.

    Args:
        context: The context of the call.
        note: The note to judge.
        neighbors: The supporting and contradicting notes, each with its stance.
        local: The confidence computed from log-odds; the model's change is a separate factor.
    """
    model = context.language_model
    if model is None:
        return local, ""
    if reason := model_exclusion_reason(model, (note,)):
        return local, reason
    assessed = [
        (stance, other) for stance, other in neighbors if not model_exclusion_reason(model, (other,))
    ][:_MAX_COMPARED_NOTES]
    prompt = (
        "Judge the probability that the note is right, from 0 to 1, by its own text and by the notes that "
        f"support or contradict it. Counting these notes alone gives {local.confidence:.2f}. Answer with the "
        "confidence and one or two sentences of reasoning."
    )
    evidence = "\n\n".join(
        f"This {stance} it: {prose_of(other)[:_MAX_OTHER_CHARS]}" for stance, other in assessed
    )
    text = f"The note: {prose_of(note)[:_MAX_OWN_CHARS]}\n\n{evidence}"
    try:
        answer = await model.answer(prompt, text, AssessedConfidence)
    except ModelError as error:
        return local, f"{_COMPUTED_LOCALLY}{error.message}"
    confidence = min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, answer.confidence))
    factor = Factor(f"judgment of {model.name}", confidence - local.confidence)
    update = replace(local, confidence=confidence, factors=(*local.factors, factor))
    return update, f"{answer.reasoning} ({model.name})"
