"""Relations are suggested by cue phrases, negation, types and similarity, each with its reason."""

from __future__ import annotations

import pytest

from app.analysis.relation_classifier import (
    NoteFeatures,
    Structure,
    find_cue_phrase,
    relation_confidence,
    strength_label,
    suggest_relation,
)


def side(name: str, *said: str, kind: str = "note", lines: tuple[str, ...] = ()) -> NoteFeatures:
    return NoteFeatures(name, kind, said, lines)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("This confirms [[B]].", "SUPPORTS"),
        ("This does not agree with [[B]].", "CONTRADICTS"),
        ("Our data are inconsistent with [[B]].", "CONTRADICTS"),
        ("It conflicts with [[B]]", "CONTRADICTS"),
        ("Based on [[B]], we built it.", "DERIVED_FROM"),
        ("It led to [[B]].", "CAUSES"),
        ("According to [[B]] it rained.", "CITES"),
    ],
)
def test_cue_phrases(line: str, kind: str) -> None:
    found = find_cue_phrase([line], "B")
    assert found is not None and found[0] == kind
    made = suggest_relation(side("A", lines=(line,)), side("B"), Structure(0.5))
    assert made.type == kind and found[1] in made.reasoning and made.evidence == (line,)


@pytest.mark.parametrize(
    "line",
    [
        "This does not contradict [[B]].",
        "It is not part of [[B]].",
        "This does not support [[B]].",
        "It could contradict [[B]].",
        "[[C]] contradicts [[B]].",
        "[[B]] is long, and C contradicts D.",
        "It contradicts C; compare [[B]].",
        "Leaning against [[B]].",
        "It improves [[B]].",
    ],
)
def test_a_line_without_a_cue_phrase_is_no_cue(line: str) -> None:
    assert find_cue_phrase([line], "B") is None
    made = suggest_relation(side("A", lines=(line,)), side("B"), Structure(0.5))
    assert made.type == "RELATES_TO" and not made.evidence


def test_a_contradiction_is_suggested_with_its_evidence() -> None:
    first, second = "The watch kept good time at sea.", "The watch did not keep good time at sea."
    made = suggest_relation(side("A", first), side("B", second), Structure(0.7))
    assert made.type == "CONTRADICTS" and made.evidence == (first, second)
    same = suggest_relation(side("A", first), side("B", first), Structure(0.7))
    assert same.type == "RELATES_TO" and not same.evidence


def test_types_and_similarity_decide_without_textual_evidence() -> None:
    assert suggest_relation(side("A"), side("B", kind="source"), Structure()).type == "CITES"
    observed = side("A", kind="observation")
    assert suggest_relation(observed, side("B", kind="hypothesis"), Structure()).type == "SUPPORTS"
    assert suggest_relation(side("A"), side("B"), Structure(0.95)).type == "SIMILAR_TO"
    assert suggest_relation(side("A"), side("B"), Structure(0.3)).type == "RELATES_TO"


def test_more_common_neighbors_increase_the_probability() -> None:
    low = suggest_relation(side("A"), side("B"), Structure(0.5)).score
    high = suggest_relation(side("A"), side("B"), Structure(0.5, 4, 1, True)).score
    assert 0 < low < high < 1


def test_the_confidence_of_a_relation_has_reasons() -> None:
    said = side("A", lines=("This confirms [[B]].",))
    fits = relation_confidence(0.5, "SUPPORTS", said, side("B"), Structure(0.6, 2, 1))
    not_so = relation_confidence(0.5, "CAUSES", said, side("B"), Structure(0.6, 2, 1))
    assert not_so.confidence < fits.confidence < 1 and len(fits.factors) == 5
    assert len(relation_confidence(0.5, "SUPPORTS", said, side("B"), None).factors) == 2


def test_strength_in_a_word() -> None:
    assert [strength_label(one) for one in (0.8, 0.79, 0.6, 0.59)] == [
        "strong",
        "moderate",
        "moderate",
        "weak",
    ]
