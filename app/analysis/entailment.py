"""Combine a suggested relation with the verdict of a cross-encoder for natural language inference.

The model judges the most similar passages of two notes. Let c and e be the highest probabilities of
contradiction and entailment among them. Its verdict is

    y = (e - c) / 2    if |e - c| is at least 0.5, else 0

which counts toward SUPPORTS if it is positive and toward CONTRADICTS if it is negative. It is combined with
x, the signed strength of the local textual evidence, as certainty factors are (Shortliffe and Buchanan,
"A model of inexact reasoning in medicine", 1975):

    x + y (1 - |x|)                    if both have the same sign
    (x + y) / (1 - min(|x|, |y|))      otherwise

The sign of the result is the type, its magnitude the strength. A type other than these two is kept unless the
model's verdict is stronger than the evidence for it. The model contributes at most 0.5, so it never overrules
what a note states explicitly about the other (0.5 and 0.6). The strength then reduces the doubt that the
structure leaves, as in `relation_classifier`, so the score of SUPPORTS never falls when e rises or c falls,
nor that of CONTRADICTS when c rises or e falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.analysis.relation_classifier import NoteFeatures, RelationPrediction
from app.analysis.tfidf import tfidf_similarity
from app.embeddings.entailment_client import EntailmentScores

_MAX_SENTENCES = 40
_MAX_PAIRS = 6
_MIN_SIMILARITY = 0.15
_MIN_DECISIVE_SCORE = 0.5
_MODEL_WEIGHT = 0.5
_SIGNS = {"SUPPORTS": 1.0, "CONTRADICTS": -1.0}

PassagePair = tuple[str, str]


def select_passages(source: NoteFeatures, target: NoteFeatures) -> tuple[PassagePair, ...]:
    """Return pairs of similar sentences, one from each note, the most similar first."""
    source_sentences = list(source.sentences[:_MAX_SENTENCES])
    target_sentences = list(target.sentences[:_MAX_SENTENCES])
    if not source_sentences or not target_sentences:
        return ()
    count = len(source_sentences)
    similarity = tfidf_similarity([*source_sentences, *target_sentences])[:count, count:]
    best = np.argsort(-similarity, axis=None, kind="stable")[:_MAX_PAIRS]
    pairs = [divmod(int(index), len(target_sentences)) for index in best]
    return tuple(
        (source_sentences[row], target_sentences[column])
        for row, column in pairs
        if similarity[row, column] >= _MIN_SIMILARITY
    )


def blend_entailment(
    local: RelationPrediction,
    verdicts: Sequence[EntailmentScores],
    model: str,
    passages: Sequence[PassagePair] = (),
) -> RelationPrediction:
    """Combine the suggestion with the model's verdict, and report the verdict in the reasoning.

    Args:
        local: The suggestion based on the notes' text and structure.
        verdicts: The verdicts on the passages; at least one.
        model: The model's name.
        passages: The passages, in the order of the verdicts; the decisive pair becomes the evidence if the
            model changes the type.
    """
    entailment = min(1.0, max(0.0, *(verdict.entailment for verdict in verdicts), 0.0))
    contradiction = min(1.0, max(0.0, *(verdict.contradiction for verdict in verdicts), 0.0))
    balance = entailment - contradiction
    weight = _MODEL_WEIGHT * balance if abs(balance) >= _MIN_DECISIVE_SCORE else 0.0
    kind, combined = _combine_with_model(local, weight)
    doubt = (1 - local.score) / (1 - local.cue_strength) * (1 - combined)
    score = round(min(1.0, max(0.0, 1 - doubt)), 4)
    verdict = "support" if weight > 0 else "a contradiction" if weight < 0 else "no clear relation"
    finding = f"{model} finds {verdict} (entailment {entailment:.2f}, contradiction {contradiction:.2f})"
    evidence = local.evidence if kind == local.type else _decisive_passages(kind, verdicts, passages)
    reasoning = f"{local.reasoning} {finding}."
    return replace(
        local, type=kind, score=score, cue_strength=combined, reasoning=reasoning, evidence=evidence
    )


def _decisive_passages(
    kind: str, verdicts: Sequence[EntailmentScores], passages: Sequence[PassagePair]
) -> tuple[str, ...]:
    """Return the pair of passages that supports the type most clearly; empty if there are no passages."""

    def clarity(scored_pair: tuple[EntailmentScores, PassagePair]) -> float:
        return scored_pair[0].entailment if kind == "SUPPORTS" else scored_pair[0].contradiction

    best = max(zip(verdicts, passages, strict=False), key=clarity, default=None)
    return best[1] if best else ()


def _combine_with_model(local: RelationPrediction, weight: float) -> tuple[str, float]:
    """Return the type and its combined strength from the text and the model (0 to 1)."""
    sign = _SIGNS.get(local.type)
    if sign is None:
        if abs(weight) <= local.cue_strength:
            return local.type, local.cue_strength
        return _relation_for_sign(weight), abs(weight)
    total = _combine_evidence(sign * local.cue_strength, weight)
    return (_relation_for_sign(total) if total else local.type), abs(total)


def _combine_evidence(first: float, second: float) -> float:
    if first * second >= 0:
        return first + second * (1 - abs(first))
    return (first + second) / (1 - min(abs(first), abs(second)))


def _relation_for_sign(weight: float) -> str:
    return "SUPPORTS" if weight > 0 else "CONTRADICTS"
