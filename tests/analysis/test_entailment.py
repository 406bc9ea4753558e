"""The combination of a suggested relation with a cross-encoder's verdict, for any probabilities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.entailment import blend_entailment, select_passages
from app.analysis.relation_classifier import NoteFeatures, RelationPrediction, Structure, suggest_relation
from app.embeddings.entailment_client import EntailmentScores

SHARE = st.floats(0, 1)
VERDICTS = st.lists(st.builds(EntailmentScores, SHARE, SHARE), min_size=1, max_size=4)
LOCAL = st.builds(
    RelationPrediction,
    st.sampled_from(["SUPPORTS", "CONTRADICTS", "CITES", "SIMILAR_TO", "RELATES_TO"]),
    SHARE,
    st.just("Why."),
    st.sampled_from([0.0, 0.1, 0.2, 0.4, 0.5, 0.6]),
)


@given(LOCAL, VERDICTS)
def test_a_score_stays_between_0_and_1_and_the_model_is_named(
    local: RelationPrediction, verdicts: list[EntailmentScores]
) -> None:
    made = blend_entailment(local, verdicts, "tiny")
    assert 0 <= made.score <= 1 and 0 <= made.cue_strength < 1
    assert made.reasoning.startswith("Why. tiny finds ")


@given(LOCAL, SHARE, SHARE, SHARE)
def test_more_entailment_never_makes_a_support_less_likely(
    local: RelationPrediction, contradiction: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    before = blend_entailment(local, [EntailmentScores(contradiction, low)], "tiny")
    after = blend_entailment(local, [EntailmentScores(contradiction, high)], "tiny")
    if before.type == "SUPPORTS":
        assert after.type == "SUPPORTS" and after.score >= before.score
    if after.type == "CONTRADICTS":
        assert before.type == "CONTRADICTS" and before.score >= after.score


@given(LOCAL, SHARE, SHARE, SHARE)
def test_more_contradiction_never_makes_a_contradiction_less_likely(
    local: RelationPrediction, entailment: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    before = blend_entailment(local, [EntailmentScores(low, entailment)], "tiny")
    after = blend_entailment(local, [EntailmentScores(high, entailment)], "tiny")
    if before.type == "CONTRADICTS":
        assert after.type == "CONTRADICTS" and after.score >= before.score


@given(LOCAL, SHARE, st.floats(-0.49, 0.49))
def test_an_unclear_verdict_changes_nothing(local: RelationPrediction, share: float, balance: float) -> None:
    made = blend_entailment(local, [EntailmentScores(share, min(1.0, max(0.0, share + balance)))], "tiny")
    assert made.type == local.type and made.cue_strength == pytest.approx(local.cue_strength)
    assert made.score == pytest.approx(local.score, abs=1e-4)
    assert "no clear relation" in made.reasoning


def test_the_stronger_evidence_determines_the_type() -> None:
    bears_out, denies = [EntailmentScores(0.02, 0.97)], [EntailmentScores(0.97, 0.02)]
    plain = suggest_relation(NoteFeatures("A", "note", ()), NoteFeatures("B", "note", ()), Structure(0.5))
    assert blend_entailment(plain, bears_out, "tiny").type == "SUPPORTS"
    assert blend_entailment(plain, denies, "tiny").type == "CONTRADICTS"
    assert blend_entailment(plain, denies, "tiny").score > plain.score
    derived = suggest_relation(
        NoteFeatures("A", "note", (), ("Based on [[B]].",)), NoteFeatures("B", "note", ()), Structure(0.5)
    )
    assert blend_entailment(derived, denies, "tiny").type == "DERIVED_FROM"
    said = suggest_relation(
        NoteFeatures("A", "note", (), ("This confirms [[B]].",)),
        NoteFeatures("B", "note", ()),
        Structure(0.5),
    )
    against, with_it = blend_entailment(said, denies, "tiny"), blend_entailment(said, bears_out, "tiny")
    assert against.type == with_it.type == "SUPPORTS"
    assert against.score < said.score < with_it.score


def test_passages_are_the_sentences_most_alike() -> None:
    ours = NoteFeatures("A", "note", ("It rained all day.", "The watch kept time at sea."))
    theirs = NoteFeatures("B", "note", ("Some watch kept time well at sea.", "Maps are paper."))
    assert select_passages(ours, theirs) == (
        ("The watch kept time at sea.", "Some watch kept time well at sea."),
    )
    assert select_passages(ours, NoteFeatures("B", "note", ())) == ()
