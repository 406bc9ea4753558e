"""Check suggested relations with the cross-encoder that the user has chosen."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from app.analysis.entailment import blend_entailment, select_passages
from app.analysis.relation_classifier import NoteFeatures, RelationPrediction
from app.embeddings import EmbedderUnavailableError
from app.toolkit.open_note import OpenNote
from app.toolkit.services import RelationContext


async def check_entailment(
    context: RelationContext,
    local: RelationPrediction,
    source: tuple[OpenNote, NoteFeatures],
    target: tuple[OpenNote, NoteFeatures],
) -> RelationPrediction:
    """Return the suggestion `local`, refined by the cross-encoder's judgment of passages in both notes.

    It is unchanged if no model is chosen, a note is hidden from models, or the notes have no similar
    passages. If the chosen model is not available, the reasoning says why.
    """
    classifier = context.services.entailment
    if not classifier.is_available:
        return local
    if any(note.parsed.is_private or not classifier.may_read(note.path) for note in (source[0], target[0])):
        return local
    pairs = await asyncio.to_thread(select_passages, source[1], target[1])
    if not pairs:
        return local
    name = classifier.name
    try:
        verdicts = await classifier.classify(pairs)
    except EmbedderUnavailableError as error:
        return replace(local, reasoning=f"{local.reasoning} (Without the cross-encoder: {error.message})")
    return blend_entailment(local, verdicts, name, pairs)
