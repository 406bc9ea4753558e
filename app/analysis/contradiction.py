"""Find two sentences that can't both be right: one denies the other, or they differ by opposite words.

The rule favors precision over recall: a pair counts only if nothing but the denial distinguishes the
sentences. Sentences are split into clauses, and clauses into the stems of their content words and
prepositions. Two clauses contradict each other if

- one is negated once, and the other is not, begins with the same stems, and continues only with words after a
  preposition ("wrote it for the organ" against "did not write it");
- or neither is negated, and their stems differ in one place by opposites that carry the statement:
  a verb, the complement of a form of "be", or a comparison with "than".

Clauses whose truth depends on a condition, a quantity, a time or a speaker (if, some, no longer, claims) are
not compared. A pair is dropped if either note also agrees with the other's sentence. Chinese sentences
contradict each other if they differ by a single negation.

`python -m tests.benchmarks.contradictions` measures precision and recall on 100 hand-written pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

_MAX_SENTENCES = 40
_MIN_SHARED_WORDS = 2
_MAX_CLAUSE_TOKENS = 40
_MAX_SENTENCE_CHARS = 400

Verdict = Literal["agree", "contradict", "unclear"]


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATORS = _word_set(
    "not no never nobody nothing none nowhere neither nicht nie niemals kein keine keiner keinen"
    " keinem keines"
)
_STOP_WORDS = _word_set(
    "a an the this these those there that any ever also too even just simply really actually indeed"
    " truly very quite either own such be is are am was were been being do does did done has have had"
    " can could will shall should would must to it he she they we i you his her its their our my your"
    " nor and or so as rather der die das den dem des ein eine einen einem einer eines ist sind war"
    " waren wird werden hat haben hatte es er sie wir ich auch sehr und oder"
)
_PREPOSITIONS = _word_set(
    "of in on at by for from with without into onto over under after before since during between"
    " through against about around near off out up down than across per via like within upon behind"
    " beside among towards von im am auf aus bei mit nach seit zu zum zur über unter vor für ohne"
    " durch gegen um bis"
)
_PRONOUNS = _word_set("it he she they this these those that his her its their es er sie dies")
_COPULAS = _word_set(
    "be is are am was were been being become becomes became remain remains remained seem seems seemed"
    " stay stays ist sind war waren bleibt bleiben"
)
_DEGREES = _word_set("very quite too really so rather also not never as even more nicht sehr auch")
_PAST = _word_set("was were did had war waren hatte")
_PRESENT = _word_set("is are am do does has have ist sind hat haben")
_MODALS = _word_set("will shall should must would")
_SUBORDINATORS = _word_set(
    "who whom whose which that where because since although though despite whose what how why welche"
    " welcher welches dass weil obwohl"
)
_UNCERTAIN = re.compile(
    r"\b(?:some|sometimes|someone|may|might|could|often|usually|rarely|seldom|hardly|barely|scarcely|partly"
    r"|partially|maybe|perhaps|possibly|probably|likely|unlikely|occasionally|most|mostly|many|few|several"
    r"|mainly|generally|typically|tends?|nearly|almost|if|unless|when|whenever|while|until|except|only|otherwise"
    r"|would|used to|formerly|once|still|now|nowadays|today|then|previously|originally|initially|anymore|yet"
    r"|says?|said|writes? that|wrote that|told|claim\w*|believ\w*|thinks?|thought|argu\w+|suggest\w*|assum\w+"
    r"|hypothes\w+|rumou?r\w*|myths?|legends?|according|alleged\w*|supposed\w*|doubt\w*|question\w*|whether"
    r"|critics|deny|denies|denied|refut\w+|wrongly|mistaken\w*|falsely|pretend\w*|hop(?:e|es|ed)|fear\w*"
    r"|expect\w*|predict\w*|plan(?:s|ned)? to|wants?|wanted|(?:true|false|case|clear|sure) that"
    r"|no (?:longer|more|less|doubt)|any (?:longer|more)"
    r"|not (?:only|just|merely|necessarily|always|all|every|everyone|entirely|fully|quite|exactly|both|alone)"
    r"|manche\w*|manchmal|einige\w*|vielleicht|oft|meist\w*|wenn|falls|nur|könnte\w*|früher|heute|nicht mehr"
    r"|nicht immer|nicht alle|sagt\w*|glaubt|behauptet\w*|mythos)\b"
)
_CLAUSE_END = re.compile(
    r"\s*(?:[;:—–()]|\.\.\.|…|,?\s+(?:but|however|whereas|sondern|aber)\s|,\s+(?:and|so|it|they|he|she|rather)\s)\s*"
)
_EXPLETIVE = re.compile(r"it (?:is|was) (?:not )?\w+ (?:to|for)\b")
_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_IRREGULAR = {
    form: base
    for base, forms in {
        "keep": "kept",
        "win": "won",
        "write": "wrote written",
        "rise": "rose risen",
        "fall": "fell fallen",
        "lose": "lost",
        "build": "built",
        "find": "found",
        "make": "made",
        "give": "gave given",
        "take": "took taken",
        "grow": "grew grown",
        "see": "saw seen",
        "know": "knew known",
        "begin": "began begun",
        "lead": "led",
        "hold": "held",
        "go": "went gone goes",
        "come": "came",
        "become": "became",
        "run": "ran",
        "sell": "sold",
        "buy": "bought",
        "teach": "taught",
        "bring": "brought",
        "pay": "paid",
        "mean": "meant",
        "send": "sent",
        "spend": "spent",
        "stand": "stood",
        "choose": "chose chosen",
        "speak": "spoke spoken",
        "break": "broke broken",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fly": "flew flown",
        "draw": "drew drawn",
        "show": "shown",
        "freeze": "froze frozen",
        "steal": "stole stolen",
        "meet": "met",
        "sleep": "slept",
        "feel": "felt",
        "sink": "sank sunk",
        "swim": "swam swum",
        "shrink": "shrank shrunk",
    }.items()
    for form in forms.split()
}


def _pair_set(text: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(_stem(word) for word in pair.split("/")) for pair in text.split())


def _stem(word: str) -> str:
    """Return a crude stem that the forms of a regular English word and of common irregular verbs share."""
    word = _IRREGULAR.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    for ending in ("ing", "ed"):
        if (
            len(word) > len(ending) + 2
            and word.endswith(ending)
            and re.search(r"[aeiouy]", word[: -len(ending)])
        ):
            word = word[: -len(ending)]
            if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            return word.removesuffix("e")
    if len(word) > 3 and word.endswith("s") and word[-2] not in "sui":
        word = word[:-2] if re.search(r"(?:s|x|z|ch|sh)es$", word) else word[:-1]
    if len(word) > 4 and word.endswith("ied"):
        return f"{word[:-3]}y"
    return word.removesuffix("e") if len(word) > 3 else word


_OPPOSITE_VERBS = _pair_set(
    "increase/decrease increase/reduce increase/lower raise/lower raise/reduce rise/fall rise/drop"
    " rise/decline grow/shrink improve/worsen improve/harm improve/impair improve/damage help/harm"
    " help/hurt help/hinder benefit/harm strengthen/weaken accelerate/slow cause/prevent"
    " promote/inhibit promote/prevent encourage/discourage accept/reject approve/reject win/lose"
    " succeed/fail pass/fail allow/forbid allow/prohibit permit/forbid gain/lose expand/contract"
    " include/exclude love/hate attract/repel confirm/disprove prove/disprove lengthen/shorten"
    " heat/cool live/die remember/forget preserve/destroy enable/prevent widen/narrow"
)
_OPPOSITE_STATES = _pair_set(
    "possible/impossible true/false alive/dead present/absent good/bad safe/dangerous cheap/expensive"
    " healthy/harmful easy/difficult easy/hard strong/weak fast/slow hot/cold large/small big/small"
    " rich/poor early/late high/low old/new old/young open/closed full/empty heavy/light loud/quiet"
    " wet/dry useful/useless effective/useless innocent/guilty success/failure right/wrong long/short"
)
_OPPOSITE_COMPARISONS = _pair_set(
    "more/less more/fewer better/worse faster/slower higher/lower larger/smaller bigger/smaller"
    " older/younger older/newer earlier/later longer/shorter stronger/weaker heavier/lighter"
    " safer/riskier warmer/colder warmer/cooler hotter/colder cheaper/dearer easier/harder"
    " richer/poorer"
)
_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences, one from each note, that can't both be right."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class _Token:
    """A content word or preposition: its spelling, its stem, and whether it follows a form of "be"."""

    word: str
    stem: str
    after_copula: bool
    is_preposition: bool


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause in comparable form."""

    tokens: tuple[_Token, ...]
    words: frozenset[str]
    negations: int
    sentence: int

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(token.stem for token in self.tokens)


def find_contradiction(first: Sequence[str], second: Sequence[str]) -> Contradiction | None:
    """Return the first contradicting pair of sentences, one from each note; None if there is none.

    Only the first 40 sentences of each note are compared; those of more than 400 characters are skipped.

    Args:
        first: The sentences of one note.
        second: The sentences of the other.
    """
    first_clauses, second_clauses = _clauses(first), _clauses(second)
    for clause in first_clauses:
        for other in second_clauses:
            if _compare(clause, other) != "contradict":
                continue
            is_agreed = any(_compare(candidate, other) == "agree" for candidate in first_clauses)
            is_agreed = is_agreed or any(
                _compare(clause, candidate) == "agree" for candidate in second_clauses
            )
            if not is_agreed:
                return Contradiction(first[clause.sentence], second[other.sentence])
    chinese_pair = _chinese_contradiction(first, second)
    return Contradiction(*chinese_pair) if chinese_pair else None


def _compare(first: _Clause, second: _Clause) -> Verdict:
    """Return whether two clauses agree, contradict each other, or neither."""
    if not _is_same_time(first, second):
        return "unclear"
    if first.negations == second.negations:
        if first.stems == second.stems:
            return "agree"
        return "contradict" if not first.negations and _differ_by_opposites(first, second) else "unclear"
    denial, statement = (first, second) if first.negations else (second, first)
    size = len(denial.tokens)
    shared = [token for token in denial.tokens if not token.is_preposition]
    if len(shared) < _MIN_SHARED_WORDS:
        return "unclear"
    rest = statement.tokens[size:]
    if statement.stems[:size] == denial.stems and (not rest or rest[0].is_preposition):
        return "contradict"
    # "Coffee is healthy" and "coffee is not unhealthy" agree.
    return "agree" if _differ_by_opposites(first, second) else "unclear"


def _differ_by_opposites(first: _Clause, second: _Clause) -> bool:
    """Return whether two clauses differ only by one pair of opposites that carries the statement."""
    if len(first.tokens) != len(second.tokens):
        return False
    differences = [
        at for at, pair in enumerate(zip(first.stems, second.stems, strict=True)) if pair[0] != pair[1]
    ]
    if not differences:
        return False
    at, *others = differences
    # "Present at" and "absent from": the preposition depends on the word.
    if others and not (
        others == [at + 1] and first.tokens[at + 1].is_preposition and second.tokens[at + 1].is_preposition
    ):
        return False
    shared = [
        token
        for index, token in enumerate(first.tokens)
        if index not in differences and not token.is_preposition
    ]
    return bool(shared) and _are_opposites(first, second, at)


def _are_opposites(first: _Clause, second: _Clause, at: int) -> bool:
    first_token, second_token = first.tokens[at], second.tokens[at]
    pair = frozenset((first_token.stem, second_token.stem))
    if pair in _OPPOSITE_COMPARISONS:
        return "than" in first.stems[at:] and "than" in second.stems[at:]
    is_state = first_token.after_copula and second_token.after_copula
    if pair in _OPPOSITE_VERBS:
        modifies = any(
            token.word.endswith("ing") and not token.after_copula for token in (first_token, second_token)
        )
        return at > 0 and not modifies
    if pair in _OPPOSITE_STATES:
        return is_state
    shorter, longer = sorted((first_token.word, second_token.word), key=len)
    return is_state and any(longer == prefix + shorter for prefix in _DENYING_PREFIXES)


def _is_same_time(first: _Clause, second: _Clause) -> bool:
    """Return whether two clauses can refer to the same time; an obligation and a fact can't."""
    if (first.words & _MODALS) != (second.words & _MODALS):
        return False
    first_is_past, second_is_past = (bool(clause.words & _PAST) for clause in (first, second))
    first_is_present, second_is_present = (bool(clause.words & _PRESENT) for clause in (first, second))
    if (first_is_past and not first_is_present and second_is_present and not second_is_past) or (
        second_is_past and not second_is_present and first_is_present and not first_is_past
    ):
        return False
    forms = {token.stem: token.word for token in second.tokens}
    for token in first.tokens:
        other = forms.get(token.stem, token.word)
        for clause, changed, plain in ((second, token.word, other), (first, other, token.word)):
            if changed == plain:
                continue
            if "did" in clause.words and changed == f"{plain}s":
                return False
            if clause.words & {"do", "does"} and (changed.endswith("ed") or changed in _IRREGULAR):
                return False
    return True


# Parsing


def _clauses(sentences: Sequence[str]) -> list[_Clause]:
    return [
        clause
        for number, sentence in enumerate(sentences[:_MAX_SENTENCES])
        if len(sentence) <= _MAX_SENTENCE_CHARS and not sentence.rstrip().endswith(("?", "？"))
        for clause in _iter_clauses(_normalize(sentence), number)
    ]


def _normalize(sentence: str) -> str:
    """Return the sentence in lower case, with contractions expanded and final punctuation removed."""
    text = sentence.casefold().replace("’", "'").rstrip(" .!\"'”")
    text = re.sub(r"\bcan(?:not|'t)\b", "can not", text)
    text = re.sub(r"\bwon't\b", "will not", text)
    text = re.sub(r"n't\b", " not", text)
    text = re.sub(r"\bfail(?:s|ed)? to\b", "not", text)
    text = re.sub(r"\b(?:at all|in fact|of course)\b", " ", text)
    return re.sub(r"\bneither\b(.*?)\bnor\b", r"not \1 ", text)


def _iter_clauses(sentence: str, number: int) -> Iterator[_Clause]:
    if _UNCERTAIN.search(sentence):
        return
    for part in _CLAUSE_END.split(sentence):
        if (clause := _read_clause(part, number)) is not None:
            yield clause


def _read_clause(text: str, number: int) -> _Clause | None:
    words = _TOKEN.findall(text)
    if not 2 <= len(words) <= _MAX_CLAUSE_TOKENS or (words[0] in _PRONOUNS and not _EXPLETIVE.match(text)):
        return None
    negations = 0
    tokens: list[_Token] = []
    after_copula = False
    for at, word in enumerate(words):
        if word in _NEGATORS:
            following = words[at + 1] if at + 1 < len(words) else ""
            negates_subclause = bool(_SUBORDINATORS.intersection(words[:at]))
            negates_gerund = word == "not" and following.endswith("ing") and not after_copula
            if negates_subclause or negates_gerund:
                return None
            negations += 1
        elif word not in _STOP_WORDS:
            is_preposition = word in _PREPOSITIONS
            stem = word if is_preposition else _stem(word)
            tokens.append(_Token(word, stem, after_copula, is_preposition))
        after_copula = word in _COPULAS or (after_copula and (word in _DEGREES or word in ("a", "an", "the")))
    content = [token for token in tokens if not token.is_preposition]
    if negations > 1 or len(content) < _MIN_SHARED_WORDS:
        return None
    return _Clause(tuple(tokens), frozenset(words), negations, number)


_CHINESE_NEGATION = re.compile(r"(?:并非|並非|不是)|(?:没|沒|不)(?=[有会會能可要应應])|不|没|沒|未")
_CHINESE_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")


def _chinese_contradiction(first: Sequence[str], second: Sequence[str]) -> tuple[str, str] | None:
    """Return two Chinese sentences that differ by a single negation; None if there are none."""
    sentences_by_text = {bare: (other, denials) for other, bare, denials in _chinese_sentences(second)}
    for sentence, bare, denials in _chinese_sentences(first):
        other, other_denials = sentences_by_text.get(bare, ("", denials))
        if abs(denials - other_denials) == 1:
            return sentence, other
    return None


def _chinese_sentences(sentences: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the Chinese sentences, each with its text without negations and the number of negations."""
    for sentence in sentences[:_MAX_SENTENCES]:
        if len(sentence) > _MAX_SENTENCE_CHARS:
            continue
        text = sentence.strip().rstrip("。！")
        if not _CHINESE_RUN.search(text) or text.endswith(("？", "吗", "嗎")):
            continue
        bare = re.sub("是", "", _CHINESE_NEGATION.sub("", text))
        yield sentence, bare, len(_CHINESE_NEGATION.findall(text))
