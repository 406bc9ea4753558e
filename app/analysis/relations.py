"""Which relation two notes might have, how likely it is, and why; how sure a stated relation may be.

By what the notes say of each other (cue phrases), by their types, by how alike they are, and by negation:
two sentences that are alike where one denies and the other does not speak against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.analysis.alike import by_words, words_of
from app.analysis.confidence import Judged, Weight, judged

AUTOMATIC = 0.8
SUGGESTED = 0.6

_CUES: tuple[tuple[str, str], ...] = (
    (
        "CONTRADICTS",
        r"contradict|refut|disprov|disagree|conflicts? with|contrary to|in contrast"
        r"|inconsistent|not consistent|against|denies|rebut|wrong about|widerspr|widerleg",
    ),
    (
        "SUPPORTS",
        r"support|confirm|corroborat|evidence (?:for|that)|consistent with|agrees? with|proves?\b"
        r"|in favou?r|backs? up|bears out|demonstrat|stützt|bestätig|belegt",
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
    ("SIMILAR_TO", r"similar to|resembles?|\blike\b|analogous|comparable|akin to|ähnlich"),
)
_CUE = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _CUES)
_NOT = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|hardly|fails? to|failed to)\b"
    r"|\b(?:nicht|kein\w*|nie)\b|n['’]t\b|不是|不能|不会|不會|不对|不對|没有|沒有|并非|並非|ない|ません",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("increase", "decrease"),
    ("rise", "fall"),
    ("more", "fewer"),
    ("more", "less"),
    ("better", "worse"),
    ("cheap", "expensive"),
    ("true", "false"),
    ("always", "never"),
    ("possible", "impossible"),
    ("early", "late"),
    ("first", "last"),
    ("faster", "slower"),
    ("higher", "lower"),
    ("many", "few"),
    ("success", "failure"),
    ("accurate", "inaccurate"),
    ("reliable", "unreliable"),
    ("before", "after"),
)
_BY_TYPES = {
    ("observation", "hypothesis"): "SUPPORTS",
    ("observation", "claim"): "SUPPORTS",
    ("evidence", "claim"): "SUPPORTS",
    ("evidence", "hypothesis"): "SUPPORTS",
    ("source", "hypothesis"): "SUPPORTS",
    ("source", "claim"): "SUPPORTS",
    ("source", "concept"): "DISCUSSES",
    ("source", "entity"): "DISCUSSES",
}
_ALIKE = 0.4
_COMMON_WORDS = 3
_VERY_ALIKE = 0.85
_SENTENCES = 40


@dataclass(frozen=True, slots=True)
class Side:
    """One of two notes: its name, type in lower case and sentences, and its lines that link the other."""

    name: str
    kind: str
    sentences: tuple[str, ...]
    link_lines: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Suggested:
    """A relation from the first note to the second, how likely it is (0 to 1), and why, in words.

    `said` is how much the texts speak for the type, 0 to 1: a part of the score.
    """

    type: str
    score: float
    reasoning: str
    said: float = 0.0


@dataclass(frozen=True, slots=True)
class Structure:
    """How two notes stand in the graph: their likeness in meaning, neighbours and tags in common, a link.

    `linked` says that the first links to the second or the other way round, `relations` which typed
    relations there are between them.
    """

    similarity: float = 0.0
    shared_neighbours: int = 0
    shared_tags: int = 0
    linked: bool = False
    relations: tuple[str, ...] = ()


def suggest_relation(source: Side, target: Side, between: Structure) -> Suggested:
    """The relation that `source` most likely has to `target`."""
    kind, sure, why = _kind(source, target, between)
    return Suggested(kind, round(_likelihood(between, sure), 4), f"{why}; {_told(between)}.", sure)


def relation_confidence(
    stated: float | None, kind: str, source: Side, target: Side, between: Structure, *, structure: bool
) -> Judged:
    """How sure a relation may be, by the texts and, with `structure`, by what the graph says of the two.

    The sum is that of `confidence.judged`, from 0.5.
    """
    weights = [*_said_weights(kind, source, target)]
    ends = [one.confidence for one in (source, target) if one.confidence is not None]
    if ends:
        weights.append(Weight("Confidence of the notes themselves", sum(ends) / len(ends) - 0.5))
    if structure:
        words = f"Likeness of the notes ({between.similarity:.2f})"
        weights.append(Weight(words, 1.5 * (between.similarity - 0.3)))
        if between.shared_neighbours:
            share = between.shared_neighbours / (between.shared_neighbours + 3)
            weights.append(Weight(_in_common_words(between.shared_neighbours, "neighbour"), share))
        if between.shared_tags:
            tags = 0.2 * min(3, between.shared_tags)
            weights.append(Weight(_in_common_words(between.shared_tags, "tag"), tags))
    return judged(stated, 0.5, "Where a relation starts (0.50)", weights)


def opposed(first: Sequence[str], second: Sequence[str]) -> tuple[str, str] | None:
    """Two sentences, one of each, that are alike and of which one denies what the other says."""
    ours, theirs = list(first[:_SENTENCES]), list(second[:_SENTENCES])
    if not ours or not theirs:
        return None
    likeness = by_words([*ours, *theirs])[: len(ours), len(ours) :]
    best: tuple[float, tuple[str, str]] | None = None
    for at, mine in enumerate(ours):
        for to, other in enumerate(theirs):
            alike = float(likeness[at, to])
            if alike < _ALIKE or (best is not None and alike <= best[0]):
                continue
            if _in_common(mine, other) >= _COMMON_WORDS and _denies(mine, other):
                best = alike, (mine, other)
    return best[1] if best else None


def cued(lines: Iterable[str]) -> tuple[str, str, str] | None:
    """The relation that a line speaks of: its type, the words that say so, and the line."""
    for line in lines:
        for kind, pattern in _CUE:
            if found := pattern.search(line):
                negated = kind == "SUPPORTS" and _NOT.search(line[: found.start()][-30:])
                return ("CONTRADICTS" if negated else kind), found[0], line
    return None


def strength(confidence: float) -> str:
    """A confidence in a word: strong from 0.8, moderate from 0.6, else weak."""
    return "strong" if confidence >= AUTOMATIC else "moderate" if confidence >= SUGGESTED else "weak"


def _kind(source: Side, target: Side, between: Structure) -> tuple[str, float, str]:
    """The type, how much the texts speak for it (0 to 1), and why."""
    if said := cued(source.link_lines):
        return said[0], 0.6, f"“{source.name}” says “{said[1]}” where it names “{target.name}”"
    mentions = [one for one in source.sentences if target.name.casefold() in one.casefold()]
    if said := cued(mentions):
        return said[0], 0.5, f"“{source.name}” says “{said[1]}” where it names “{target.name}”"
    if pair := opposed(source.sentences, target.sentences):
        why = f"“{_cut(pair[0])}” and “{_cut(pair[1])}” are alike, and one denies the other"
        return "CONTRADICTS", 0.4, why
    if target.kind == "source" and source.kind != "source":
        return "CITES", 0.2, f"“{target.name}” is a source"
    if kind := _BY_TYPES.get((source.kind, target.kind)):
        return kind, 0.2, f"a {source.kind} about a {target.kind} usually {_verb(kind)} it"
    if between.similarity >= _VERY_ALIKE and source.kind == target.kind:
        return "SIMILAR_TO", 0.1, "both say nearly the same"
    return "RELATES_TO", 0.0, "nothing says how they are related"


def _likelihood(between: Structure, said: float) -> float:
    """Each reason takes away a part of the doubt that the others leave."""
    doubt = 1 - min(0.95, between.similarity)
    doubt *= 1 - 0.3 * between.shared_neighbours / (between.shared_neighbours + 2)
    doubt *= 1 - 0.1 * min(2, between.shared_tags)
    doubt *= 1 - (0.3 if between.linked else 0.0)
    return 1 - doubt * (1 - said)


def _said_weights(kind: str, source: Side, target: Side) -> Iterable[Weight]:
    lines = (*source.link_lines, *(s for s in source.sentences if target.name.casefold() in s.casefold()))
    if said := cued(lines):
        fits = said[0] == kind
        yield Weight(f"“{source.name}” says “{said[1]}”", 1.0 if fits else -0.6)
    pair = opposed(source.sentences, target.sentences)
    if pair and kind in ("CONTRADICTS", "SUPPORTS", "SIMILAR_TO"):
        yield Weight(f"“{_cut(pair[0])}” against “{_cut(pair[1])}”", 0.8 if kind == "CONTRADICTS" else -0.8)


def _in_common(first: str, second: str) -> int:
    return len(set(words_of(first)) & set(words_of(second)))


def _denies(first: str, second: str) -> bool:
    """Whether one of two sentences says no where the other says yes."""
    if bool(_NOT.search(first)) != bool(_NOT.search(second)):
        return True
    one, two = (set(re.findall(r"[^\W_]+", text.casefold())) for text in (first, second))
    return any((a in one and b in two) or (b in one and a in two) for a, b in _OPPOSITES)


def _told(between: Structure) -> str:
    said = [f"likeness {between.similarity:.2f}"]
    if between.shared_neighbours:
        said.append(_in_common_words(between.shared_neighbours, "neighbour"))
    if between.shared_tags:
        said.append(_in_common_words(between.shared_tags, "tag"))
    if between.relations:
        said.append(f"related already as {', '.join(between.relations)}")
    elif between.linked:
        said.append("linked already, without a type")
    return ", ".join(said)


def _in_common_words(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'} in common"


def _verb(kind: str) -> str:
    return kind.lower().replace("_", " ")


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79].rstrip()}…"
