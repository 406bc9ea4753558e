"""Suggest the relation between two notes with its evidence, and assess the confidence of a stated relation.

A type is suggested by cue phrases in the lines that link or name the other note, by two sentences that
contradict each other, by the types of the notes, or by their similarity. The first two are evidence, which is
shown; CONTRADICTS is never suggested without evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.analysis.confidence import ConfidenceUpdate, WeightedReason, update_confidence
from app.analysis.contradiction import find_contradiction
from app.vault.markdown.relations import relation_phrase

MIN_AUTOMATIC_SCORE = 0.8
MIN_SUGGESTED_SCORE = 0.6

_CUES: tuple[tuple[str, str], ...] = (
    (
        "CONTRADICTS",
        r"contradict|refut|disprov|disagree|do(?:es)? not agree|conflicts? with|contrary to"
        r"|inconsistent with|not consistent|denies|rebut|widerspr|widerleg",
    ),
    (
        "SUPPORTS",
        r"support|confirm|corroborat|evidence (?:for|that)|consistent with|agrees? with|proves?\b"
        r"|in favou?r|backs? up|bears out|demonstrat|(?:unter)?stützt|bestätig|belegt",
    ),
    (
        "DERIVED_FROM",
        r"derived? from|based on|follows? from|built (?:up)?on|drawn from|taken from"
        r"|beruht auf",
    ),
    (
        "CITES",
        r"\bcites?\b|cited|according to|quot(?:e|ing)|reference[sd]?\b|as reported"
        r"|\bsee\b|zitiert|laut\b",
    ),
    ("PART_OF", r"part of|belongs? to|component of|member of|chapter of|section of|teil von"),
    (
        "CAUSES",
        r"causes?\b|caused|leads? to|led to|results? in|brings? about|gives? rise to"
        r"|verursacht",
    ),
    (
        "PRECEDES",
        r"precede|before\b|prior to|came first|followed by|earlier than"
        r"|predecessor",
    ),
    ("INSPIRED_BY", r"inspired by|influenced by|prompted by|modelled on|after the example of"),
    (
        "OBSERVED_IN",
        r"observed (?:in|at|on)|seen (?:in|at|on)|measured (?:in|at|on)|found in"
        r"|recorded (?:in|at)",
    ),
    ("DISCUSSES", r"discuss|talks? about|deals? with|is about|concerns|treats of"),
    (
        "SIMILAR_TO",
        r"similar to|resembles?|(?:is|are|was|were|looks?|much|just) like\b|analogous|comparable|akin to"
        r"|ähnlich",
    ),
)
_CUE_PATTERNS = tuple((kind, re.compile(rf"\b(?:{pattern})", re.IGNORECASE)) for kind, pattern in _CUES)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|hardly|fails? to|failed to)\b"
    r"|\b(?:nicht|kein\w*|nie)\b|n['’]t\b|不是|不能|不会|不會|不对|不對|没有|沒有|并非|並非|ない|ません",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\?|\b(?:may|might|could|would|if|whether|seem\w*|appear\w*|apparent\w*|perhaps|possibly|scheinbar)\b",
    re.IGNORECASE,
)
_CLAUSE_BOUNDARY = re.compile(r"[.;:!?]\s|\b(?:but|while|whereas|although|aber|während)\b", re.IGNORECASE)
_RELATION_BY_TYPES = {
    ("observation", "hypothesis"): "SUPPORTS",
    ("observation", "claim"): "SUPPORTS",
    ("evidence", "claim"): "SUPPORTS",
    ("evidence", "hypothesis"): "SUPPORTS",
    ("source", "hypothesis"): "SUPPORTS",
    ("source", "claim"): "SUPPORTS",
    ("source", "concept"): "DISCUSSES",
    ("source", "entity"): "DISCUSSES",
}
_MIN_DUPLICATE_SIMILARITY = 0.85


@dataclass(frozen=True, slots=True)
class NoteFeatures:
    """The features of one of two notes.

    `kind` is its type in lower case, `link_lines` are its lines that link to the other note, and `confidence`
    is its stated confidence (0 to 1) or None.
    """

    name: str
    kind: str
    sentences: tuple[str, ...]
    link_lines: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RelationPrediction:
    """A relation from the first note to the second, its probability (0 to 1), and the reasoning in words.

    `cue_strength` is the strength of the textual evidence, 0 to 1: a part of the score. `evidence` quotes it
    word for word; without evidence, the type is a guess from the notes' types and similarity.
    """

    type: str
    score: float
    reasoning: str
    cue_strength: float = 0.0
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """The structural relation of two notes: similarity, common neighbors and tags, and links.

    `linked`: either note links to the other. `relations` are the existing typed relations between them.
    """

    similarity: float = 0.0
    shared_neighbors: int = 0
    shared_tags: int = 0
    linked: bool = False
    relations: tuple[str, ...] = ()


def suggest_relation(source: NoteFeatures, target: NoteFeatures, structure: Structure) -> RelationPrediction:
    """Return the relation that `source` most likely has to `target`."""
    kind, strength, reason, evidence = _classify(source, target, structure)
    score = round(_likelihood(structure, strength), 4)
    return RelationPrediction(kind, score, f"{reason}; {_describe_structure(structure)}.", strength, evidence)


def relation_confidence(
    stated: float | None,
    kind: str,
    source: NoteFeatures,
    target: NoteFeatures,
    structure: Structure | None,
) -> ConfidenceUpdate:
    """Return the confidence of a relation, from the texts and, unless `structure` is None, from the graph.

    `confidence.update_confidence` combines the reasons, with a prior of 0.5.
    """
    weights = list(_text_weights(kind, source, target))
    ends = [note.confidence for note in (source, target) if note.confidence is not None]
    if ends:
        weights.append(WeightedReason("Confidence of the notes themselves", sum(ends) / len(ends) - 0.5))
    if structure is not None:
        name = f"Similarity of the notes ({structure.similarity:.2f})"
        weights.append(WeightedReason(name, 1.5 * (structure.similarity - 0.3)))
        if structure.shared_neighbors:
            share = structure.shared_neighbors / (structure.shared_neighbors + 3)
            weights.append(WeightedReason(_in_common_words(structure.shared_neighbors, "neighbor"), share))
        if structure.shared_tags:
            tags = 0.2 * min(3, structure.shared_tags)
            weights.append(WeightedReason(_in_common_words(structure.shared_tags, "tag"), tags))
    return update_confidence(stated, 0.5, "Default for a relation (0.50)", weights)


def find_cue_phrase(lines: Iterable[str], target: str) -> tuple[str, str, str] | None:
    """Return the first cue for a relation to the note `target`: its type, its words and its line.

    The result is None if there is no cue. A negated cue does not count. A contradiction cue counts only if
    it is about the target: before its name, in the same clause, without hedging words, and not about a third
    note.
    """
    for line in lines:
        for kind, pattern in _CUE_PATTERNS:
            for match in pattern.finditer(line):
                if _NEGATION.search(_clause_before(line, match.start())):
                    continue
                if kind != "CONTRADICTS" or _is_about(line, match, target):
                    return kind, match[0], line
    return None


def lines_naming(lines: Iterable[str], name: str) -> list[str]:
    """Return the lines that contain a note's name as a separate word."""
    escaped = re.escape(name.casefold())
    # Chinese and Japanese are written without spaces around names.
    word = re.compile(escaped if name[:1] > "\u2e7f" else rf"(?<!\w){escaped}(?!\w)")
    return [line for line in lines if word.search(line.casefold())]


def _is_about(line: str, cue: re.Match[str], target: str) -> bool:
    """Return whether a cue in a line is about `target`."""
    position = line.casefold().find(target.casefold(), cue.end())
    if position < 0 or _CLAUSE_BOUNDARY.search(line, cue.end(), position) or _DOUBT.search(line):
        return False
    return "[[" not in _clause_before(line, cue.start())


def _clause_before(line: str, position: int) -> str:
    """Return the text between the start of the clause and `position`."""
    start = 0
    for end in _CLAUSE_BOUNDARY.finditer(line, 0, position):
        start = end.end()
    return line[start:position]


def strength_label(confidence: float) -> str:
    """Return a confidence as a word: strong (at least 0.8), moderate (at least 0.6) or weak."""
    return (
        "strong"
        if confidence >= MIN_AUTOMATIC_SCORE
        else "moderate"
        if confidence >= MIN_SUGGESTED_SCORE
        else "weak"
    )


def _classify(
    source: NoteFeatures, target: NoteFeatures, structure: Structure
) -> tuple[str, float, str, tuple[str, ...]]:
    """Return the type, the strength of the textual evidence (0 to 1), the reason, and the evidence."""
    mentions = lines_naming(source.sentences, target.name)
    for lines, strength in ((source.link_lines, 0.6), (mentions, 0.5)):
        if cue := find_cue_phrase(lines, target.name):
            reason = f"“{source.name}” says “{cue[1]}” where it names “{target.name}”"
            return cue[0], strength, reason, (cue[2],)
    if pair := find_contradiction(source.sentences, target.sentences):
        reason = f"“{_truncate(pair.first)}” and “{_truncate(pair.second)}” can't both be right"
        return "CONTRADICTS", 0.4, reason, (pair.first, pair.second)
    if target.kind == "source" and source.kind != "source":
        return "CITES", 0.2, f"“{target.name}” is a source", ()
    if kind := _RELATION_BY_TYPES.get((source.kind, target.kind)):
        ends = _with_article(source.kind), _with_article(target.kind)
        return kind, 0.2, f"{ends[0]} about {ends[1]} usually {relation_phrase(kind)} it", ()
    if structure.similarity >= _MIN_DUPLICATE_SIMILARITY and source.kind == target.kind:
        return "SIMILAR_TO", 0.1, "both notes have nearly the same content", ()
    return "RELATES_TO", 0.0, "the notes don't state how they are related", ()


def _likelihood(structure: Structure, cue_strength: float) -> float:
    """Return the combined likelihood; each reason reduces the doubt that the others leave."""
    doubt = 1 - min(0.95, structure.similarity)
    doubt *= 1 - 0.3 * structure.shared_neighbors / (structure.shared_neighbors + 2)
    doubt *= 1 - 0.1 * min(2, structure.shared_tags)
    doubt *= 1 - (0.3 if structure.linked else 0.0)
    return 1 - doubt * (1 - cue_strength)


def _text_weights(kind: str, source: NoteFeatures, target: NoteFeatures) -> Iterable[WeightedReason]:
    lines = (*source.link_lines, *lines_naming(source.sentences, target.name))
    if cue := find_cue_phrase(lines, target.name):
        fits = cue[0] == kind
        yield WeightedReason(f"“{source.name}” says “{cue[1]}”", 1.0 if fits else -0.6)
    if kind in ("CONTRADICTS", "SUPPORTS", "SIMILAR_TO") and (
        pair := find_contradiction(source.sentences, target.sentences)
    ):
        name = f"“{_truncate(pair.first)}” contradicts “{_truncate(pair.second)}”"
        yield WeightedReason(name, 0.8 if kind == "CONTRADICTS" else -0.8)


def _describe_structure(structure: Structure) -> str:
    parts = [f"similarity {structure.similarity:.2f}"]
    if structure.shared_neighbors:
        parts.append(_in_common_words(structure.shared_neighbors, "neighbor"))
    if structure.shared_tags:
        parts.append(_in_common_words(structure.shared_tags, "tag"))
    if structure.relations:
        parts.append(f"already related as {', '.join(structure.relations)}")
    elif structure.linked:
        parts.append("already linked without a type")
    return ", ".join(parts)


def _in_common_words(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'} in common"


def _with_article(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _truncate(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79].rstrip()}…"
