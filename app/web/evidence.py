"""Classification of search hits as supporting or contradicting a statement, by local rules.

Relevance is the similarity of a hit to the statement: by sentence vectors and shared words, or only by shared
words if there are no vectors. Cue phrases in the hit's sentences decide the side; distant sentences count
half as much. Without cue phrases, negation and shared words in the sentence closest to the statement decide.
Only a few lines are judged, not the page: `reasoning` lists the evidence, and without evidence the side is
neutral.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.web.providers import WebSearchHit

Stance = Literal["supporting", "contradicting", "neutral"]

MIN_RELEVANCE = 0.3
"""Below this relevance (0 to 1), a hit counts as off topic, and its side is neutral."""
_MIN_SIDE_SCORE = 1.0

_CONTRADICTING_CUES = (
    (2.0, r"no evidence (?:that|for|of|to support)"),
    (2.0, r"(?:refut|disprov|debunk|contradict|falsif|overturn)\w*"),
    (2.0, r"(?:is|are|was|were) (?:a )?(?:myth|misconception|false|wrong|untrue|incorrect)\b"),
    (1.5, r"contrary to|at odds with|inconsistent with|evidence against|argues? against"),
    (1.5, r"failed to (?:replicate|confirm)|casts? doubt|doubtful|disput\w+|criticis[mz]\w*"),
    (1.5, r"challeng(?:e[sd]?|ing)|question(?:s|ed) (?:the|whether)"),
    (1.0, r"myth|misconception|unlikely|overstated|exaggerated|not (?:the case|true|supported)"),
)
_SUPPORTING_CUES = (
    (2.0, r"(?:confirm|corroborat|substantiat|prov(?:e[sdn]?|ing)\b|verif(?:y|ied|ies))\w*"),
    (2.0, r"evidence (?:for|that|of|shows|suggests|supports)|strong(?:ly)? support\w*"),
    (1.5, r"consistent with|in line with|agrees? with|support(?:s|ed|ing)\b|bears? out|demonstrat\w+"),
    (1.0, r"(?:stud(?:y|ies)|research|results?|data|trials?) (?:show|find|found|suggest|indicate)\w*"),
    (1.0, r"found that|shows? that|showed that|established that|indeed"),
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|lack(?:s|ed)?|fail(?:s|ed)?|hardly|rarely|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NEGATION_BEFORE = re.compile(
    r"\b(?:not|never|no|hardly|cannot|\w+n['’]t|fail(?:s|ed)? to)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_WORD = re.compile(r"[^\W_]{2,}")
_STOP_WORDS = """
a an and are as at be been but by can did do does for from had has have he her his how if in into is it its
more most no not of on one or our out she so some such than that the their them then there these they this
those to too under up very was we were what when where which who why will with would you your about after all
also any because before between both could each few first many may other over same should since through until
while
"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class WeighedHit:
    """A hit with its relevance (0 to 1), its side and the reasoning behind them."""

    hit: WebSearchHit
    relevance: float
    side: Stance
    reasoning: str


def weigh(statement: str, hit: WebSearchHit, similarity: float | None) -> WeighedHit:
    """Classify a hit as supporting or contradicting a statement, or as neutral.

    Args:
        statement: The claim to support or contradict.
        hit: A search result.
        similarity: The cosine similarity of their sentence vectors; None without vectors.
    """
    shared = word_overlap(statement, f"{hit.title} {hit.snippet}")
    closeness = shared if similarity is None else 0.7 * similarity + 0.3 * shared
    relevance = round(max(0.0, min(1.0, closeness)), 4)
    method = f"{relevance:.2f} by {'shared words' if similarity is None else 'meaning and words'}"
    if relevance < MIN_RELEVANCE:
        return WeighedHit(hit, relevance, "neutral", f"Too different from the statement to judge ({method}).")
    score, cues_found = _score_side(statement, hit)
    side: Stance = (
        "supporting"
        if score >= _MIN_SIDE_SCORE
        else "contradicting"
        if score <= -_MIN_SIDE_SCORE
        else "neutral"
    )
    labels = {
        "supporting": "Supports the statement",
        "contradicting": "Contradicts the statement",
        "neutral": "Neutral",
    }
    reason = "; ".join(cues_found) or "no phrase argues for or against the statement"
    return WeighedHit(
        hit, relevance, side, f"{labels[side]}: {reason} (relevance {method}; decided by local rules)."
    )


def word_overlap(statement: str, text: str) -> float:
    """Return the share of the statement's content words in the text (0 to 1), compared by stem.

    It is the mean of two shares: the whole statement's, and that of its best-matching sentence.
    """
    text_stems = _stems(text)
    sentences = [_stems(sentence) for sentence in _SENTENCE.split(statement)]
    best = max((_overlap(stems, text_stems) for stems in sentences), default=0.0)
    return (best + _overlap(_stems(statement), text_stems)) / 2


def _overlap(stems: frozenset[str], text_stems: frozenset[str]) -> float:
    return len(stems & text_stems) / len(stems) if stems else 0.0


def _score_side(statement: str, hit: WebSearchHit) -> tuple[float, list[str]]:
    hit_sentences = _SENTENCE.split(f"{hit.title}. {hit.snippet}")
    sentences = [sentence for sentence in hit_sentences if sentence.strip()]
    closest = max(sentences, key=lambda sentence: word_overlap(statement, sentence), default="")
    score, cues_found = 0.0, []
    for sentence in sentences:
        # A sentence about something else counts half as much.
        share = 1.0 if sentence == closest or word_overlap(statement, sentence) >= 0.5 else 0.5
        for sign, cues in ((-1.0, _CONTRADICTING_CUES), (1.0, _SUPPORTING_CUES)):
            for weight, phrase, is_negated in _find_cues(sentence, cues):
                score += (-sign if is_negated else sign) * weight * share
                cues_found.append(f"“{'not … ' if is_negated else ''}{phrase}”")
    if not cues_found and word_overlap(statement, closest) >= 0.5:
        is_opposite = bool(_NEGATION.search(closest)) != bool(_NEGATION.search(statement))
        if is_opposite:
            return -_MIN_SIDE_SCORE, ["it says the opposite of the statement"]
        if word_overlap(statement, closest) >= 0.9:
            return _MIN_SIDE_SCORE, ["it says nearly the same thing as the statement"]
    return score, list(dict.fromkeys(cues_found))[:4]


def _find_cues(sentence: str, cues: Sequence[tuple[float, str]]) -> list[tuple[float, str, bool]]:
    """Return the cue phrases in a sentence: weight, words, and whether a negation precedes them."""
    matches = []
    for weight, pattern in cues:
        match = re.search(rf"\b(?:{pattern})", sentence, re.IGNORECASE)
        if match:
            matches.append(
                (weight, match[0].strip(), bool(_NEGATION_BEFORE.search(sentence[: match.start()])))
            )
    return matches


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()) if word not in _STOP)


def _stem(word: str) -> str:
    """Strip a common ending from a word: enough to match "clocks" with "clock"."""
    for ending in ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def extract_keywords(text: str, limit: int, known_text: str = "") -> list[str]:
    """Return up to `limit` content words of a text, most frequent first.

    Words of fewer than four characters, numbers, and words with the same stem as one in `known_text` are left
    out.
    """
    excluded = set(_stems(known_text))
    counts: dict[str, list[str]] = {}
    for word in _WORD.findall(text):
        stem = _stem(word.casefold())
        if word.casefold() not in _STOP and len(word) > 3 and stem not in excluded and not word.isdigit():
            counts.setdefault(stem, []).append(word)
    # The sort is stable: among equally frequent words, the earlier ones describe the topic better.
    ranked = sorted(counts.values(), key=len, reverse=True)
    return [spellings[0] for spellings in ranked[:limit]]
